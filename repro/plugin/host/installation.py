"""The environments of frameworks, built on request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

from repro.errors import PluginError
from repro.plugin.host.discovery import plugins
from repro.plugin.isolation import environment
from repro.plugin.isolation.pins import pinned


def install(
    name: str, *, pins: Sequence[str] = (), again: bool = False, say: Callable[[str], None] = lambda line: None
) -> Path:
    """Build the environment of a framework, once, from its pinned requirements, and return its folder.

    name   the framework, such as ``recbole``; ``repro.plugins()`` lists all
    pins   other versions, such as ``["scikit-surprise==1.1.4"]``
    again  build it even if it exists
    say    is called with each line of progress
    """
    with pinned({name: pins}) if pins else nullcontext():
        needs = plugins().environment_of(name)
        if needs is None:
            raise PluginError(f"{name} needs no environment of its own: it runs where repro runs")
        environment.build(name, needs, say, again=again)
        return environment.folder_of(name, needs)
