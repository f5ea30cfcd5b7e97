"""Finding plug-ins: entry points of the group ``repro``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points

import pluggy

from repro.errors import PluginError, nearest
from repro.plugin import spec
from repro.plugin.interfaces import Algorithm, Framework, ParameterValue


@dataclass(frozen=True)
class Plugins:
    """The frameworks found, and the plug-ins that could not be used, with the reason."""

    frameworks: dict[str, Framework] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)

    def framework(self, name: str) -> Framework:
        if name in self.frameworks:
            return self.frameworks[name]
        if name in self.broken:
            raise PluginError(f"plug-in {name} is installed but broken: {self.broken[name]}")
        known = ", ".join(sorted(self.frameworks)) or "none"
        raise PluginError(
            f"there is no framework '{name}'{nearest(name, self.frameworks)} Installed: {known} (`repro plugins list`)"
        )

    def algorithm(self, reference: str) -> tuple[Framework, Algorithm]:
        """The algorithm called ``framework/name``."""
        name, slash, algorithm = reference.partition("/")
        if not slash:
            raise PluginError(
                f"algorithm '{reference}' lacks its framework; write framework/algorithm, such as reference/{reference}"
            )
        framework = self.framework(name)
        for candidate in framework.algorithms:
            if candidate.name == algorithm:
                return framework, candidate
        names = [candidate.name for candidate in framework.algorithms]
        raise PluginError(
            f"framework {name} has no algorithm '{algorithm}'{nearest(algorithm, names)} It has: {', '.join(names)}"
        )


def load_plugins(points: list[EntryPoint]) -> Plugins:
    """Load each entry point and ask it for its framework; one that fails is named and left out."""
    found = Plugins()
    for point in points:
        manager = pluggy.PluginManager(spec.NAME)
        manager.add_hookspecs(spec)
        try:
            manager.register(point.load(), point.name)
            manager.check_pending()
            for framework in manager.hook.repro_framework():
                found.frameworks[framework.name] = framework
        except Exception as error:  # whatever a plug-in does, the others must work
            found.broken[point.name] = f"{type(error).__name__}: {error}"
    return found


@cache
def plugins() -> Plugins:
    """The plug-ins installed in this environment."""
    return load_plugins(sorted(entry_points(group=spec.NAME), key=lambda point: point.name))


def parameters_of(algorithm: Algorithm, given: dict[str, ParameterValue]) -> dict[str, ParameterValue]:
    """All parameters of ``algorithm``: the given ones, and the defaults of the others."""
    known = {parameter.name: parameter for parameter in algorithm.parameters}
    for name, value in given.items():
        if name not in known:
            raise PluginError(
                f"{algorithm.name} has no parameter '{name}'{nearest(name, known)} It has: {', '.join(known) or 'none'}"
            )
        parameter = known[name]
        if parameter.options and value not in parameter.options:
            allowed = ", ".join(map(str, parameter.options))
            raise PluginError(f"{algorithm.name}: {name} = {value!r} is not allowed; allowed: {allowed}")
        if not _fits(value, type(parameter.default)):
            raise PluginError(f"{algorithm.name}: {name} = {value!r} must be {type(parameter.default).__name__}")
    # 500 and 500.0 are the same parameter: one form of each, as its default has it.
    return {name: type(p.default)(given.get(name, p.default)) for name, p in known.items()}


def _fits(value: ParameterValue, wanted: type) -> bool:
    """Whether a value can stand for one of that type: a whole number may be written 20 or 20.0."""
    if wanted in (bool, str):
        return type(value) is wanted
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return number and (wanted is float or value == int(value))
