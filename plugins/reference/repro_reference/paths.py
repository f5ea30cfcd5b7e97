"""P3alpha and RP3beta: random walks of three steps from a user, over items and users, to items."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import FloatArray, Interactions
from repro.plugin import Algorithm, Choice, Parameter
from repro.protocol.decision import When
from repro_reference.checks import at_least, one_of
from repro_reference.item_products import compact, item_paths, largest_in_columns
from repro_reference.item_weights import ItemWeights

_COOPER = "Cooper, Lee, Radzik & Siantos (2014), WWW Companion, doi:10.1145/2567948.2579244"
_PAUDEL = "Paudel, Christoffel, Newell & Bernstein (2017), ACM TiiS 7(1), doi:10.1145/2955101"
_DACREMA = "Ferrari Dacrema, Boglio, Cremonesi & Jannach (2021), ACM TOIS 39(2), doi:10.1145/3434185"
VALUES = (
    Choice("binary", "1 for each training row", "x = 1", _COOPER),
    Choice("ratings", "the rating: steps to items are more probable where it is higher", "x = r", _DACREMA),
)
START = (
    Choice("values", "the entries of X", "sum over j of x(u, j) w(j, i)", _DACREMA),
    Choice(
        "probabilities",
        "the probabilities of the first step, to the power alpha",
        "sum over j of P(j | u)^alpha w(j, i)",
        _COOPER,
    ),
)
PRUNED = (
    Choice("rows", "the largest of each item where a walk passes", "k largest of w(j, .)", _PAUDEL),
    Choice("columns", "the largest of each item where it ends", "k largest of w(., i)"),
    Choice(
        "rows-then-columns",
        "the largest of each item where a walk passes; of them, after normalising, of each item where it ends",
        "k largest of w(j, .), then of w(., i)",
        _DACREMA,
    ),
)


@dataclass(eq=False, kw_only=True)
class RP3Beta(ItemWeights):
    """The transition probabilities of three steps, each to the power ``alpha``, over the popularity of the item::

        score(u, i) = sum over j in I(u) of x(u, j) w(j, i)
        w(j, i) = sum over users v of (P(v | j) P(i | v))^alpha / |U(i)|^beta, and 0 for j = i

    P(v | j) = 1 / |U(j)|; P(i | v) = x(v, i) / sum of x(v, .), where x is 1 for each training row (``binary``) or its
    rating. ``first`` replaces x(u, j) by P(j | u)^alpha, which leaves the order of a user's items as it is where
    ratings play no part. Of each w(j, .), the ``k`` largest remain (0: all), or of each w(., i) (``pruned``); with
    ``normalise`` those of each w(j, .) are divided by their sum, before columns are pruned. ``diagonal`` keeps w(i, i).
    beta = 0 is P3alpha (Cooper et al. 2014), and beta above 0 is RP3beta (Paudel et al. 2017). Unscored: users or
    items without training rows.
    """

    alpha: float = 1.0
    beta: float = 0.5
    k: int = 0
    normalise: bool = False
    values: str = "binary"
    first: str = "values"
    pruned: str = "rows"
    diagonal: bool = False

    def __post_init__(self) -> None:
        at_least(self, alpha=0, beta=0, k=0)
        one_of(self, values=VALUES, first=START, pruned=PRUNED)

    def fit(self, train: Interactions, *, seed: int) -> None:
        rows = self.begin(train, self.values)
        counts = train.item_counts().astype(np.float64)
        to_items = _shares(rows, self.alpha)
        holders = csr_array(rows.T)
        to_users = _shares(csr_array((np.ones(len(train)), holders.indices, holders.indptr), holders.shape), self.alpha)
        factors = np.where(counts > 0, np.maximum(counts, 1.0) ** -self.beta, 0.0)
        of_rows = 0 if self.pruned == "columns" else int(self.k)
        weights = item_paths(to_users, to_items, factors, of_rows, self.diagonal)
        if self.normalise:
            weights = _shares(weights, 1.0)
        if self.pruned != "rows" and self.k:
            weights = largest_in_columns(weights, int(self.k))
        if self.first == "probabilities":
            self.rows_ = to_items
        self.weights_ = compact(weights)


@dataclass(eq=False, kw_only=True)
class P3Alpha(RP3Beta):
    """:class:`RP3Beta` with beta = 0."""

    beta: float = field(default=0.0, init=False)


def _shares(matrix: csr_array, power: float) -> csr_array:
    """Each entry over the sum of its row, to a power."""
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    of_entries: FloatArray = np.repeat(sums, np.diff(matrix.indptr))
    return csr_array(((matrix.data / of_entries) ** power, matrix.indices, matrix.indptr), matrix.shape)


_ALPHA = Parameter("alpha", 1.0, "power of the transition probabilities", neutral=1.0, probe=0.6)
_SHARED = (
    Parameter("k", 0, "how many weights of each item remain, the largest; 0: all", neutral=0, probe=4),
    Parameter(
        "normalise",
        False,
        "whether the weights of each item where a walk passes are divided by their sum",
        choices=(
            Choice(False, "they are not", "w(j, i)", _COOPER),
            Choice(True, "they are", "w(j, i) / sum of w(j, .)", _DACREMA),
        ),
    ),
    Parameter("values", "binary", "the entries of X", choices=VALUES),
    Parameter("first", "values", "the weights of the user's own items", choices=START),
    Parameter("pruned", "rows", "of which weights the largest remain", when=(When("k", above=0),), choices=PRUNED),
    Parameter(
        "diagonal",
        False,
        "whether a walk may end at the item where it passes, which affects scores of training pairs and the largest",
        choices=(Choice(False, "no", "w(i, i) = 0", _DACREMA), Choice(True, "yes", "w(i, i)", _COOPER)),
    ),
)

declarations = (
    Algorithm(
        "p3alpha",
        "random walk of three steps, probabilities to a power",
        P3Alpha,
        parameters=(_ALPHA, *_SHARED),
        cite=_COOPER,
        defines=True,
    ),
    Algorithm(
        "rp3beta",
        "random walk of three steps, divided by a power of the item's popularity",
        RP3Beta,
        parameters=(
            _ALPHA,
            Parameter("beta", 0.5, "power of the popularity that scores are divided by", neutral=0.0, probe=0.4),
            *_SHARED,
        ),
        cite=_PAUDEL,
        defines=True,
    ),
)
