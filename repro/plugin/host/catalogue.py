"""The catalogue: everything that plug-ins declare, by name, and which plug-ins are broken."""

from __future__ import annotations

import contextlib
import copy
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

from repro.errors import PluginError, nearest
from repro.plugin.api.evaluator import Evaluator, Pipeline
from repro.plugin.api.interfaces import Algorithm, Exporter, Framework, MetricDeclaration, Splitter
from repro.plugin.host import validation

if TYPE_CHECKING:
    from repro.data import Dataset

# The framework of models that are given in Python: it is no plug-in, and has no algorithms of its own.
CODE = Framework("code", "of the study", "models that are given in Python", ())

DeclaredMetric = TypeVar("DeclaredMetric", bound=MetricDeclaration)


@dataclass(frozen=True)
class Catalogue:
    """The frameworks that plug-ins declare, what else their hooks declare, and which plug-ins are broken.

    entry_modules    by plug-in, its module
    modules          by framework, the module that declares it
    owners           by framework, the plug-in that declares it
    broken           by plug-in, why it is disabled
    muted_observers  plug-ins whose observers failed, each with the folder of the run in which they did
    """

    managers: dict[str, pluggy.PluginManager] = field(default_factory=dict)
    entry_modules: dict[str, str] = field(default_factory=dict)
    frameworks: dict[str, Framework] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    muted_observers: set[tuple[str, Path]] = field(default_factory=set)

    def call_hook(self, hook: str) -> Iterator[tuple[str, Any]]:
        """The answers of all plug-ins to a hook, each with the plug-in's name; a plug-in that fails is disabled."""
        for plugin, manager in self.managers.items():
            if plugin in self.broken:
                continue
            try:
                with contextlib.redirect_stdout(sys.stderr):
                    answers = getattr(manager.hook, hook)()
            except (Exception, SystemExit) as error:  # whatever a plug-in does, the others must work
                self.disable(plugin, f"{hook}: {type(error).__name__}: {error}")
                continue
            yield from ((plugin, answer) for answer in answers)

    def disable(self, plugin: str, reason: str) -> None:
        """Mark a plug-in as broken: its hooks are not called again, and its frameworks are removed."""
        self.broken[plugin] = reason
        for framework in [name for name, owner in self.owners.items() if owner == plugin]:
            self.frameworks.pop(framework, None)

    def observe(self, folder: Path, line: Mapping[str, Any]) -> None:
        """Pass a journal line to all observers, each with its own copy; an observer that raises stops nothing."""
        for plugin, manager in self.managers.items():
            hook = manager.hook.repro_journal_event
            if plugin in self.broken or (plugin, folder) in self.muted_observers or not hook.get_hookimpls():
                continue
            try:
                with contextlib.redirect_stdout(sys.stderr):
                    hook(folder=folder, line=copy.deepcopy(line))
            except (Exception, SystemExit) as error:
                self.muted_observers.add((plugin, folder))
                warnings.warn(
                    f"plug-in {plugin} failed to observe the journal, and is not called again in this run: "
                    f"{type(error).__name__}: {error}",
                    stacklevel=2,
                )

    def _declared(
        self,
        hook: str,
        kind: type,
        fault: Callable[[Any], str],
        taken: Collection[str] = (),
        names: Callable[[Any], Collection[str]] = lambda declaration: (declaration.name,),
    ) -> dict[str, Any]:
        """The declarations of a hook that returns several, by name; a plug-in that reuses a name is disabled."""
        declarations: dict[str, Any] = {}
        owners = dict.fromkeys(taken, "repro itself")
        for plugin, answer in self.call_hook(hook):
            if wrong := validation.sequence_fault(answer, kind, fault):
                self.disable(plugin, f"{hook} {wrong}")
                continue
            added = [name for declaration in answer for name in names(declaration)]
            repeated = [name for n, name in enumerate(added) if name in owners or name in added[:n]]
            if repeated:
                owner = owners.get(repeated[0], plugin)
                self.disable(plugin, f"{hook} declares '{repeated[0]}', which {owner} has already")
                continue
            owners |= dict.fromkeys(added, plugin)
            declarations |= {declaration.name: declaration for declaration in answer}
        return declarations

    def evaluators(self) -> dict[str, Evaluator]:
        """The evaluators of all frameworks."""
        return self._declared("repro_evaluators", Evaluator, validation.evaluator_fault)

    def pipelines(self) -> dict[str, Pipeline]:
        """The whole evaluations of all frameworks."""
        return self._declared("repro_pipelines", Pipeline, validation.pipeline_fault)

    def splitters(self) -> dict[str, Splitter]:
        """The splitters of all frameworks."""
        return self._declared("repro_splitters", Splitter, validation.splitter_fault)

    def exporters(self, taken: Collection[str] = ()) -> dict[str, Exporter]:
        """The exporters of plug-ins; they cannot use names that are ``taken``."""
        return self._declared("repro_exporters", Exporter, validation.exporter_fault, taken)

    def datasets(self, taken: Collection[str] = ()) -> dict[str, Dataset]:
        """The data sets of plug-ins; they cannot use names that are ``taken``."""
        from repro.data import Dataset

        return self._declared("repro_datasets", Dataset, validation.dataset_fault, taken)

    def metrics(self, kind: type[DeclaredMetric], taken: Collection[str] = ()) -> dict[str, DeclaredMetric]:
        """The metrics of plug-ins, of the class ``kind``; they cannot use names and aliases that are ``taken``."""
        fault = validation.metric_fault
        return self._declared("repro_metrics", kind, fault, taken, lambda metric: (metric.name, *metric.aliases))

    def declared_framework(self, name: str) -> Framework:
        """A framework as its plug-in declares it."""
        if name in self.frameworks:
            return self.frameworks[name]
        if name == CODE.name:
            return CODE
        owner = self.owners.get(name, name)
        if owner in self.broken:
            raise PluginError(f"plug-in {owner} is installed but broken: {self.broken[owner]}")
        known = ", ".join(sorted(self.frameworks)) or "none"
        raise PluginError(
            f"there is no framework '{name}'{nearest(name, self.frameworks)} Installed: {known} (`repro plugins list`)"
        )

    def frameworks_with(self, algorithm: str) -> list[str]:
        """The frameworks that have an algorithm of that name, whether they can run on this machine or not."""
        return [
            name
            for name, framework in self.frameworks.items()
            if algorithm in (declared.name for declared in framework.algorithms)
        ]


def algorithm_named(framework: Framework, algorithm: str) -> Algorithm:
    """An algorithm of a framework."""
    by_name = {declared.name: declared for declared in framework.algorithms}
    if algorithm in by_name:
        return by_name[algorithm]
    if framework is CODE:
        raise PluginError(
            f"code/{algorithm} is a model that is given in Python, not by name: repro.Study(data, protocol, [model], "
            "metrics)"
        )
    known = f"It has: {', '.join(by_name)}" if by_name else "It brings no algorithms"
    raise PluginError(f"framework {framework.name} has no algorithm '{algorithm}'{nearest(algorithm, by_name)} {known}")
