"""Base classes of recommenders: LensKit's numbers of codes, and one row of scores for each user."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, Interactions
from repro.errors import PluginError
from repro.plugin import Queries, Scores
from repro_lenskit.training import dataset_of, train_component

NumberArray = npt.NDArray[np.int32]


class Trained(ABC):
    """A LensKit component that is trained, and scored with its arrays. LensKit's scores have single precision.

    ``explicit`` says that it learns from ratings, and that its scores are ratings.
    """

    needs_times = False

    def __init__(self, component: Any, *, explicit: bool = False) -> None:
        self.component = component
        self.needs_ratings = explicit or getattr(component.config, "use_ratings", False)

    def fit(self, train: Interactions, *, seed: int) -> None:
        name = type(self.component).__name__
        if self.needs_ratings and not train.explicit:
            raise PluginError(f"{name} learns from ratings, and the training rows have none")
        if self.needs_times and train.timestamps is None:
            raise PluginError(f"{name} learns from timestamps, and the training rows have none")
        data = dataset_of(train, times=self.needs_times)
        self.users_ = _numbers(data.users, train.n_users)
        self.items_ = _numbers(data.items, train.n_items)
        train_component(self.component, data, seed)
        self._learn(data)

    @abstractmethod
    def _learn(self, data: Any) -> None:
        """Read the arrays that scores are computed from off the trained component."""

    @abstractmethod
    def score(self, queries: Queries, items: CodeArray) -> Scores: ...


class Personal(Trained):
    """Scores of one user at a time.

    They are NaN where LensKit has none: unknown users and items, and pairs without neighbours. A row is always
    computed in the same way, so that a score does not depend on the other users of a block. The query of a user
    contains the user's training rows, as in LensKit's pipelines.
    """

    def __init__(self, component: Any, *, explicit: bool = False) -> None:
        super().__init__(component, explicit=explicit)
        if explicit:  # only then: an algorithm that cannot predict must not have this method
            self.predict = self._predict

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        numbers = self.items_[items]
        known = numbers >= 0
        values = np.full((len(users), len(items)), np.nan)
        for row, user in zip(values, self.users_[users].tolist(), strict=True):
            if user >= 0:
                row[known] = self._row(user, numbers[known])
        return Scores.from_nan(values)

    def _predict(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        user_numbers, numbers = self.users_[users], self.items_[items]
        values = np.full(len(users), np.nan)
        pairs = np.flatnonzero((user_numbers >= 0) & (numbers >= 0))
        pairs = pairs[np.argsort(user_numbers[pairs], kind="stable")]
        starts = np.flatnonzero(np.diff(user_numbers[pairs], prepend=-1))
        for group in np.split(pairs, starts[1:]) if len(pairs) else ():
            values[group] = self._row(int(user_numbers[group[0]]), numbers[group])
        return Scores.from_nan(values)

    @abstractmethod
    def _row(self, user: int, items: NumberArray) -> npt.NDArray[np.float32]:
        """The scores of a known user for known items, by LensKit's numbers."""


def _numbers(vocabulary: Any, size: int) -> NumberArray:
    """LensKit's number of each code; -1 where the code has no training rows."""
    numbers: NumberArray = vocabulary.numbers(np.arange(size), missing="negative")
    return numbers
