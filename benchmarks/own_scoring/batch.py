"""The batch scoring of each framework itself, for `measure.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from repro.data.interactions import Interactions

SEED = 7


@dataclass(frozen=True)
class Batch:
    """``ask()`` lets the framework score all users and items, and ``dense(answer)`` is users by items, NaN for none.

    Where a framework gives an array, ``ask`` makes it one of double precision, as a plug-in must; lists stay lists.
    """

    ask: Callable[[], Any]
    dense: Callable[[Any], np.ndarray] = np.asarray


@dataclass(frozen=True)
class Case:
    """An algorithm of a plug-in with its parameters, and how its users have the framework score (``way``, in words).

    ``own(train, recommender)`` gives the framework's side, with the model of the fitted recommender of the plug-in, or
    with one fitted alike where the plug-in only keeps the arrays.
    """

    algorithm: str
    parameters: dict[str, Any]
    way: str
    own: Callable[[Interactions, Any], Batch]
    tolerance: float = field(default=1e-5)


def cases(way: str, own: Callable[[Interactions, Any], Batch], algorithms: dict[str, dict[str, Any]]) -> list[Case]:
    """A case for each algorithm with its parameters, all scored in the same way."""
    return [Case(name, parameters, way, own) for name, parameters in algorithms.items()]


def placed(shape: tuple[int, int], rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Users by items of scores that are listed."""
    dense = np.full(shape, np.nan)
    dense[rows, columns] = values
    return dense
