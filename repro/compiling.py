"""A word on standard error when loops have to be compiled, which takes about 20 seconds and happens once.

Numba keeps compiled code on disk, so this is the first use after an installation or an update. Importing this module is
enough; the modules with compiled loops that are needed first do.
"""

from __future__ import annotations

import sys
from typing import Any

from numba.core import event


class _Announcer(event.Listener):
    """Says once in a process that functions of this package are being compiled."""

    announced = False

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if not self.announced and module.startswith("repro."):
            self.announced = True
            print("repro compiles its loops for this machine: once, about 20 seconds", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Nothing is said at the end."""


_announcer = _Announcer()
event.register("numba:compile", _announcer)
