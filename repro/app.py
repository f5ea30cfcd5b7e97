"""The composition root: one object that builds decisions, metrics, data sets and plug-ins from all packages.

Packages do not look each other up by name. Where one of them needs parts of packages downstream (a protocol needs the
decisions that metrics declare), it gets them from here (:mod:`repro.current`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from repro.current import current
from repro.data.registry import SYNTHETIC, Dataset, own_datasets
from repro.evaluation.metrics.catalogue import own_metrics
from repro.evaluation.metrics.metric import Metric
from repro.plugin import Plugins, declare_frameworks, installed_plugins
from repro.protocol import Registry
from repro.protocol.decisions import AFTER_SPLIT, BEFORE_SPLIT
from repro.split import OWN, split_decisions, splitters


class Application:
    """The parts that all packages share; each is built when it is first used.

    plugins    the installed plug-ins, or those of the constructor
    datasets   the named data sets: those of the suite, and those of plug-ins
    metrics    the metrics: those of the suite, and those of plug-ins
    registry   the decisions: those of the core, the parameters of splitters, and the variants of metrics
    """

    def __init__(self, plugins: Plugins | None = None) -> None:
        if plugins is not None:
            self.plugins = self._without_frameworks = plugins

    @cached_property
    def _without_frameworks(self) -> Plugins:
        return installed_plugins()

    @cached_property
    def plugins(self) -> Plugins:
        # Frameworks are declared last, so that it does not depend on the order of calls what a faulty one disables.
        assert self.datasets and self.metrics and self.registry
        return declare_frameworks(self._without_frameworks)

    @cached_property
    def datasets(self) -> dict[str, Dataset]:
        own = own_datasets()
        return own | self._without_frameworks.datasets(taken=(*own, SYNTHETIC))

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        own = own_metrics()
        taken = [name for metric in own.values() for name in (metric.name, *metric.aliases)]
        return own | self._without_frameworks.metrics(Metric, taken)

    @cached_property
    def registry(self) -> Registry:
        declared = self._without_frameworks.splitters().values()
        further = {"split.strategy": splitters.strategies(declared), "data.order": splitters.orders(declared)}
        core = (
            replace(decision, options=(*decision.options, *further[decision.id]))
            if decision.id in further
            else decision
            for decision in (*BEFORE_SPLIT, *split_decisions(OWN), *AFTER_SPLIT)
        )
        variants = (decision for metric in self.metrics.values() for decision in metric.variants)
        return Registry([*core, *splitters.decisions(declared), *variants])

    def ask_plugins(self) -> Plugins:
        """Call every hook of every plug-in, so that all broken plug-ins are known."""
        self.plugins.evaluators()
        self.plugins.pipelines()
        self.plugins.exporters()
        assert self.datasets and self.metrics and self.registry
        return self.plugins


def application() -> Application:
    """The application in use."""
    in_use: Application = current()
    return in_use
