"""Fixtures that the tests of several packages share."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def install_plugin() -> Callable[[Path, str, str], Path]:
    """Writes a plug-in of one module into a folder, as an installed distribution: give that folder as the path."""

    def install(folder: Path, name: str, source: str) -> Path:
        (folder / f"plugin_{name}.py").write_text(source)
        about = folder / f"plugin_{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: plugin-{name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[repro]\n{name} = plugin_{name}\n")
        return folder

    return install
