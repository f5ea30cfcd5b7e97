"""The two sides of the border: what a framework gives, and what the core may rely on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray, Interactions

SCORED, UNSCORED, FALLBACK = 0, 1, 2
ParameterValue = str | int | float | bool


@dataclass(frozen=True)
class Scores:
    """Scores as the algorithm gave them, and what each of them is.

    ``state`` says of each cell whether it is SCORED, UNSCORED (the algorithm has nothing to say; the value is
    ignored) or a FALLBACK that the framework made up. None means that all are scored, but that a NaN always
    counts as unscored. What to do with the three is a decision of the protocol, never of a plug-in.
    """

    values: FloatArray
    state: npt.NDArray[np.uint8] | None = None


@runtime_checkable
class Recommender(Protocol):
    """A fitted or fittable algorithm."""

    def fit(self, train: Interactions, *, seed: int) -> None:
        """Learn from the training rows. Same rows, same seed: same scores, where declared deterministic."""

    def score(self, users: CodeArray, items: CodeArray) -> Scores:
        """A dense block, users by items, higher is better; never a top-k list."""


@runtime_checkable
class RatingPredictor(Recommender, Protocol):
    """An algorithm that also predicts on the rating scale."""

    def predict(self, users: CodeArray, items: CodeArray) -> Scores:
        """One prediction for each pair ``users[n], items[n]``."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of an algorithm: its canonical name, default and meaning."""

    name: str
    default: ParameterValue
    meaning: str
    options: tuple[ParameterValue, ...] = ()


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of a framework, as data, and how to make one.

    ``make`` takes the parameters as keywords. ``predicts`` says that :class:`RatingPredictor` is implemented;
    ``deterministic`` that a seed gives bit-identical scores.
    """

    name: str
    summary: str
    make: Callable[..., Recommender]
    parameters: tuple[Parameter, ...] = ()
    predicts: bool = False
    deterministic: bool = True
    cite: str = ""


@dataclass(frozen=True)
class Framework:
    """A framework as a plug-in declares it."""

    name: str
    version: str
    summary: str
    algorithms: tuple[Algorithm, ...]
    packages: Mapping[str, str] = field(default_factory=dict)
