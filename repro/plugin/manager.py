"""Finding plug-ins: entry points of the group ``repro``, and asking them through their hooks."""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import math
import os
import pkgutil
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pluggy

from repro.errors import PluginError, nearest
from repro.plugin import environment, faults, spec
from repro.plugin.border import Guarded, call, checked_folds, checked_observed, guarded_recommender
from repro.plugin.evaluator import Case, Evaluator, Observed, Pipeline, PipelineFold
from repro.plugin.interfaces import Algorithm, Environment, Exporter, Framework, Parameter, ParameterValue, Splitter
from repro.plugin.isolated import (
    IsolatedRecommender,
    Launch,
    evaluate_isolated,
    run_isolated,
    split_isolated,
    worker_of,
)
from repro.plugin.pins import Pins, pins_of, stated_pins, with_pins
from repro.terminal import printable

if TYPE_CHECKING:
    from repro.data import Dataset
    from repro.data.interactions import Interactions
    from repro.evaluation.metrics import Metric

CHOSEN = "REPRO_PLUGINS"
ISOLATED = "REPRO_ISOLATE"
TRACED = "REPRO_TRACE"
_TRACED_WIDTH = 200

Place = Literal["here", "isolated", "missing"]


@dataclass(frozen=True)
class Plugins:
    """The plug-ins found: the frameworks they declare, what else they bring when asked, and which are broken.

    modules  which module declares a framework
    owners   which plug-in declares a framework
    broken   of a plug-in, why it is left out
    quiet    the plug-ins whose observers failed in the run of a folder
    """

    managers: dict[str, pluggy.PluginManager] = field(default_factory=dict)
    frameworks: dict[str, Framework] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    quiet: set[tuple[str, Path]] = field(default_factory=set)

    def ask(self, hook: str) -> Iterator[tuple[str, Any]]:
        """What each plug-in answers to a hook, by the name of the plug-in; one that fails is broken from then on."""
        for name, manager in self.managers.items():
            if name in self.broken:
                continue
            try:
                with contextlib.redirect_stdout(sys.stderr):
                    answers = getattr(manager.hook, hook)()
            except (Exception, SystemExit) as error:  # whatever a plug-in does, the others must work
                self.leave_out(name, f"{hook}: {type(error).__name__}: {error}")
                continue
            yield from ((name, answer) for answer in answers)

    def leave_out(self, plugin: str, reason: str) -> None:
        """A plug-in is broken: it is not asked again, and its frameworks are not there."""
        self.broken[plugin] = reason
        for framework in [one for one, owner in self.owners.items() if owner == plugin]:
            self.frameworks.pop(framework, None)

    def observe(self, folder: Path, line: Mapping[str, Any]) -> None:
        """Show a line of a journal to all observers, each with a copy; what one of them raises stops nothing."""
        for name, manager in self.managers.items():
            hook = manager.hook.repro_journal_event
            if name in self.broken or (name, folder) in self.quiet or not hook.get_hookimpls():
                continue
            try:
                with contextlib.redirect_stdout(sys.stderr):
                    hook(folder=folder, line=copy.deepcopy(line))
            except (Exception, SystemExit) as error:
                self.quiet.add((name, folder))
                said = f"{type(error).__name__}: {error}"
                warnings.warn(
                    f"plug-in {name} failed to observe the journal, and is not called again in this run: {said}",
                    stacklevel=2,
                )

    def _declared(
        self,
        hook: str,
        kind: Callable[[], type],
        fault: Callable[[Any], str],
        taken: Collection[str] = (),
        names: Callable[[Any], Collection[str]] = lambda one: (one.name,),
    ) -> dict[str, Any]:
        """What plug-ins declare through a hook that gives several things, by name; no name is given twice."""
        found: dict[str, Any] = {}
        used = dict.fromkeys(taken, "repro itself")
        for plugin, answer in self.ask(hook):
            if wrong := faults.sequence_fault(answer, kind(), fault):
                self.leave_out(plugin, f"{hook} {wrong}")
                continue
            mine: dict[str, str] = {}
            again = ""
            for name in (name for one in answer for name in names(one)):
                again = again or (name if name in used or name in mine else "")
                mine[name] = plugin
            if again:
                self.leave_out(plugin, f"{hook} declares '{again}', which {used.get(again, plugin)} has already")
                continue
            used |= mine
            found |= {one.name: one for one in answer}
        return found

    def evaluators(self) -> dict[str, Evaluator]:
        """The evaluators of all frameworks."""
        return self._declared("repro_evaluators", lambda: Evaluator, faults.evaluator_fault)

    def pipelines(self) -> dict[str, Pipeline]:
        """The whole evaluations of all frameworks."""
        return self._declared("repro_pipelines", lambda: Pipeline, faults.pipeline_fault)

    def splitters(self) -> dict[str, Splitter]:
        """The splitters of all frameworks."""
        return self._declared("repro_splitters", lambda: Splitter, faults.splitter_fault)

    def exporters(self, taken: Collection[str] = ()) -> dict[str, Exporter]:
        """Other forms that a finished run can be written in; names that are ``taken`` cannot be declared."""
        return self._declared("repro_exporters", lambda: Exporter, faults.exporter_fault, taken)

    def datasets(self, taken: Collection[str] = ()) -> dict[str, Dataset]:
        """The data sets of plug-ins; names that are ``taken`` cannot be declared."""

        def kind() -> type:
            from repro.data import Dataset

            return Dataset

        return self._declared("repro_datasets", kind, faults.dataset_fault, taken)

    def metrics(self, taken: Collection[str] = ()) -> dict[str, Metric]:
        """The metrics of plug-ins; names and aliases that are ``taken`` cannot be declared."""
        return self._declared(
            "repro_metrics",
            lambda: pkgutil.resolve_name("repro.evaluation.metrics:Metric"),
            faults.metric_fault,
            taken,
            lambda metric: (metric.name, *metric.aliases),
        )

    def ask_all(self) -> None:
        """Ask every plug-in for everything, so that each that is broken is known to be."""
        self.evaluators()
        self.pipelines()
        self.exporters()
        for names in ("repro.data:datasets", "repro.protocol:registry"):  # which ask for data sets, splitters, metrics
            pkgutil.resolve_name(names)()

    def framework(self, name: str) -> Framework:
        """A framework as its plug-in declares it; where other versions are pinned, as it is declared with those."""
        found, pins = self._declaration(name), self.pins(name)
        if not pins:
            return found
        needs = self.environment_of(name)
        if self.place(name) == "missing":
            return replace(found, version=" ".join(pins), packages={}, environment=needs)
        told = _hello(self.launch(name))
        return replace(found, version=told["framework"], packages=told["packages"], environment=needs)

    def pins(self, name: str) -> Pins:
        """The versions that are pinned in place of those of the plug-in (``REPRO_PINS``); none by default."""
        pins = pins_of(name, {*self.frameworks, *self.owners})
        if pins and self._declaration(name).environment is None:
            raise PluginError(f"{name} has no environment of its own, so that {' '.join(pins)} cannot be pinned for it")
        return pins

    def environment_of(self, name: str) -> Environment | None:
        """What a framework needs around it, with what is pinned; None where its plug-in brings all."""
        needs, pins = self._declaration(name).environment, self.pins(name)
        return with_pins(needs, pins) if needs and pins else needs

    def _declaration(self, name: str) -> Framework:
        if name in self.frameworks:
            return self.frameworks[name]
        owner = self.owners.get(name, name)
        if owner in self.broken:
            raise PluginError(f"plug-in {owner} is installed but broken: {self.broken[owner]}")
        known = ", ".join(sorted(self.frameworks)) or "none"
        raise PluginError(
            f"there is no framework '{name}'{nearest(name, self.frameworks)} Installed: {known} (`repro plugins list`)"
        )

    def algorithm(self, reference: str) -> tuple[Framework, Algorithm]:
        """The algorithm called ``framework/name``."""
        name, slash, algorithm = reference.partition("/")
        if not slash:
            raise PluginError(
                f"algorithm '{reference}' lacks its framework; write framework/algorithm, such as "
                f"reference/{reference}, or */{reference} for every framework that has it"
            )
        framework = self.framework(name)
        for candidate in framework.algorithms:
            if candidate.name == algorithm:
                return framework, candidate
        names = [candidate.name for candidate in framework.algorithms]
        known = f"It has: {', '.join(names)}" if names else "It brings no algorithms"
        raise PluginError(f"framework {name} has no algorithm '{algorithm}'{nearest(algorithm, names)} {known}")

    def place(self, name: str) -> Place:
        """Where a framework runs: in this process, in an environment of its own, or nowhere yet."""
        needs = self.environment_of(name)
        if needs is None:
            return "here"
        if not self.apart(name) and all(map(_is_there, needs.imports)):
            return "here"
        return "isolated" if environment.python_of(name, needs) else "missing"

    def apart(self, name: str) -> bool:
        """Whether a framework is to run in an environment of its own even where it is in this one as well."""
        stated = {part.strip() for part in os.environ.get(ISOLATED, "").split(",")}
        return bool(stated & {name, "all"} or self.pins(name))

    def freeze(self, name: str) -> list[str] | None:
        """Every distribution of a framework's own environment; None where it runs in this process."""
        needs = self.environment_of(name)
        return environment.freeze_of(name, needs) if needs and self.place(name) == "isolated" else None

    def having(self, algorithm: str) -> list[str]:
        """The frameworks that have an algorithm of that name, whether they can run here or not."""
        return [
            name
            for name, framework in self.frameworks.items()
            if any(one.name == algorithm for one in framework.algorithms)
        ]

    def launch(self, name: str) -> Launch:
        """How to start the worker of a framework in its own environment."""
        needs = self.environment_of(name)
        python = None if needs is None else environment.python_of(name, needs)
        if python is None:
            raise PluginError(f"the environment of {name} has not been built; `{_installing(name)}` builds it")
        module = self.modules[name]
        return Launch(name, module, python, tuple(map(_place_of, ("repro", module.partition(".")[0]))))

    def recommender(self, reference: str, parameters: dict[str, ParameterValue], limit: float | None = None) -> Guarded:
        """A new recommender behind the border: in this process, or in a worker, with ``limit`` seconds per request."""
        framework, algorithm = self.algorithm(reference)
        match self.place(framework.name):
            case "here":
                call(reference, "import", environment.load, framework.environment)
                return guarded_recommender(algorithm, parameters, reference)
            case "isolated":
                worker = worker_of(self.launch(framework.name))
                made = IsolatedRecommender(worker, algorithm.name, parameters, limit)
                return Guarded(made, reference, predicts=made.predicts)
        raise PluginError(how_to_install(framework))

    def split(
        self, name: str, rows: Interactions, seed: int, parameters: dict[str, ParameterValue]
    ) -> Sequence[tuple[Any, Any]]:
        """The folds that a splitter makes of the rows, in this process or in a worker of its framework."""
        launch = self._elsewhere(name)
        if launch is None:
            return call(name, "split", self.splitters()[name].split, rows, seed, **parameters)
        return split_isolated(worker_of(launch), name, rows, seed, parameters)

    def evaluate(self, evaluator: Evaluator, case: Case, measure: str, k: int | None) -> Observed:
        """What an evaluator answers, in this process or in a worker of its framework."""
        launch = self._elsewhere(evaluator.name)
        if launch is None:
            return checked_observed(evaluator.name, call(evaluator.name, measure, evaluator.evaluate, case, measure, k))
        return evaluate_isolated(worker_of(launch), evaluator.name, case, measure, k)

    def run_pipeline(self, pipeline: Pipeline, rows: Interactions, seed: int) -> Sequence[PipelineFold]:
        """The folds of a framework's whole evaluation, in this process or in a worker of its framework."""
        launch = self._elsewhere(pipeline.name)
        if launch is None:
            return checked_folds(pipeline.name, call(pipeline.name, "run", pipeline.run, rows, seed), rows)
        return run_isolated(worker_of(launch), pipeline.name, rows, seed)

    def _elsewhere(self, name: str) -> Launch | None:
        """How to start the worker that has what is called ``framework/...``; None where it is in this process."""
        owner = name.partition("/")[0]
        # What comes without a framework is part of the plug-in, and here.
        match self.place(owner) if owner in self.frameworks else "here":
            case "here":
                return None
            case "isolated":
                return self.launch(owner)
        raise PluginError(f"{name}: {how_to_install(self.framework(owner))}")


def how_to_install(framework: Framework) -> str:
    """What to do about a framework that is not there, in a sentence."""
    needs, pins = framework.environment, stated_pins().get(framework.name, ())
    own = f", or {needs.install}" if needs and needs.install and not pins else ""
    what = f"{framework.name} with {' '.join(pins)}" if pins else framework.name
    return f"{what} is not installed; `{_installing(framework.name)}` builds its environment{own}"


def _installing(name: str) -> str:
    """The command that builds the environment of a framework, with what is pinned."""
    return " ".join(["repro plugins install", name, *(f"--pin {pin}" for pin in stated_pins().get(name, ()))])


@cache
def _hello(launch: Launch) -> dict[str, Any]:
    """What a worker says of the framework in its environment."""
    return worker_of(launch).hello


def _is_there(module: str) -> bool:
    """Whether a module can be imported here, without importing it (but what it is in)."""
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


def _place_of(module: str) -> Path:
    """The folder of a package, or the file of a module without one."""
    found = importlib.import_module(module)
    return Path(str(found.__file__)).parent if hasattr(found, "__path__") else Path(str(found.__file__))


def load_plugins(points: Sequence[EntryPoint]) -> Plugins:
    """Load each entry point and ask it for its framework; one that fails is named and left out."""
    found = Plugins()
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
            found.broken[point.name] = f"{type(error).__name__}: {error}"
            continue
        found.managers[point.name] = manager
    modules = {point.name: point.value.partition(":")[0] for point in points}
    for name, framework in found.ask("repro_framework"):
        if fault := faults.framework_fault(framework):
            found.leave_out(name, f"repro_framework {fault}")
        elif framework.name in found.frameworks:
            other = found.owners[framework.name]
            found.leave_out(name, f"repro_framework declares '{framework.name}', which {other} has already")
        else:
            found.frameworks[framework.name] = framework
            found.modules[framework.name] = modules[name]
            found.owners[framework.name] = name
    return found


def _trace(manager: pluggy.PluginManager, name: str) -> None:
    """Print every call of a hook of this plug-in, with what it gives."""

    def write(text: str) -> None:
        for line in text.splitlines():
            print(printable(f"{name}: {line[:_TRACED_WIDTH]}"), file=sys.stderr)

    manager.trace.root.setwriter(write)
    manager.enable_tracing()


def chosen(points: Sequence[EntryPoint], setting: str | None) -> list[EntryPoint]:
    """The entry points that ``REPRO_PLUGINS`` leaves: those it names, or, of names with a minus sign, all others."""
    if setting is None:
        return list(points)
    names = [part.strip() for part in setting.split(",") if part.strip()]
    left_out = {name[1:] for name in names if name.startswith("-")}
    named = {name for name in names if not name.startswith("-")}
    unknown = sorted((left_out | named) - {point.name for point in points})
    if unknown:
        known = sorted(point.name for point in points)
        raise PluginError(
            f"{CHOSEN} names '{unknown[0]}', and no such plug-in is installed{nearest(unknown[0], known)} "
            f"Installed: {', '.join(known) or 'none'}"
        )
    if named or not names:
        return [point for point in points if point.name in named]
    return [point for point in points if point.name not in left_out]


@cache
def plugins() -> Plugins:
    """The plug-ins installed in this environment, or those of them that ``REPRO_PLUGINS`` chooses."""
    return load_plugins(chosen(_installed(), os.environ.get(CHOSEN)))


def unchosen() -> list[str]:
    """The plug-ins installed in this environment that ``REPRO_PLUGINS`` leaves out."""
    points = _installed()
    taken = {point.name for point in chosen(points, os.environ.get(CHOSEN))}
    return [point.name for point in points if point.name not in taken]


def _installed() -> list[EntryPoint]:
    return sorted(entry_points(group=spec.NAME), key=lambda point: point.name)


def parameters_of(algorithm: Algorithm, given: dict[str, ParameterValue]) -> dict[str, ParameterValue]:
    """All parameters of ``algorithm``: the given ones, and the defaults of the others."""
    known = {parameter.name: parameter for parameter in algorithm.parameters}
    for name in given:
        if name not in known:
            raise PluginError(
                f"{algorithm.name} has no parameter '{name}'{nearest(name, known)} It has: {', '.join(known) or 'none'}"
            )
    return {name: _in_its_form(algorithm, p, given[name]) if name in given else p.default for name, p in known.items()}


def _in_its_form(algorithm: Algorithm, parameter: Parameter, value: ParameterValue) -> ParameterValue:
    """The value as the declaration writes it: 500 and 500.0 are the same parameter. What is not allowed is refused."""
    name, default = parameter.name, parameter.default
    if not parameter.options:
        if not _fits(value, type(default)):
            raise PluginError(f"{algorithm.name}: {name} = {value!r} must be {type(default).__name__}")
        return type(default)(value)
    for option in parameter.options:
        if option == value and _fits(value, type(option)):
            return option
    allowed = ", ".join(map(str, parameter.options))
    raise PluginError(f"{algorithm.name}: {name} = {value!r} is not allowed; allowed: {allowed}")


def _fits(value: ParameterValue, wanted: type) -> bool:
    """Whether a value can stand for one of that type: a whole number may be written 20 or 20.0."""
    if wanted in (bool, str):
        return type(value) is wanted
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return number and (wanted is float or value == int(value))
