"""The interfaces between frameworks and the core: recommenders, and the declarations of plug-ins."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray
from repro.plugin.api.queries import Queries
from repro.plugin.api.scores import ScoreKind, Scores
from repro.plugin.api.training import TrainingData
from repro.protocol.decision import Decision, When

ParameterValue = str | int | float | bool


@runtime_checkable
class Recommender(Protocol):
    """A fitted or fittable algorithm.

    It may have three more members. ``notes``, a mapping of text to text, describes how it computed its scores; it is
    read after scoring, and goes into the journal and the report. ``on_fold(name)`` is called before ``fit`` with the
    name of the fold, for algorithms whose scores are in a file for each fold. ``state()`` returns what a factor model
    learnt, a mapping of names to arrays of numbers by the codes of the training data: ``user_factors`` (users by
    factors), ``item_factors`` (items by factors), ``implicit_factors`` (items by factors, those that are added to the
    factors of users who have the item), ``user_bias`` (users), ``item_bias`` (items) and ``mean`` (a number), of which
    it leaves out what the model does not have. They are those at the end of training, in the framework's own scale, and
    NaN for users and items that the framework does not know. :mod:`repro.plugin.api.state` has the names and shapes.
    """

    def fit(self, train: TrainingData, *, seed: int) -> None:
        """Learn from the training rows. Same rows, same seed: same scores, where declared deterministic."""

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        """A dense block, queries by items, higher is better; never a top-k list."""


@runtime_checkable
class RatingPredictor(Recommender, Protocol):
    """An algorithm that also predicts on the rating scale."""

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        """One prediction for each pair: the query n and ``items[n]``."""


@dataclass(frozen=True)
class Choice:
    """An option of a parameter, with its meaning.

    formula  as plain text, with the letters of the docstring of the algorithm
    cite     the publication that defines it
    used_by  the algorithms (``framework/algorithm``) that compute so
    """

    value: ParameterValue
    meaning: str
    formula: str = ""
    cite: str = ""
    used_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Parameter:
    """A parameter of an algorithm or a splitter: its name (in an algorithm the canonical one), default and meaning.

    options  the values that it can have; the ``choices`` by default
    when     conditions on other parameters without which it has no effect: a protocol that states such a parameter of
             a splitter is rejected
    choices  the options with their meaning
    neutral  of a number: the value that has no effect, such as a shrinkage of 0
    probe    the value with which an audit of algorithms runs implementations that have this parameter, so that the
             effect of the other decisions is visible
    """

    name: str
    default: ParameterValue
    meaning: str
    options: tuple[ParameterValue, ...] = ()
    when: tuple[When, ...] = ()
    choices: tuple[Choice, ...] = ()
    neutral: ParameterValue | None = None
    probe: ParameterValue | None = None

    def __post_init__(self) -> None:
        if self.choices and not self.options:
            object.__setattr__(self, "options", tuple(choice.value for choice in self.choices))


class StagedScores(Protocol):
    """The scores of an algorithm on a small training set, computed in stages that depend on a group of parameters each.

    Combinations of parameters that give the same intermediate result are continued together, so that all of their
    products can be tried.
    """

    def step(
        self, stage: int, before: Any, parts: Mapping[int, Mapping[str, ParameterValue]]
    ) -> Iterable[tuple[Hashable, Any, list[int]]]:
        """The results of a stage after the result ``before`` of the stage before it, for values of its parameters.

        ``parts`` has these values by number. Yields a key that is equal only where results are, the result, and the
        numbers that have it.
        """

    def scores(
        self, values: Sequence[Any], parts: Mapping[int, Mapping[str, ParameterValue]]
    ) -> Iterable[tuple[list[int], FloatArray]]:
        """The last stage: for all results of the stage before it, users by items, NaN where there is no score.

        Yields the numbers of parts that give the same scores, and these.
        """


@dataclass(frozen=True)
class StagedDefinitions:
    """The stages of an algorithm.

    groups    the parameters of each stage
    on        what computes the stages on a training set
    compared  "users" or "items" where the algorithm compares them, and takes the ``k`` nearest: with at most k of them,
              few decisions have an effect
    """

    groups: tuple[tuple[str, ...], ...]
    on: Callable[[TrainingData], StagedScores]
    compared: str = ""


@dataclass(frozen=True)
class Algorithm:
    """The declaration of an algorithm of a framework.

    name           a canonical name (:mod:`repro.plugin.api.canonical`), the same in every framework, or the
                   framework's own
    make           makes a recommender; takes the parameters as keywords
    parameters     of a canonical algorithm: those canonical ones that the framework can express, with the
                   framework's defaults, and further ones of its own
    own            the class or function of the framework that does the work
    mapping        of a canonical algorithm: each canonical parameter in the framework's own words
    unmapped       canonical parameters that the framework cannot express, and what it does instead
    predicts       whether :class:`RatingPredictor` is implemented
    scores         whether it ranks by predicted ratings, or by numbers that only serve to rank; by default predicted
                   ratings where it predicts
    ratings_with   ranks by predicted ratings only with these values of parameters
    adapts_with    with these values of parameters it tests whether the training ratings differ, and adapts; its choice
                   is one of its notes, under the name of the parameter
    deterministic  whether a seed gives bit-identical scores, with the number of threads that the plug-in uses
    only_with      is deterministic only with these values of parameters, such as a number of threads
    uses_history   whether it reads the history of queries; without it, workers need not store the training rows
    defines        whether its parameters are the decisions of the algorithm: other implementations are then compared
                   with its settings (:mod:`repro.definitions`)
    definitions    ``definitions(settings, train)`` yields the scores, users by items with NaN where there is none, of
                   many settings on a small training set, and shares intermediate results between them; without it,
                   each setting is fitted by itself
    order_free     with these values of parameters, scores that depend on the order of users and items, as in ties
                   between neighbours, are not part of the definition; others may give any number there
    stages         the same for all combinations of the parameters, of which there may be too many to list
    """

    name: str
    summary: str
    make: Callable[..., Recommender]
    parameters: tuple[Parameter, ...] = ()
    own: str = ""
    mapping: Mapping[str, str] = field(default_factory=dict)
    unmapped: Mapping[str, str] = field(default_factory=dict)
    predicts: bool = False
    deterministic: bool = True
    only_with: Mapping[str, ParameterValue] = field(default_factory=dict)
    cite: str = ""
    scores: ScoreKind | None = None
    ratings_with: Mapping[str, tuple[ParameterValue, ...]] = field(default_factory=dict)
    adapts_with: Mapping[str, ParameterValue] = field(default_factory=dict)
    uses_history: bool = False
    defines: bool = False
    definitions: Callable[[Sequence[Mapping[str, ParameterValue]], TrainingData], Iterable[FloatArray]] | None = None
    order_free: Mapping[str, ParameterValue] = field(default_factory=dict)
    stages: StagedDefinitions | None = None

    def kind_of_scores(self, parameters: Mapping[str, ParameterValue]) -> ScoreKind:
        """The kind of its scores with these parameters, which must be complete."""
        kind: ScoreKind = self.scores or ("ratings" if self.predicts else "ranking")
        if kind == "ratings" and any(parameters[name] not in values for name, values in self.ratings_with.items()):
            return "ranking"
        return kind

    def adapts(self, parameters: Mapping[str, ParameterValue]) -> bool:
        """Whether it adapts to whether the training ratings differ."""
        return any(parameters[name] == value for name, value in self.adapts_with.items())

    def is_order_free(self, parameters: Mapping[str, ParameterValue]) -> bool:
        """Whether scores that depend on the order of users and items are not part of the definition."""
        return any(parameters[name] == value for name, value in self.order_free.items())

    def is_deterministic(self, parameters: Mapping[str, ParameterValue]) -> bool:
        """Whether a seed gives bit-identical scores with these parameters, which must be complete."""
        return self.deterministic and all(parameters[name] == value for name, value in self.only_with.items())


@dataclass(frozen=True)
class Environment:
    """The packages that a framework needs.

    imports  modules that it needs; where they can be imported, the framework runs in the caller's process; they are
             imported before an algorithm is made, so that fitting times do not include it
    steps    arguments of ``pip install``, one call after the other, for a separate environment; all versions pinned
    install  the command that installs the framework in the caller's own environment
    frozen   versions of dependencies, as in ``numpy==1.26.4``: constraints for pip, which installs none of them unless
             it is needed
    hashes   by pin, as in ``numpy==1.26.4``, the hashes (``sha256:...``) of its files: pip rejects other files
    """

    imports: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]
    install: str = ""
    frozen: tuple[str, ...] = ()
    hashes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Framework:
    """A framework as a plug-in declares it; ``environment`` is None where the plug-in brings all that it needs."""

    name: str
    version: str
    summary: str
    algorithms: tuple[Algorithm, ...]
    packages: Mapping[str, str] = field(default_factory=dict)
    environment: Environment | None = None


@dataclass(frozen=True)
class Splitter:
    """A framework's own way to hold out rows.

    name        framework/name, such as ``surprise/KFold``: the value of ``split.strategy``
    split       ``split(rows, seed, **parameters)`` gives for each fold the training and the test rows, as positions
                in ``rows``
    parameters  with the defaults of the framework
    own_order   whether the training or the test rows have another order than ``rows`` (as when they are shuffled), or
                the parameter that decides it; otherwise ``data.order = "splitter"`` has no effect and is rejected
    """

    name: str
    summary: str
    split: Callable[..., Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]]
    parameters: tuple[Parameter, ...] = ()
    cite: str = ""
    own_order: bool | When = True


@dataclass(frozen=True)
class Exporter:
    """A finished run in another form: ``export(folder, target)`` reads a run folder and writes to a path.

    suffix  how the file that it writes ends, such as ``.md``; empty where it writes a folder
    takes   settings, such as ``baseline``, that ``export`` accepts as keywords; all of them can be left out
    """

    name: str
    summary: str
    export: Callable[..., None]
    suffix: str = ""
    takes: tuple[str, ...] = ()


class MetricDeclaration(Protocol):
    """The fields that the host checks of a plug-in's metric, a :class:`repro.evaluation.metrics.Metric`."""

    @property
    def name(self) -> str: ...
    @property
    def aliases(self) -> Mapping[str, Mapping[str, str]]: ...
    @property
    def variants(self) -> tuple[Decision, ...]: ...
