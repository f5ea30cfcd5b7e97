"""The hooks a plug-in may implement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from repro.plugin.interfaces import Framework

NAME = "repro"
spec = pluggy.HookspecMarker(NAME)
impl = pluggy.HookimplMarker(NAME)


@spec
def repro_framework() -> Framework:
    """Declare a framework: its name, version and algorithms.

    Called once, when the plug-ins are first asked for. The declaration is data; importing the framework
    itself is best left to the first ``fit``.
    """
    raise NotImplementedError
