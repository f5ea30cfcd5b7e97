"""Placement: where each framework runs (in this process, or in a worker in its own environment), and running it."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from repro.errors import PluginError
from repro.plugin.api.checks import checked_folds, checked_observed
from repro.plugin.api.evaluator import Case, Evaluator, Observed, Pipeline, PipelineFold
from repro.plugin.api.interfaces import Algorithm, Environment, Framework, ParameterValue
from repro.plugin.host.catalogue import Catalogue, algorithm_named
from repro.plugin.host.guard import CheckedRecommender, call, make_recommender
from repro.plugin.isolation import environment
from repro.plugin.isolation.client import (
    IsolatedRecommender,
    Launch,
    WorkerPool,
    evaluate_isolated,
    run_isolated,
    split_isolated,
)
from repro.plugin.isolation.pins import Pins, current_pins, pins_of, with_pins

if TYPE_CHECKING:
    from repro.data.interactions import Interactions

ISOLATED = "REPRO_ISOLATE"

Location = Literal["in-process", "isolated", "missing"]
# The word that a journal has for each location.
JOURNALLED: Mapping[Location, str] = {"in-process": "here", "isolated": "isolated", "missing": "missing"}


@dataclass(frozen=True)
class Plugins(Catalogue):
    """The installed plug-ins: what they declare, and where it runs.

    ``workers`` are the running workers of isolated frameworks.
    """

    workers: WorkerPool = field(default_factory=WorkerPool)

    def framework(self, name: str) -> Framework:
        """A framework as its plug-in declares it; with pinned versions, as it is in the environment of those."""
        framework, pins = self.declared_framework(name), self.pins(name)
        if not pins:
            return framework
        requirements = self.environment_of(name)
        if self.location(name) == "missing":
            return replace(framework, version=" ".join(pins), packages={}, environment=requirements)
        versions = self.workers.versions(self.launch(name))
        return replace(
            framework, version=versions["framework"], packages=versions["packages"], environment=requirements
        )

    def algorithm(self, reference: str) -> tuple[Framework, Algorithm]:
        """The algorithm called ``framework/name``, and its framework."""
        name, slash, algorithm = reference.partition("/")
        if not slash:
            raise PluginError(
                f"algorithm '{reference}' lacks its framework; write framework/algorithm, such as "
                f"reference/{reference}, or */{reference} for every framework that has it"
            )
        framework = self.framework(name)
        return framework, algorithm_named(framework, algorithm)

    def pins(self, name: str) -> Pins:
        """The versions pinned in place of those of the plug-in (``REPRO_PINS``, ``pinned``); none by default."""
        pins = pins_of(name, {*self.frameworks, *self.owners})
        if pins and self.declared_framework(name).environment is None:
            raise PluginError(f"{name} has no environment of its own, so that {' '.join(pins)} cannot be pinned for it")
        return pins

    def environment_of(self, name: str) -> Environment | None:
        """The requirements of a framework with the pinned versions; None if its plug-in brings everything."""
        requirements, pins = self.declared_framework(name).environment, self.pins(name)
        return with_pins(requirements, pins) if requirements and pins else requirements

    def location(self, name: str) -> Location:
        """Whether a framework runs in this process, in its own environment, or nowhere because it is missing."""
        requirements = self.environment_of(name)
        if requirements is None:
            return "in-process"
        if not self.is_isolated(name) and all(map(_is_importable, requirements.imports)):
            return "in-process"
        return "isolated" if environment.python_of(name, requirements) else "missing"

    def is_isolated(self, name: str) -> bool:
        """Whether a framework must run in its own environment, even where this one has it too."""
        isolated = {part.strip() for part in os.environ.get(ISOLATED, "").split(",")}
        return bool(isolated & {name, "all"} or self.pins(name))

    def freeze(self, name: str) -> list[str] | None:
        """Every distribution of a framework's own environment; None where it runs in this process."""
        requirements = self.environment_of(name)
        if requirements is None or self.location(name) != "isolated":
            return None
        return environment.freeze_of(name, requirements)

    def launch(self, name: str) -> Launch:
        """The interpreter and the packages with which the worker of a framework is started."""
        requirements = self.environment_of(name)
        python = None if requirements is None else environment.python_of(name, requirements)
        if python is None:
            raise PluginError(f"the environment of {name} has not been built; `{_install_command(name)}` builds it")
        module = self.modules[name]
        return Launch(name, module, python, tuple(map(_package_path, ("repro", module.partition(".")[0]))))

    def recommender(
        self, reference: str, parameters: dict[str, ParameterValue], limit: float | None = None
    ) -> CheckedRecommender:
        """A new recommender, in this process or in a worker with at most ``limit`` seconds for each request."""
        framework, algorithm = self.algorithm(reference)
        match self.location(framework.name):
            case "in-process":
                call(reference, "import", environment.load, framework.environment)
                return make_recommender(algorithm, parameters, reference)
            case "isolated":
                worker = self.workers.get(self.launch(framework.name))
                isolated = IsolatedRecommender(worker, algorithm.name, parameters, limit)
                return CheckedRecommender(isolated, reference, isolated.predicts, algorithm.uses_history)
        raise PluginError(how_to_install(framework))

    def split(
        self, name: str, rows: Interactions, seed: int, parameters: dict[str, ParameterValue]
    ) -> Sequence[tuple[Any, Any]]:
        """The folds that a splitter makes of the rows, in this process or in a worker of its framework."""
        launch = self._worker_launch(name)
        if launch is None:
            return call(name, "split", self.splitters()[name].split, rows, seed, **parameters)
        return split_isolated(self.workers.get(launch), name, rows, seed, parameters)

    def evaluate(self, evaluator: Evaluator, case: Case, measure: str, k: int | None) -> Observed:
        """The answer of an evaluator, in this process or in a worker of its framework."""
        launch = self._worker_launch(evaluator.name)
        if launch is None:
            return checked_observed(evaluator.name, call(evaluator.name, measure, evaluator.evaluate, case, measure, k))
        return evaluate_isolated(self.workers.get(launch), evaluator.name, case, measure, k)

    def run_pipeline(self, pipeline: Pipeline, rows: Interactions, seed: int) -> Sequence[PipelineFold]:
        """The folds of a framework's whole evaluation, in this process or in a worker of its framework."""
        launch = self._worker_launch(pipeline.name)
        if launch is None:
            return checked_folds(pipeline.name, call(pipeline.name, "run", pipeline.run, rows, seed), rows)
        return run_isolated(self.workers.get(launch), pipeline.name, rows, seed)

    def _worker_launch(self, name: str) -> Launch | None:
        """The launch of the worker of the framework in ``framework/...``; None where it runs in this process."""
        owner = name.partition("/")[0]
        # A splitter or evaluator without a framework is part of the plug-in itself, which is in this process.
        match self.location(owner) if owner in self.frameworks else "in-process":
            case "in-process":
                return None
            case "isolated":
                return self.launch(owner)
        raise PluginError(f"{name}: {how_to_install(self.framework(owner))}")


def how_to_install(framework: Framework) -> str:
    """A sentence about how to install a missing framework."""
    requirements, pins = framework.environment, current_pins().get(framework.name, ())
    alternative = f", or {requirements.install}" if requirements and requirements.install and not pins else ""
    what = f"{framework.name} with {' '.join(pins)}" if pins else framework.name
    return f"{what} is not installed; `{_install_command(framework.name)}` builds its environment{alternative}"


def _install_command(name: str) -> str:
    """The command that builds the environment of a framework, with the pinned versions."""
    return " ".join(["repro plugins install", name, *(f"--pin {pin}" for pin in current_pins().get(name, ()))])


def _is_importable(module: str) -> bool:
    """Whether a module can be imported in this process, without importing it (only the packages that contain it)."""
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


def _package_path(module: str) -> Path:
    """The folder of a package, or the file of a module without one."""
    package = importlib.import_module(module)
    path = Path(str(package.__file__))
    return path.parent if hasattr(package, "__path__") else path
