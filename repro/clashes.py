"""Another package on the index is called `repro`: its module and its command have the names of ours.

This module imports nothing of the package, so that `recsys-repro` can read it where files of the package were replaced.
"""

from __future__ import annotations

import base64
import csv
import hashlib
from pathlib import Path

_OTHERS = ("repro-", "repro2-")
_OURS = "recsys_repro-"
_FIRST = "repro/__init__.py"
_MEND = "Remove both and install this one again: pip uninstall -y repro recsys-repro, then pip install recsys-repro"


def clash(folder: Path | None = None) -> str:
    """A sentence about another package `repro` in the same place, and what to do; empty if there is none.

    ``folder`` is where packages are installed, by default that of this package.
    """
    folder = folder or Path(__file__).parent.parent
    names = [path.name for path in folder.iterdir()]
    others = [name for name in names if name.startswith(_OTHERS) and name.endswith(".dist-info")]
    for name in others:
        if (digest := _digest(folder / name / "RECORD")) is not None:
            return f"{_what(folder, name, digest)}. {_MEND}"
    installed = any(name.startswith(_OURS) and name.endswith(".dist-info") for name in names)
    if installed and "repro" in names and not (folder / _FIRST).is_file():
        return (
            f"Files of recsys-repro in {folder / 'repro'} are missing, as after another package called repro was "
            "removed. Install it again: pip install --force-reinstall --no-deps recsys-repro"
        )
    return ""


def _what(folder: Path, name: str, digest: str) -> str:
    package, _, version = name.removesuffix(".dist-info").partition("-")
    about = f"Another package, {package} {version}, is installed in {folder}, and its module is also called repro"
    file = folder / _FIRST
    content = hashlib.sha256(file.read_bytes()).digest() if file.is_file() else b""
    if base64.urlsafe_b64encode(content).rstrip(b"=").decode() == digest:
        return f"{about}: its files have replaced files of recsys-repro, and `import repro` imports the other package"
    return f"{about}: files of both packages are mixed in one folder, and the command `repro` may be that of the other"


def _digest(record: Path) -> str | None:
    """The digest that a package states of the first file of the module `repro`; None if it has no such module."""
    try:
        lines = record.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    files = {row[0]: row[1] for row in csv.reader(lines) if len(row) > 1}
    return files[_FIRST].removeprefix("sha256=") if _FIRST in files else None
