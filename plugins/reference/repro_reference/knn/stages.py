"""The steps from ratings to scores, each computed once for the parameters that it depends on."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from operator import attrgetter
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro_reference.bias import Baseline, Definition, damped_means, users_of_entries
from repro_reference.knn.neighbours import Lists, Neighbours, Sums
from repro_reference.knn.setting import AUTO, Setting
from repro_reference.knn.similarity import Rows, Similarity
from repro_reference.knn.weighting import weighted

Step = TypeVar("Step")
Flags = npt.NDArray[np.bool_]

BIASES = ("user_damping", "item_damping", "epochs")
INPUT = ("input", "values", "tf", "idf", "documents", "length", "k1", "b", "positive")
SIMILARITY = (
    *("similarity", "over", "alpha", "beta", "shrink", "shrinkage", "min_overlap"),
    *("similarity_epsilon", "amplify"),
)
_biases = attrgetter(*BIASES)
_input = attrgetter(*INPUT, *BIASES)
_similarity = attrgetter(*SIMILARITY, "negatives", "itself", "min_similarity", "nearest", "ties")
_center = attrgetter("center", *BIASES)
_contributions = attrgetter("contributions", "center", "deviation", *BIASES)


class Stages:
    """Intermediate results of nearest neighbours on one training set; by_items: items are compared, not users."""

    def __init__(self, train: Interactions, by_items: bool) -> None:
        self.by_items = by_items
        self.ratings = train.matrix()
        self.users = users_of_entries(self.ratings)
        self.differ = bool(len(self.ratings.data)) and bool(np.ptp(self.ratings.data))
        self._results: dict[Hashable, Any] = {}

    def neighbours(self, setting: Setting) -> Neighbours:
        most, by_neighbour = _extent(setting)
        key = "neighbours", most, by_neighbour, setting.shares, _input(setting), _similarity(setting)
        return self._once(key, lambda: self._neighbours(setting))

    def baseline(self, setting: Setting) -> Baseline:
        """b(u, i), which the center subtracts from ratings and adds to scores."""
        return self._once(("baseline", _center(setting)), lambda: self._baseline(setting))

    def deviations(self, setting: Setting) -> FloatArray:
        """The divisor of differences for each user or item that is compared: 1, but for z-scores."""
        key = "deviations", setting.center, setting.deviation
        return self._once(key, lambda: self._deviations(setting))

    def contributions(self, setting: Setting) -> csr_array:
        """The summands of ratings, by list of neighbours: a list of items of each user, or of users of each item."""
        return self._once(("contributions", _contributions(setting)), lambda: self._contributions(setting))

    def lists(self, setting: Setting) -> Lists:
        key = "lists", _contributions(setting)
        return self._once(key, lambda: Lists(self.contributions(setting)))

    def sums(self, setting: Setting, normalised: bool) -> Sums:
        k = int(setting.k) if setting.neighbourhood == "rated" else 0
        divide = setting.divisor if normalised else "no"
        return Sums(k, int(setting.min_neighbours), divide, float(setting.divisor_epsilon))

    def normalised(self, setting: Setting) -> bool:
        return self.differ if setting.normalise == AUTO else bool(setting.normalise)

    def fallback(self, setting: Setting) -> float | None:
        """The score where there are too few neighbours; None: the center, NaN: none."""
        match setting.fallback:
            case "zero":
                return 0.0
            case "center" | "center-for-all":
                return None
            case "overall-mean":
                return self._once("mean", lambda: float(self.ratings.data.sum()) / max(self.ratings.nnz, 1))
        return float("nan")

    def known(self, setting: Setting) -> tuple[Flags, Flags]:
        """The users and items that may have the fallback as their score."""
        every = setting.fallback == "center-for-all"
        return self._once(("known", every), lambda: self._known(every))

    def block(self, setting: Setting) -> FloatArray:
        """The scores of all users and items; NaN where there is none."""
        sums = self.sums(setting, self.normalised(setting))
        return self.completed(self.sums_of(self.neighbours(setting), sums, setting), setting)

    def sums_of(self, neighbours: Neighbours, sums: Sums, setting: Setting) -> FloatArray:
        """The sums over these neighbours, of all users and items; NaN where there are too few."""
        targets = self._once("targets", lambda: np.arange(len(neighbours.starts) - 1, dtype=np.int32))
        values = neighbours.block(targets, self.lists(setting), sums)
        return values.T if self.by_items else values

    def completed(self, values: FloatArray, setting: Setting) -> FloatArray:
        """Sums of users and items (or several of them) in units of deviations, with the center and the fallback."""
        deviations = self.deviations(setting)
        base = self._once(("block", _center(setting)), lambda: self._block(setting))
        values = base + values * (deviations if self.by_items else deviations[:, None])
        if setting.fallback == "unscored":
            return values
        users, items = self.known(setting)
        return filled(values, base, users[:, None] & items, self.fallback(setting))

    def _once(self, key: Hashable, compute: Callable[[], Step]) -> Step:
        if key not in self._results:
            self._results[key] = compute()
        return cast(Step, self._results[key])

    def _neighbours(self, setting: Setting) -> Neighbours:
        rows = self._once(("rows", _input(setting)), lambda: self.rows(setting))
        definition = self._once(("similarity", _similarity(setting)), lambda: similarity_of(setting))
        return self.neighbours_of(setting, definition, rows)

    def neighbours_of(self, setting: Setting, definition: Similarity, rows: Rows) -> Neighbours:
        """The neighbours of each target by a similarity of rows."""
        most, by_neighbour = _extent(setting)
        nearest = definition.nearest(rows, most, of_columns=by_neighbour)
        return nearest if setting.shares == "no" else nearest.shares(setting.shares)

    def rows(self, setting: Setting) -> Rows:
        """The rows that are compared."""
        baseline = self._biases(setting) if setting.input == "residuals" else None
        rows = weighted(self.ratings, setting, baseline, self.by_items)
        return Rows(csr_array(rows.T) if self.by_items else rows)

    def _biases(self, setting: Setting) -> Baseline:
        of = Definition(
            user_damping=setting.user_damping, item_damping=setting.item_damping, epochs=int(setting.epochs)
        )
        return self._once(("biases", _biases(setting)), lambda: of.baseline(self.ratings))

    def _baseline(self, setting: Setting) -> Baseline:
        n_users, n_items = self.ratings.shape
        overall, users, items = 0.0, np.zeros(n_users), np.zeros(n_items)
        data, center = self.ratings.data, setting.center
        if center == "baseline":
            return self._biases(setting)
        if center == "overall-mean":
            overall = float(data.sum()) / max(len(data), 1)
        elif center != "none" and self.by_items == (center != "other-mean"):
            items = damped_means(self.ratings.indices, data, n_items, 0.0)
        elif center != "none":
            users = damped_means(self.users, data, n_users, 0.0)
        return Baseline(overall, users, items)

    def _block(self, setting: Setting) -> FloatArray:
        users, items = (np.arange(size) for size in self.ratings.shape)
        return self.baseline(setting).block(users, items)

    def _deviations(self, setting: Setting) -> FloatArray:
        codes, size = self.compared()
        if setting.center != "z-score":
            return np.ones(size)
        differences = self.ratings.data - self.baseline(setting).pairs(self.users, self.ratings.indices)
        counts = np.maximum(np.bincount(codes, minlength=size), 1)
        deviations: FloatArray = np.sqrt(np.bincount(codes, weights=differences**2, minlength=size) / counts)
        instead = float(np.std(self.ratings.data)) if setting.deviation == "overall" and self.differ else 1.0
        return np.where(deviations > 0, deviations, instead)

    def _contributions(self, setting: Setting) -> csr_array:
        ratings = self.ratings
        if setting.contributions == "ones":
            values = np.ones_like(ratings.data)
        elif setting.center == "none":
            values = ratings.data
        else:
            values = ratings.data - self.baseline(setting).pairs(self.users, ratings.indices)
            values = values / self.deviations(setting)[self.compared()[0]]
        contributions = csr_array((values, ratings.indices, ratings.indptr), ratings.shape)
        return contributions if self.by_items else csr_array(contributions.T)

    def compared(self) -> tuple[CodeArray, int]:
        """The compared row of each rating, and their number."""
        return (self.ratings.indices, self.ratings.shape[1]) if self.by_items else (self.users, self.ratings.shape[0])

    def _known(self, every: bool) -> tuple[Flags, Flags]:
        item_counts = np.bincount(self.ratings.indices, minlength=self.ratings.shape[1])
        return every | (np.diff(self.ratings.indptr) > 0), every | (item_counts > 0)


def _extent(setting: Setting) -> tuple[int, bool]:
    """The number of the nearest that are stored (0: all), and whether of each neighbour instead of each target."""
    if setting.neighbourhood != "rated":
        return int(setting.k), setting.neighbourhood == "neighbour"
    return int(setting.pool), setting.pool > 0 and setting.pool_of == "neighbour"


def similarity_of(setting: Setting) -> Similarity:
    """The definition of similarity of a setting."""
    return Similarity(
        setting.similarity,
        setting.over,
        setting.alpha,
        setting.beta,
        setting.shrink,
        setting.shrinkage,
        int(setting.min_overlap),
        bool(setting.negatives),
        setting.itself,
        setting.similarity_epsilon,
        setting.amplify,
        setting.min_similarity,
        setting.nearest == "absolute",
        setting.ties == "higher",
        setting.ties == "any",
    )


def filled(values: FloatArray, base: FloatArray, known: Flags, instead: float | None) -> FloatArray:
    """Scores, and where there is none for a known user and item another number: ``base`` by default."""
    return np.where(np.isnan(values) & known, base if instead is None else instead, values)
