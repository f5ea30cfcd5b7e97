"""Differences between operating systems: memory, the place of an interpreter, and groups of processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

# Whether a process and all that it starts can be stopped together, and its pipes be read with a deadline.
HAS_PROCESS_GROUPS = hasattr(os, "killpg") and hasattr(os, "set_blocking")


def memory() -> int | None:
    """The memory of this machine in bytes; None where the system does not say."""
    if not hasattr(os, "sysconf"):
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def interpreter(environment: Path) -> Path:
    """The interpreter of a virtual environment on this system."""
    return environment / "Scripts" / "python.exe" if os.name == "nt" else environment / "bin" / "python"


def end_group(process: int) -> None:
    """End a process and all processes of its group at once."""
    if hasattr(os, "killpg"):
        os.killpg(process, signal.SIGKILL)
    else:
        os.kill(process, signal.SIGTERM)
