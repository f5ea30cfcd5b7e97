"""The two sides of the border: what a framework gives, and what the core may rely on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray
from repro.plugin.api.queries import Queries
from repro.plugin.api.scores import ScoreKind, Scores
from repro.plugin.api.training import TrainingData
from repro.protocol.decision import Decision, When

ParameterValue = str | int | float | bool


@runtime_checkable
class Recommender(Protocol):
    """A fitted or fittable algorithm.

    It may have two more members. ``notes``, a mapping of text to text, says how it computed its scores; it is read
    after them, and goes into the journal and the report. ``on_fold(name)`` is called before ``fit`` with the name of
    the fold, for algorithms whose scores are in a file for each fold.
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
class Parameter:
    """A parameter of an algorithm or a splitter: its name (in an algorithm the canonical one), default and meaning.

    ``when`` are the values of other parameters of a splitter with which alone it has an effect: a protocol that states
    it with others is refused.
    """

    name: str
    default: ParameterValue
    meaning: str
    options: tuple[ParameterValue, ...] = ()
    when: tuple[When, ...] = ()


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of a framework, as data, and how to make one.

    name           a canonical name (:mod:`repro.plugin.api.canonical`), the same in every framework, or the
                   framework's own
    make           takes the parameters as keywords
    parameters     of a canonical algorithm: those canonical ones that the framework can express, with the
                   framework's defaults, and further ones of its own
    own            the class or function of the framework that does the work
    mapping        of a canonical algorithm: each canonical parameter in the framework's own words
    unmapped       canonical parameters that the framework cannot express, and what it does instead
    predicts       whether :class:`RatingPredictor` is implemented
    scores         what it ranks by: predicted ratings, or numbers that only serve to rank; by default predicted
                   ratings where it predicts
    ratings_with   the values of parameters with which alone it ranks by predicted ratings
    adapts_with    the values of parameters with which it looks itself at whether the training ratings differ; what it
                   then chooses is one of its notes, under the name of the parameter
    deterministic  whether a seed gives bit-identical scores, with the number of threads that the plug-in uses
    only_with      the values of parameters, such as a number of threads, with which alone it is deterministic
    uses_history   whether it reads the history of queries; others are not given it, so that a worker need not keep the
                   training rows
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

    def kind_of_scores(self, parameters: Mapping[str, ParameterValue]) -> ScoreKind:
        """What it ranks by with these parameters, all of them."""
        kind: ScoreKind = self.scores or ("ratings" if self.predicts else "ranking")
        if kind == "ratings" and any(parameters[name] not in values for name, values in self.ratings_with.items()):
            return "ranking"
        return kind

    def adapts(self, parameters: Mapping[str, ParameterValue]) -> bool:
        """Whether it looks itself at whether the training ratings differ."""
        return any(parameters[name] == value for name, value in self.adapts_with.items())

    def is_deterministic(self, parameters: Mapping[str, ParameterValue]) -> bool:
        """Whether a seed gives bit-identical scores with these parameters, all of them."""
        return self.deterministic and all(parameters[name] == value for name, value in self.only_with.items())


@dataclass(frozen=True)
class Environment:
    """What a framework needs around it.

    imports  modules that must be there; where they are, the framework runs in the caller's process; they are imported
             before an algorithm is made, so that this is not counted as fitting
    steps    arguments of ``pip install``, one call after the other, that make an environment of its own; all
             versions pinned
    install  what to do to have the framework in the caller's own environment
    frozen   versions, as in ``numpy==1.26.4``, of what comes along: none is installed for itself, and each that is
             installed has that version
    hashes   by pin, as in ``numpy==1.26.4``, the hashes (``sha256:...``) of its files: nothing else is installed for it
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
    own_order   whether the training or the test rows come in another order than that of ``rows`` (as when they are
                shuffled), or the parameter that decides it; else ``data.order = "splitter"`` has no effect and is
                refused
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
    """What the core checks of a metric that a plug-in declares: a :class:`repro.evaluation.metrics.Metric`."""

    @property
    def name(self) -> str: ...
    @property
    def aliases(self) -> Mapping[str, Mapping[str, str]]: ...
    @property
    def variants(self) -> tuple[Decision, ...]: ...
