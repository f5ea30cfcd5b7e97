"""The base class of user-based and item-based nearest neighbours."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, Parameter, Queries, Scores
from repro_reference.bias import Baseline, damped_baseline, users_of_entries
from repro_reference.checks import at_least, one_of
from repro_reference.neighbours import Sums
from repro_reference.similarity import KINDS, OVER, SHRINK, Similarity
from repro_reference.weighting import INPUTS, weighted

NEIGHBOURHOODS = ("rated", "all", "neighbour")
CENTERS = ("none", "mean", "z-score", "baseline")
CONTRIBUTIONS = ("ratings", "ones")
DIVISORS = ("sum", "absolute")
AUTO = "auto"
SUMS = "false, because all training ratings are equal, and so would be all means of them"


class NearestNeighbours(ABC):
    """Ratings of neighbours, weighted by similarity. With b(u, i) the center and s the similarity::

        normalised      score(u, i) = b(u, i) + sum of s (r - b) / sum of s
        not normalised  score(u, i) = b(u, i) + sum of s (r - b)

    The sums run over the ``k`` nearest neighbours with a positive similarity (with ``negatives``, also a negative one).
    ``neighbourhood`` says which k: ``rated``, the nearest of those that have a rating for this user and item, chosen
    for each pair; ``all``, the nearest of all, chosen once, of which those with a rating take part; or ``neighbour``,
    where each neighbour takes part for the k that are nearest to it. A pair with fewer than ``min_neighbours`` is
    unscored.

    Similarities (:mod:`repro_reference.similarity`) are computed from ``input`` (:mod:`repro_reference.weighting`);
    ``center`` concerns only the sums. With ``z-score``, differences from the mean are also divided by the standard
    deviation of the neighbour's ratings, and multiplied by that of the target's. ``contributions = "ones"`` adds up
    similarities alone, whatever the ratings. ``divisor`` is the sum of similarities, or of their absolute values. With
    ``shares``, the similarities of each target are divided by their sum before the others take part.

    Sums that are not normalised rank well but are not ratings (Cremonesi, Koren & Turrin 2010), so only normalised
    ones are predictions. If all ratings are equal, so are all normalised means, and they rank nothing. ``normalise =
    "auto"`` therefore ranks by means if the training ratings differ, and by sums if they do not, and always predicts
    means. With ``rated`` all similarities are stored, otherwise only those of the k nearest.
    """

    by_items = False

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
        min_neighbours: int = 1,
        neighbourhood: str = "rated",
        input: str = "ratings",
        over: str = "all",
        alpha: float = 0.5,
        beta: float = 0.5,
        shrink: str = "product",
        negatives: bool = False,
        itself: bool = False,
        contributions: str = "ratings",
        divisor: str = "sum",
        shares: bool = False,
    ) -> None:
        at_least("k", k, 1)
        one_of("center", center, CENTERS)
        at_least("damping", damping, 0)
        at_least("min_neighbours", min_neighbours, 1)
        one_of("neighbourhood", neighbourhood, NEIGHBOURHOODS)
        one_of("input", input, INPUTS)
        one_of("contributions", contributions, CONTRIBUTIONS)
        one_of("divisor", divisor, DIVISORS)
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
        self.min_neighbours = min_neighbours
        self.neighbourhood = neighbourhood
        self.input = input
        self.over = over
        self.alpha = alpha
        self.beta = beta
        self.shrink = shrink
        self.negatives = negatives
        self.itself = itself
        self.contributions = contributions
        self.divisor = divisor
        self.shares = shares
        self._definition = Similarity(
            similarity, over, alpha, beta, shrink, shrinkage, int(min_overlap), bool(negatives), bool(itself)
        )
        if normalise and contributions == "ratings":
            # Only then: an algorithm that cannot predict must not have this method.
            self.predict = self._predict

    def fit(self, train: Interactions, *, seed: int) -> None:
        ratings = train.matrix()
        differ = bool(len(ratings.data)) and bool(np.ptp(ratings.data))
        normalised = differ if self.normalise == AUTO else bool(self.normalise)
        self.notes = {} if differ or self.normalise != AUTO else {"normalise": SUMS}
        most = int(self.k) if self.neighbourhood == "rated" else 0
        self.sums_ = Sums(most, int(self.min_neighbours), self.divisor if normalised else "no")
        self.means_ = Sums(most, int(self.min_neighbours), self.divisor)
        self.baseline_ = self._baseline(train)
        self.deviations_ = self._deviations(train)
        self.lists_ = self._by_list(self._contributions(ratings))
        rows = weighted(train, self.input, self.by_items)
        compared = csr_array(rows.T) if self.by_items else rows
        self.neighbours_ = self._definition.nearest(compared, int(self.k) if self.neighbourhood == "all" else 0)
        if self.neighbourhood == "neighbour":
            self.neighbours_ = self.neighbours_.nearest_by_neighbour(int(self.k))
        if self.shares:
            self.neighbours_ = self.neighbours_.shares()

    @abstractmethod
    def score(self, queries: Queries, items: CodeArray) -> Scores: ...

    @abstractmethod
    def _predict(self, queries: Queries, items: CodeArray) -> Scores: ...

    @abstractmethod
    def _by_list(self, contributions: csr_array) -> csr_array:
        """The contributions, users by items, as lists of neighbours."""

    @abstractmethod
    def _means(self, train: Interactions) -> Baseline:
        """The mean rating of each user or item that is compared, as a baseline."""

    def _baseline(self, train: Interactions) -> Baseline:
        if self.center == "baseline":
            return damped_baseline(train, self.damping, self.damping)
        if self.center in ("mean", "z-score"):
            return self._means(train)
        return Baseline(0.0, np.zeros(train.n_users), np.zeros(train.n_items))

    def _deviations(self, train: Interactions) -> FloatArray:
        """The divisor of differences for each user or item that is compared: 1, but for z-scores."""
        ratings = train.matrix()
        rows, size = self._rows_of_entries(ratings), ratings.shape[1] if self.by_items else ratings.shape[0]
        if self.center != "z-score":
            return np.ones(size)
        differences = ratings.data - self.baseline_.pairs(users_of_entries(ratings), ratings.indices)
        counts = np.maximum(np.bincount(rows, minlength=size), 1)
        deviations: FloatArray = np.sqrt(np.bincount(rows, weights=differences**2, minlength=size) / counts)
        return np.where(deviations > 0, deviations, 1.0)

    def _contributions(self, ratings: csr_array) -> csr_array:
        if self.contributions == "ones":
            values = np.ones_like(ratings.data)
        else:
            values = ratings.data - self.baseline_.pairs(users_of_entries(ratings), ratings.indices)
            values = values / self.deviations_[self._rows_of_entries(ratings)]
        return csr_array((values, ratings.indices, ratings.indptr), ratings.shape)

    def _rows_of_entries(self, ratings: csr_array) -> CodeArray:
        return ratings.indices if self.by_items else users_of_entries(ratings)


PARAMETERS = (
    Parameter("k", 20, "how many neighbours take part"),
    Parameter("similarity", "cosine", "how alike two rows are", KINDS),
    Parameter(
        "normalise",
        AUTO,
        "divide by the sum of similarities; if not, the score is not a rating; auto: where the training ratings differ",
        (AUTO, True, False),
    ),
    Parameter(
        "center",
        "none",
        "what is subtracted from ratings before, and added after: nothing, the mean of the user (user-knn) or item "
        "(item-knn), that mean in units of standard deviations, or the baseline of the algorithm bias",
        CENTERS,
    ),
    Parameter("damping", 0.0, "damping of both biases of the center 'baseline'"),
    Parameter("shrinkage", 0.0, "how much similarities of few common ratings are lowered; see 'shrink'"),
    Parameter("min_overlap", 1, "fewest common ratings for a similarity"),
    Parameter("min_neighbours", 1, "fewest neighbours for a score"),
    Parameter(
        "neighbourhood",
        "rated",
        "the k nearest of those with a rating for the pair, the k nearest of all, or those to which the target is one "
        "of the k nearest",
        NEIGHBOURHOODS,
    ),
    Parameter("input", "ratings", "what similarities are computed from", INPUTS),
    Parameter("over", "all", "the norms of the cosine: of all entries, or of common ones", OVER),
    Parameter("alpha", 0.5, "of tversky, asymmetric-cosine and conditional"),
    Parameter("beta", 0.5, "of tversky"),
    Parameter("shrink", "product", "how shrinkage lowers a similarity", SHRINK),
    Parameter("negatives", False, "whether negative similarities take part", (False, True)),
    Parameter("itself", False, "whether a user or item is among its own neighbours", (False, True)),
    Parameter("contributions", "ratings", "what neighbours contribute: ratings, or ones", CONTRIBUTIONS),
    Parameter("divisor", "sum", "what normalised sums are divided by: similarities, or absolute ones", DIVISORS),
    Parameter("shares", False, "divide the similarities of each target by their sum", (False, True)),
)


def declare(name: str, summary: str, make: type[NearestNeighbours], cite: str) -> Algorithm:
    """The declaration of a nearest-neighbour algorithm."""
    return Algorithm(
        name,
        summary,
        make,
        parameters=PARAMETERS,
        predicts=True,
        ratings_with={"normalise": (AUTO, True), "contributions": ("ratings",)},
        adapts_with={"normalise": AUTO},
        cite=cite,
    )
