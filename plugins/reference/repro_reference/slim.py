"""SLIM: a sparse linear item-item model, solved by coordinate descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from repro.compiling import compiled
from repro.data.interactions import FloatArray, Interactions
from repro.plugin import Algorithm, Choice, Parameter
from repro_reference.checks import above, at_least, one_of
from repro_reference.item_products import compact, gram
from repro_reference.item_weights import ItemWeights
from repro_reference.parallel import in_threads

_NING = "Ning & Karypis (2011), ICDM, doi:10.1109/ICDM.2011.134"
_FRIEDMAN = "Friedman, Hastie & Tibshirani (2010), Journal of Statistical Software 33(1), doi:10.18637/jss.v033.i01"
_ADDED = 1e-300  # to a curvature, which is 0 for an item without training rows where l2 is 0
VALUES = (
    Choice("binary", "1 for each training row", "x = 1", _NING, ("lenskit/slim", "recbole/slim", "recpack/slim")),
    Choice("ratings", "the rating", "x = r", _NING),
)
SCALES = (
    Choice("sum", "a sum over users", "1/2 |x(j) - X w|^2", _NING, ("lenskit/slim",)),
    Choice(
        "mean",
        "a mean over users, as in scikit-learn: with l1 and l2 times the number of users it is the sum",
        "1/(2 n) |x(j) - X w|^2",
        _FRIEDMAN,
        ("recbole/slim",),
    ),
)
SIGNS = (
    Choice("positive", "no weight is negative", "w >= 0", _NING, ("lenskit/slim", "recbole/slim")),
    Choice("any", "of both signs", "w"),
    Choice("dropped", "of both signs; negative ones are set to 0 afterwards", "max(w, 0)"),
)
SIDES = (
    Choice("columns", "a column of W has the weights for an item, as it was fitted", "x(u) W", _NING),
    Choice("rows", "a row of W has the weights for an item: W is transposed", "x(u) W'"),
)


@dataclass(eq=False, kw_only=True)
class SLIM(ItemWeights):
    """score(u, .) = x(u) W, where each column w of W, with w(j) = 0, minimises (Ning & Karypis 2011)::

        1/2 |x(j) - X w|^2 + l2/2 |w|^2 + l1 |w|_1

    X holds a 1 for each training row (``binary``), or its rating; n is the number of users with training rows, over
    whom the squared error is summed, or averaged (``scale``). Weights are changed one after the other, in the order of
    items, until none changes by more than ``tolerance`` times the largest one; of equal minima, it is the one that this
    finds from zeros. Unscored: users or items without training rows.
    """

    l1: float = 1.0
    l2: float = 1.0
    values: str = "binary"
    scale: str = "sum"
    signs: str = "positive"
    side: str = "columns"
    tolerance: float = 1e-9
    epochs: int = 10_000

    def __post_init__(self) -> None:
        at_least(self, l1=0, l2=0)
        above(self, tolerance=0)
        at_least(self, epochs=1)
        one_of(self, values=VALUES, scale=SCALES, signs=SIGNS, side=SIDES)

    def fit(self, train: Interactions, *, seed: int) -> None:
        matrix = self.begin(train, self.values)
        users = max(int(np.count_nonzero(self.known_users_)), 1)
        error = 1.0 / users if self.scale == "mean" else 1.0
        columns = _columns(gram(matrix), (float(self.l1) / error, float(self.l2) / error), self._rules())
        # The columns of W are the rows of its transpose.
        self.weights_ = compact(columns if self.side == "rows" else _sorted(columns.T))

    def _rules(self) -> tuple[bool, bool, float, int]:
        return self.signs == "positive", self.signs == "dropped", float(self.tolerance), int(self.epochs)


def _columns(products: FloatArray, penalties: tuple[float, float], rules: tuple[bool, bool, float, int]) -> csr_array:
    """The columns of W, as rows, from X'X."""

    def compute(part: slice) -> tuple[Any, Any, Any]:
        return _solve(products, penalties, rules, part.start, part.stop)

    counts, codes, values = zip(*in_threads(compute, len(products)), strict=True)
    starts = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    return csr_array((np.concatenate(values), np.concatenate(codes), starts), products.shape)


def _sorted(matrix: Any) -> csr_array:
    rows = csr_array(matrix)
    rows.sort_indices()
    return rows


@compiled()
def _solve(products, penalties, rules, first, last):  # type: ignore[no-untyped-def]
    """The columns ``first`` to ``last``: how many weights each has, their codes and values.

    ``slopes`` are those of the error: X'(x(j) - X w). Between two passes over all weights, only those that are not 0
    are changed until they are still.
    """
    l1, l2 = penalties
    positive, dropped, tolerance, epochs = rules
    size = len(products)
    weights = np.empty(size)
    active = np.empty(size, dtype=np.int64)
    counts = np.zeros(last - first, dtype=np.int64)
    codes = np.empty(1024, dtype=np.int32)
    values = np.empty(1024)
    filled = 0
    for item in range(first, last):
        slopes = products[item].copy()
        weights[:] = 0.0
        every, n_active = True, 0
        for _ in range(epochs):
            change, largest = 0.0, 0.0
            for place in range(size if every else n_active):
                code = place if every else active[place]
                if code == item:
                    continue
                before = weights[code]
                slope = slopes[code] + products[code, code] * before
                shrunk = abs(slope) - l1
                after = 0.0
                if shrunk > 0.0 and (slope > 0.0 or not positive):
                    after = np.sign(slope) * shrunk / (products[code, code] + l2 + _ADDED)
                if after != before:
                    weights[code] = after
                    step = after - before
                    row = products[code]
                    for other in range(size):
                        slopes[other] -= step * row[other]
                    change = max(change, abs(step))
                largest = max(largest, abs(after))
            still = change <= tolerance * largest
            if every and still:
                break
            every = still
            if not every:
                n_active = 0
                for code in range(size):
                    if weights[code] != 0.0:
                        active[n_active] = code
                        n_active += 1
        for code in range(size):
            if weights[code] > 0.0 or (weights[code] < 0.0 and not dropped):
                if filled == len(codes):
                    codes = np.concatenate((codes, np.empty_like(codes)))
                    values = np.concatenate((values, np.empty_like(values)))
                codes[filled] = code
                values[filled] = weights[code]
                filled += 1
                counts[item - first] += 1
    return counts, codes[:filled].copy(), values[:filled].copy()


declaration = Algorithm(
    "slim",
    "sparse linear item-item model, solved by coordinate descent",
    SLIM,
    parameters=(
        Parameter("l1", 1.0, "weight of absolute weights", probe=0.5),
        Parameter("l2", 1.0, "weight of squared weights", probe=0.8),
        Parameter("values", "binary", "the entries of X", choices=VALUES),
        Parameter("scale", "sum", "what the squared error is", choices=SCALES),
        Parameter("signs", "positive", "the signs of weights", choices=SIGNS),
        Parameter("side", "columns", "which side of W has the items that are scored", choices=SIDES),
        Parameter("tolerance", 1e-9, "the largest relative change of a weight in the last pass"),
        Parameter("epochs", 10_000, "most passes over the weights of an item"),
    ),
    cite=_NING,
    defines=True,
)
