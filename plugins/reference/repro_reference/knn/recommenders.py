"""Recommenders of nearest neighbours, and scores of many settings at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, ParameterValue, Queries, Scores
from repro_reference.knn.neighbours import Lists
from repro_reference.knn.parameters import parameters
from repro_reference.knn.setting import AUTO, Setting
from repro_reference.knn.staged import staged
from repro_reference.knn.stages import Flags, Stages, filled
from repro_reference.products import is_range

SUMS = "false, because all training ratings are equal, and so would be all means of them"


class NearestNeighbours(Setting, ABC):
    """Ratings of neighbours, weighted by similarity. With b(u, i) the center and s the similarity::

        normalised      score(u, i) = b(u, i) + sum of s (r - b) / sum of s
        not normalised  score(u, i) = b(u, i) + sum of s (r - b)

    The sums run over the ``k`` nearest neighbours with a positive similarity (with ``negatives``, also a negative one).
    ``neighbourhood`` says which k: ``rated``, the nearest of those that have a rating for this user and item, chosen
    for each pair, of all or of the ``pool`` nearest; ``all``, the nearest of all, chosen once, of which those with a
    rating take part; or ``neighbour``, where each neighbour takes part for the k that are nearest to it. A pair with
    fewer than ``min_neighbours`` has no score, or its ``fallback``.

    Similarities (:mod:`repro_reference.knn.similarity`) are computed from ``input``
    (:mod:`repro_reference.knn.weighting`); ``center`` concerns only the sums. With ``z-score``, differences from the
    mean are also divided by the standard deviation of the neighbour's ratings, and multiplied by that of the target's.
    ``contributions = "ones"`` adds up similarities alone, whatever the ratings. ``divisor`` is the sum of similarities,
    that of their absolute values, or the number of neighbours. With ``shares``, the similarities of each target, or of
    each neighbour, are divided by their sum before the others take part.

    Sums that are not normalised rank well but are not ratings (Cremonesi, Koren & Turrin 2010), so only normalised
    ones are predictions. If all ratings are equal, so are all normalised means, and they rank nothing. ``normalise =
    "auto"`` therefore ranks by means if the training ratings differ, and by sums if they do not, and always predicts
    means. With ``rated`` all similarities are stored, otherwise only those of the k nearest.
    """

    by_items = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.notes: dict[str, str] = {}
        if self.normalise and self.contributions == "ratings":
            # Only then: an algorithm that cannot predict must not have this method.
            self.predict = self._predict

    def fit(self, train: Interactions, *, seed: int) -> None:
        stages = Stages(train, self.by_items)
        self.notes = {} if stages.differ or self.normalise != AUTO else {"normalise": SUMS}
        self.sums_ = stages.sums(self, stages.normalised(self))
        self.means_ = stages.sums(self, True)
        self.baseline_ = stages.baseline(self)
        self.deviations_ = stages.deviations(self)
        self.lists_ = stages.contributions(self)
        self.every_list_ = stages.lists(self)
        self.neighbours_ = stages.neighbours(self)
        self.fallback_ = stages.fallback(self)
        self.known_users_, self.known_items_ = stages.known(self)

    @abstractmethod
    def score(self, queries: Queries, items: CodeArray) -> Scores: ...

    @abstractmethod
    def _predict(self, queries: Queries, items: CodeArray) -> Scores: ...

    def _block(self, users: CodeArray, items: CodeArray, values: FloatArray) -> Scores:
        known = self.known_users_[users][:, None] & self.known_items_[items]
        return self._scores(self.baseline_.block(users, items), known, values)

    def _pairs(self, users: CodeArray, items: CodeArray, values: FloatArray) -> Scores:
        known = self.known_users_[users] & self.known_items_[items]
        return self._scores(self.baseline_.pairs(users, items), known, values)

    def _scores(self, base: FloatArray, known: Flags, values: FloatArray) -> Scores:
        values = base + values
        if self.fallback != "unscored":
            values = filled(values, base, known, self.fallback_)
        return Scores.where(~np.isnan(values), values)


class ItemKNN(NearestNeighbours):
    """Neighbours of (u, i) are items similar to i that u rated (Sarwar et al. 2001).

    The center ``mean`` is the mean rating of the item, ``other-mean`` that of the user. ``normalise = false`` with the
    cosine is the NNCosNgbr of Cremonesi, Koren & Turrin (2010), whose shrinkage is 100 and whose center is the
    baseline. For the formulas and parameters see :class:`NearestNeighbours`.
    """

    by_items = True

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        values = self.neighbours_.block(items, Lists(self.lists_[users]), self.sums_).T * self.deviations_[items]
        return self._block(users, items, values)

    def _predict(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        values = self.neighbours_.pairs(items, self.lists_, users, self.means_) * self.deviations_[items]
        return self._pairs(users, items, values)


class UserKNN(NearestNeighbours):
    """Neighbours of (u, i) are users similar to u who rated i (Resnick et al. 1994; Herlocker et al. 1999).

    The center ``mean`` is the mean rating of the user, as in Resnick's formula, ``other-mean`` that of the item. For
    the formulas and parameters see :class:`NearestNeighbours`.
    """

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        lists = self.every_list_ if is_range(items, self.every_list_.width) else Lists(self.lists_[items])
        values = self.neighbours_.block(users, lists, self.sums_)
        return self._block(users, items, values * self.deviations_[users][:, None])

    def _predict(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        values = self.neighbours_.pairs(users, self.lists_, items, self.means_) * self.deviations_[users]
        return self._pairs(users, items, values)


def definitions(
    make: type[NearestNeighbours], settings: Sequence[Mapping[str, ParameterValue]], train: Interactions
) -> Iterator[FloatArray]:
    """The scores of many settings on a small training set, users by items, NaN where there is none; as ``fit`` and
    ``score`` give them, but what settings share is computed once."""
    stages = Stages(train, make.by_items)
    for setting in settings:
        yield stages.block(make(**setting))  # type: ignore[arg-type]


def _declare(name: str, summary: str, make: type[NearestNeighbours], cite: str) -> Algorithm:
    return Algorithm(
        name,
        summary,
        make,
        parameters=parameters(make.by_items),
        predicts=True,
        ratings_with={"normalise": (AUTO, True), "contributions": ("ratings",)},
        adapts_with={"normalise": AUTO},
        cite=cite,
        defines=True,
        definitions=partial(definitions, make),
        order_free={"ties": "any"},
        stages=staged(make, make.by_items),
    )


declarations = (
    _declare(
        "user-knn",
        "ratings of the item by the most similar users; predicts ratings if normalised",
        UserKNN,
        "Herlocker, Konstan, Borchers & Riedl (1999), SIGIR, doi:10.1145/312624.312682",
    ),
    _declare(
        "item-knn",
        "the user's ratings of the most similar items; predicts ratings if normalised",
        ItemKNN,
        "Sarwar, Karypis, Konstan & Riedl (2001), WWW, doi:10.1145/371920.372071",
    ),
)
