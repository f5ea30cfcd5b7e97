"""A fitted algorithm of Surprise, and the inner ids of codes, which index its arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.errors import PluginError
from repro.plugin import FALLBACK, SCORED, Scores

InnerArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Estimates(Protocol):
    """The estimates of Surprise's ``estimate``, for many users and items at once, by code."""

    def block(self, users: CodeArray, items: CodeArray) -> Scores: ...

    def pairs(self, users: CodeArray, items: CodeArray) -> Scores: ...


class Elementwise(ABC):
    """Estimates of pairs that can be computed for any shapes, and are all scored."""

    @abstractmethod
    def at(self, users: CodeArray, items: CodeArray) -> FloatArray:
        """The estimates of users and items that are broadcast against each other."""

    def block(self, users: CodeArray, items: CodeArray) -> Scores:
        return Scores(self.at(users[:, None], items[None, :]))

    def pairs(self, users: CodeArray, items: CodeArray) -> Scores:
        return Scores(self.at(users, items))


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted algorithm and the rows it was fitted to.

    ``inner_users`` and ``inner_items`` have Surprise's inner id of each code, -1 where there are no training rows.
    """

    algorithm: Any
    train: Interactions
    seed: int
    inner_users: InnerArray
    inner_items: InnerArray

    @classmethod
    def of(cls, algorithm: Any, train: Interactions, seed: int) -> Fitted:
        """An algorithm that was fitted to these rows, with codes as raw ids."""
        of = algorithm.trainset
        users, items = (of.to_raw_uid, of.n_users, train.n_users), (of.to_raw_iid, of.n_items, train.n_items)
        return cls(algorithm, train, seed, _inner(*users), _inner(*items))

    @property
    def mean(self) -> float:
        """The mean of all training ratings: Surprise's estimate for an impossible prediction."""
        return float(self.algorithm.trainset.global_mean)

    def by_user(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values by user code, from values by inner id; zeros for unknown users."""
        return _by_code(values, self.inner_users)

    def by_item(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values by item code, from values by inner id; zeros for unknown items."""
        return _by_code(values, self.inner_items)


def fit(algorithm: Any, train: Interactions, seed: int) -> Fitted:
    """Fit an algorithm to the rows in their order; codes are Surprise's raw ids."""
    if not len(train):
        raise PluginError("Surprise cannot be fitted to no rows; give training data with at least one rating")
    algorithm.fit(dataset_of(train).build_full_trainset())
    return Fitted.of(algorithm, train, seed)


def dataset_of(rows: Interactions) -> Any:
    """The rows as Surprise's data set; codes are raw ids, and the rating scale is that of the rows."""
    import pandas as pd
    from surprise import Dataset, Reader

    frame = pd.DataFrame({"user": rows.users, "item": rows.items, "rating": rows.ratings})
    reader = Reader(rating_scale=(float(rows.ratings.min()), float(rows.ratings.max())))
    return Dataset.load_from_df(frame, reader)


def scores_or_mean(possible: Mask, values: FloatArray, mean: float) -> Scores:
    """``values`` where a prediction was possible; elsewhere the mean of all ratings, as a fallback."""
    possible = np.broadcast_to(possible, values.shape)
    if possible.all():
        return Scores(values)
    return Scores(np.where(possible, values, mean), np.where(possible, SCORED, FALLBACK).astype(np.uint8))


def _inner(to_raw: Callable[[int], int], known: int, codes: int) -> InnerArray:
    inner = np.full(codes, -1, dtype=np.int64)
    inner[[to_raw(n) for n in range(known)]] = np.arange(known)
    return inner


def _by_code(values: npt.NDArray[Any], inner: InnerArray) -> npt.NDArray[Any]:
    placed = np.zeros((len(inner), *values.shape[1:]), dtype=values.dtype)
    placed[inner >= 0] = values[inner[inner >= 0]]
    return placed
