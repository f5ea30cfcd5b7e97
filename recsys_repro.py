"""The command `recsys-repro`: the same as `repro`, and it works where another package has a command of that name."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def main() -> None:
    """Run the command `repro`, or say why another package called repro is in its way."""
    # By its path: the package `repro` itself may be the other one.
    spec = importlib.util.spec_from_file_location("repro_clash", Path(__file__).parent / "repro" / "clashes.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    problem = module.clash()
    try:
        import repro
        from repro.cli import main as command
    except Exception as error:
        sys.exit(f"error: {problem}" if problem else f"error: recsys-repro cannot be imported: {error}")
    if problem and "evaluate" not in getattr(repro, "__all__", ()):
        sys.exit(f"error: {problem}")
    command()
