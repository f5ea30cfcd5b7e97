"""The base class of user-based and item-based nearest neighbours."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, Interactions
from repro.plugin import Algorithm, Parameter, Queries, Scores
from repro_reference.bias import Baseline, damped_baseline, users_of_entries
from repro_reference.checks import at_least, one_of
from repro_reference.neighbours import Neighbours
from repro_reference.similarity import similarities

SIMILARITIES = ("cosine", "pearson")
NEIGHBOURHOODS = ("rated", "all")
CENTERS = ("none", "mean", "baseline")
AUTO = "auto"
SUMS = "false, because all training ratings are equal, and so would be all means of them"


class NearestNeighbours(ABC):
    """Ratings of neighbours, weighted by similarity. With b(u, i) the center and s the similarity::

        normalised      score(u, i) = b(u, i) + sum of s (r - b) / sum of s
        not normalised  score(u, i) = b(u, i) + sum of s (r - b)

    The sums run over the ``k`` nearest neighbours with a positive similarity. ``neighbourhood`` says which k:
    ``rated``, the nearest of those that have a rating for this user and item, chosen for each pair; or ``all``, the
    nearest of all, chosen once, of which those with a rating take part. A pair without neighbours is unscored.
    Similarities are computed from the original ratings; ``center`` concerns only the sums.

    Sums that are not normalised rank well but are not ratings (Cremonesi, Koren & Turrin 2010), so only normalised
    ones are predictions. If all ratings are equal, so are all normalised means, and they rank nothing. ``normalise =
    "auto"`` therefore ranks by means if the training ratings differ, and by sums if they do not, and always predicts
    means. With ``rated`` all similarities are stored, with ``all`` only those of the k nearest.
    """

    def __init__(
        self,
        *,
        k: int = 20,
        similarity: str = "cosine",
        normalise: bool | str = AUTO,
        center: str = "none",
        damping: float = 0.0,
        shrinkage: float = 0.0,
        min_overlap: int = 1,
        neighbourhood: str = "rated",
    ) -> None:
        at_least("k", k, 1)
        one_of("similarity", similarity, SIMILARITIES)
        one_of("center", center, CENTERS)
        at_least("damping", damping, 0)
        at_least("shrinkage", shrinkage, 0)
        at_least("min_overlap", min_overlap, 1)
        one_of("neighbourhood", neighbourhood, NEIGHBOURHOODS)
        if isinstance(normalise, str):
            one_of("normalise", normalise, (AUTO,))
        self.k = k
        self.similarity = similarity
        self.normalise = normalise
        self.notes: dict[str, str] = {}
        self.center = center
        self.damping = damping
        self.shrinkage = shrinkage
        self.min_overlap = min_overlap
        self.neighbourhood = neighbourhood
        if normalise:  # only then: an algorithm that cannot predict must not have this method
            self.predict = self._predict

    def fit(self, train: Interactions, *, seed: int) -> None:
        ratings = train.matrix()
        differ = bool(len(ratings.data)) and bool(np.ptp(ratings.data))
        self.normalised_ = differ if self.normalise == AUTO else bool(self.normalise)
        self.notes = {} if differ or self.normalise != AUTO else {"normalise": SUMS}
        self.baseline_ = self._baseline(train)
        centred = ratings.data - self.baseline_.pairs(users_of_entries(ratings), ratings.indices)
        rows, self.lists_ = self._sides(ratings, csr_array((centred, ratings.indices, ratings.indptr), ratings.shape))
        similar = similarities(rows, self.similarity, self.shrinkage, self.min_overlap)
        most = int(self.k) if self.neighbourhood == "all" else len(similar)
        self.neighbours_ = Neighbours.nearest(similar, most)

    @abstractmethod
    def score(self, queries: Queries, items: CodeArray) -> Scores: ...

    @abstractmethod
    def _predict(self, queries: Queries, items: CodeArray) -> Scores: ...

    @abstractmethod
    def _sides(self, ratings: csr_array, centred: csr_array) -> tuple[csr_array, csr_array]:
        """The matrix whose rows are compared, and the lists of neighbours with their centred ratings."""

    @abstractmethod
    def _means(self, train: Interactions) -> Baseline:
        """The mean rating of each user or item that is compared, as a baseline."""

    def _baseline(self, train: Interactions) -> Baseline:
        if self.center == "baseline":
            return damped_baseline(train, self.damping, self.damping)
        if self.center == "mean":
            return self._means(train)
        return Baseline(0.0, np.zeros(train.n_users), np.zeros(train.n_items))


PARAMETERS = (
    Parameter("k", 20, "how many neighbours take part"),
    Parameter("similarity", "cosine", "cosine of all ratings, or Pearson's correlation of common ones", SIMILARITIES),
    Parameter(
        "normalise",
        AUTO,
        "divide by the sum of similarities; if not, the score is not a rating; auto: where the training ratings differ",
        (AUTO, True, False),
    ),
    Parameter(
        "center",
        "none",
        "what is subtracted from ratings before, and added after: nothing, the mean of the "
        "user (user-knn) or item (item-knn), or the baseline of the algorithm bias",
        CENTERS,
    ),
    Parameter("damping", 0.0, "damping of both biases of the center 'baseline'"),
    Parameter("shrinkage", 0.0, "similarities are multiplied by n / (n + shrinkage), n common ratings"),
    Parameter("min_overlap", 1, "fewest common ratings for a similarity"),
    Parameter("neighbourhood", "rated", "the k nearest of those with a rating for the pair, or of all", NEIGHBOURHOODS),
)


def declare(name: str, summary: str, make: type[NearestNeighbours], cite: str) -> Algorithm:
    """The declaration of a nearest-neighbour algorithm."""
    return Algorithm(
        name,
        summary,
        make,
        parameters=PARAMETERS,
        unmapped={"min_neighbours": "one neighbour is enough"},
        predicts=True,
        ratings_with={"normalise": (AUTO, True)},
        adapts_with={"normalise": AUTO},
        cite=cite,
    )
