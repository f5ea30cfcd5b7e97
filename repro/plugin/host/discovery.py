"""Discovery: loads the entry points of the group ``repro``, and their frameworks."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points

import pluggy

from repro.current import current
from repro.errors import PluginError, nearest
from repro.plugin.api import spec
from repro.plugin.host import validation
from repro.plugin.host.catalogue import CODE
from repro.plugin.host.placement import Plugins
from repro.terminal import printable

SELECTED = "REPRO_PLUGINS"
TRACED = "REPRO_TRACE"
_TRACED_WIDTH = 200


def load_plugins(points: Sequence[EntryPoint]) -> Plugins:
    """Load each entry point and its framework; a plug-in that fails is recorded as broken."""
    return declare_frameworks(load_modules(points))


def load_modules(points: Sequence[EntryPoint]) -> Plugins:
    """Load each entry point; the frameworks are not declared yet, which may import much."""
    plugins = Plugins()
    for point in points:
        manager = pluggy.PluginManager(spec.NAME)
        manager.add_hookspecs(spec)
        if os.environ.get(TRACED):
            _trace(manager, point.name)
        try:
            with contextlib.redirect_stdout(sys.stderr):
                manager.register(point.load(), point.name)
            manager.check_pending()
        except (Exception, SystemExit) as error:  # whatever a plug-in does, the others must work
            plugins.broken[point.name] = f"{type(error).__name__}: {error}"
            continue
        plugins.managers[point.name] = manager
        plugins.entry_modules[point.name] = point.value.partition(":")[0]
    return plugins


def declare_frameworks(plugins: Plugins) -> Plugins:
    """The same plug-ins with the frameworks that they declare."""
    for plugin, framework in plugins.call_hook("repro_framework"):
        if fault := validation.framework_fault(framework):
            plugins.disable(plugin, f"repro_framework {fault}")
        elif framework.name == CODE.name:
            plugins.disable(plugin, f"repro_framework declares '{CODE.name}', which repro itself has already")
        elif framework.name in plugins.frameworks:
            other = plugins.owners[framework.name]
            plugins.disable(plugin, f"repro_framework declares '{framework.name}', which {other} has already")
        else:
            plugins.frameworks[framework.name] = framework
            plugins.modules[framework.name] = plugins.entry_modules[plugin]
            plugins.owners[framework.name] = plugin
    return plugins


def _trace(manager: pluggy.PluginManager, name: str) -> None:
    """Print every hook call of this plug-in and its result."""

    def write(text: str) -> None:
        for line in text.splitlines():
            print(printable(f"{name}: {line[:_TRACED_WIDTH]}"), file=sys.stderr)

    manager.trace.root.setwriter(write)
    manager.enable_tracing()


def selected(points: Sequence[EntryPoint], setting: str | None) -> list[EntryPoint]:
    """The entry points that ``REPRO_PLUGINS`` selects: those it names, or, for names with a minus sign, all others."""
    if setting is None:
        return list(points)
    names = [part.strip() for part in setting.split(",") if part.strip()]
    excluded = {name[1:] for name in names if name.startswith("-")}
    included = {name for name in names if not name.startswith("-")}
    unknown = sorted((excluded | included) - {point.name for point in points})
    if unknown:
        known = sorted(point.name for point in points)
        raise PluginError(
            f"{SELECTED} names '{unknown[0]}', and no such plug-in is installed{nearest(unknown[0], known)} "
            f"Installed: {', '.join(known) or 'none'}"
        )
    if included or not names:
        return [point for point in points if point.name in included]
    return [point for point in points if point.name not in excluded]


def plugins() -> Plugins:
    """The plug-ins of the application in use."""
    known: Plugins = current().plugins
    return known


def installed_plugins() -> Plugins:
    """The plug-ins in this environment, or those that ``REPRO_PLUGINS`` selects; frameworks are not declared yet."""
    return load_modules(selected(_installed(), os.environ.get(SELECTED)))


def deselected() -> list[str]:
    """The names of the installed plug-ins that ``REPRO_PLUGINS`` leaves out."""
    points = _installed()
    names = {point.name for point in selected(points, os.environ.get(SELECTED))}
    return [point.name for point in points if point.name not in names]


def _installed() -> list[EntryPoint]:
    return sorted(entry_points(group=spec.NAME), key=lambda point: point.name)
