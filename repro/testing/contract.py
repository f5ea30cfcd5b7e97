"""The contract of plug-ins as classes of tests: inherit from one, name the plug-in, and run pytest."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, ClassVar

import pytest
from threadpoolctl import threadpool_limits

from repro.data.interactions import Interactions
from repro.plugin import (
    Algorithm,
    Case,
    CheckedRecommender,
    Framework,
    Observed,
    ParameterValue,
    Plugins,
    Scores,
    parameters_of,
)
from repro.plugin.api import spec
from repro.plugin.host.discovery import load_plugins
from repro.plugin.isolation.environment import build
from repro.testing import checks
from repro.testing.cases import case_of
from repro.testing.data import small_ratings

Parameters = Mapping[str, ParameterValue]


@cache
def _loaded(module: str) -> Plugins:
    return load_plugins([EntryPoint(module.partition(".")[0], module, spec.NAME)])


class _Contract:
    """``plugin`` is the module with the hooks, as the entry point names it.

    ``k`` is the cut-off of evaluators; ``measures`` are those to test, by default all.
    """

    plugin: ClassVar[str]

    def plugins(self) -> Plugins:
        return _loaded(self.plugin)

    k: ClassVar[int] = 3
    measures: ClassVar[Sequence[str]] = ()

    def case(self) -> Case:
        """The case of the tests: two users with whole lists and ratings of 1. Override it where others are needed."""
        scores = {1: {1: 0.9, 2: 0.5, 3: 0.4}, 2: {1: 0.1, 2: 0.2, 3: 0.3}}
        return case_of(scores, {1: {3: 1.0}, 2: {1: 1.0, 3: 1.0}})

    def train(self) -> Interactions:
        """The training rows of the tests; override it where an algorithm needs others."""
        return small_ratings(timestamps=True)

    def framework(self) -> Framework | None:
        return next(iter(self.plugins().frameworks.values()), None)

    def fit(self, algorithm: str, parameters: Parameters, train: Interactions, seed: int) -> CheckedRecommender:
        """A fitted recommender, in this process or in the framework's own environment."""
        plugins, framework = self.plugins(), self.framework()
        assert framework is not None
        if plugins.location(framework.name) == "missing" and framework.environment is not None:
            build(framework.name, framework.environment, print)
        reference = f"{framework.name}/{algorithm}"
        stated = parameters_of(plugins.algorithm(reference)[1], dict(parameters))
        with threadpool_limits(1):  # as in a study
            recommender = plugins.recommender(reference, stated)
            recommender.fit(train, seed=seed)
        return recommender


class DeclarationContract(_Contract):
    """Tests that the declarations of a plug-in are valid, and can be listed if the framework is not installed."""

    def test_the_plugin_is_installed(self) -> None:
        modules = {point.value.partition(":")[0] for point in entry_points(group=spec.NAME)}
        assert self.plugin in modules, f"no entry point of the group {spec.NAME} names {self.plugin}"

    def test_declarations_are_valid(self) -> None:
        checks.check_declarations(self.plugins(), self.plugin)

    def test_canonical_parameters_are_mapped_or_explained(self) -> None:
        for algorithm in self._algorithms():
            checks.check_canonical(algorithm)

    def test_parameters_are_described(self) -> None:
        for algorithm in self._algorithms():
            checks.check_parameters(algorithm)

    def test_the_environment_is_pinned(self) -> None:
        framework = self.framework()
        if framework is not None and framework.environment is not None:
            checks.check_environment(framework.environment)

    def test_declarations_need_no_framework(self) -> None:
        framework = self.framework()
        if framework is not None and framework.environment is not None:
            checks.check_imports(self.plugin, framework.environment)

    def _algorithms(self) -> Sequence[Algorithm]:
        framework = self.framework()
        return framework.algorithms if framework else ()


class AlgorithmContract(_Contract):
    """Algorithms keep to the interface of recommenders.

    ``algorithms`` has the name and some parameters of each algorithm to test, such as a small number of epochs; by
    default all that the plug-in declares, with their defaults. ``exceptions`` names, by algorithm, the laws that it
    does not keep, of "blocks", "row-order" and "generators".
    The environment of a framework that is missing is built, which can take minutes.
    """

    algorithms: ClassVar[Sequence[tuple[str, Parameters]] | None] = None
    exceptions: ClassVar[Mapping[str, Collection[str]]] = {}

    @classmethod
    def pytest_generate_tests(cls, metafunc: pytest.Metafunc) -> None:
        contract = metafunc.cls
        if contract is None or not hasattr(contract, "plugin"):
            return
        plugins = _loaded(contract.plugin)
        if {"algorithm", "parameters"} <= set(metafunc.fixturenames):
            declared = [a.name for f in plugins.frameworks.values() for a in f.algorithms]
            tested = [(name, {}) for name in declared] if contract.algorithms is None else contract.algorithms
            metafunc.parametrize(("algorithm", "parameters"), tested, ids=str)

    def test_the_algorithm_keeps_to_the_interface(self, algorithm: str, parameters: Parameters) -> None:
        checks.check_recommender(
            lambda rows, seed: self.fit(algorithm, parameters, rows, seed),
            self.train(),
            deterministic=self._is_deterministic(algorithm, parameters),
            exceptions=self.exceptions.get(algorithm, ()),
        )

    def _is_deterministic(self, algorithm: str, parameters: Parameters) -> bool:
        framework = self.framework()
        assert framework is not None
        declared: Any = self.plugins().algorithm(f"{framework.name}/{algorithm}")[1]
        return bool(declared.is_deterministic(parameters_of(declared, dict(parameters))))


class EvaluatorContract(_Contract):
    """Evaluators and splitters return what the interface asks for, and the same again."""

    def test_evaluators_give_the_same_answer_twice(self) -> None:
        for name in self.plugins().evaluators():
            checks.check_evaluator(self.plugins(), name, self.case(), self.k, self.measures)

    def test_splitters_hold_each_row_once(self) -> None:
        for name in self.plugins().splitters():
            checks.check_splitter(self.plugins(), name, self.train())


class IsolationContract(_Contract):
    """In its own environment, which is built if it is missing, the framework gives the same bits as in this process.

    ``algorithms`` has the name and some parameters of each algorithm to compare.
    """

    algorithms: ClassVar[Sequence[tuple[str, Parameters]]] = ()

    def test_isolated_answers_are_the_same_bits(self) -> None:
        plugins, framework = self.plugins(), self.framework()
        assert framework is not None and framework.environment is not None
        build(framework.name, framework.environment, print)
        train = self.train()

        def answers() -> list[Scores | Observed]:
            fitted = (self.fit(name, parameters, train, checks.SEED) for name, parameters in self.algorithms)
            learnt = [part for recommender in fitted for part in checks.scores_and_state(recommender, train)]
            return [*learnt, *checks.evaluator_answers(plugins, self.case(), self.k, self.measures)]

        checks.check_isolated(plugins, framework.name, answers)


class PluginContract(DeclarationContract, AlgorithmContract, EvaluatorContract):
    """The whole contract of a plug-in."""
