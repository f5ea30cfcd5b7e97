"""Bias: mean rating plus deviations of item and user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array, vstack
from scipy.sparse.linalg import lsmr

from repro.compiling import compiled
from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, Choice, Parameter, Queries, Scores
from repro.protocol.decision import When
from repro_reference.checks import above, at_least, one_of

ORDERS = ("items-first", "users-first", "together", "row-by-row")
BIASES = ("both", "items", "users")
MEANS = ("rows", "user-means", "item-means", "none")
UNKNOWN = ("unscored", "overall")


@dataclass(frozen=True)
class Baseline:
    """b(u, i) = overall + items[i] + users[u]."""

    overall: float
    users: FloatArray
    items: FloatArray

    def block(self, users: CodeArray, items: CodeArray) -> FloatArray:
        return (self.overall + self.items[items])[None, :] + self.users[users][:, None]

    def pairs(self, users: CodeArray, items: CodeArray) -> FloatArray:
        return (self.overall + self.items[items]) + self.users[users]


@dataclass(kw_only=True)
class Definition:
    """A definition of biases; see :class:`Bias`."""

    user_damping: float = 0.0
    item_damping: float = 0.0
    order: str = "items-first"
    epochs: int = 1
    biases: str = "both"
    mean: str = "rows"
    learning_rate: float = 0.005

    def baseline(self, ratings: csr_array) -> Baseline:
        """The baseline of users by items; a user or item without entries has a bias of 0."""
        overall = _overall(ratings, self.mean)
        users, items = users_of_entries(ratings), ratings.indices
        n_users, n_items = ratings.shape
        residuals = ratings.data - overall
        of_users, of_items = np.zeros(n_users), np.zeros(n_items)
        if self.biases == "both" and self.order == "together":
            return Baseline(overall, *_together(ratings, residuals, self.user_damping, self.item_damping))
        if self.biases == "both" and self.order == "row-by-row":
            rates = float(self.learning_rate), float(self.user_damping), float(self.item_damping)
            rows = users.astype(np.int64), items.astype(np.int64), residuals
            _descend(rows, int(self.epochs), rates, of_users, of_items)
            return Baseline(overall, of_users, of_items)
        for _ in range(int(self.epochs) if self.biases == "both" else 1):
            for side in ("items", "users") if self.order != "users-first" else ("users", "items"):
                if self.biases not in ("both", side):
                    continue
                if side == "items":
                    of_items = damped_means(items, residuals - of_users[users], n_items, self.item_damping)
                else:
                    of_users = damped_means(users, residuals - of_items[items], n_users, self.user_damping)
        return Baseline(overall, of_users, of_items)


def _overall(ratings: csr_array, mean: str) -> float:
    if mean == "none":
        return 0.0
    if mean == "rows":
        return float(ratings.data.sum()) / max(ratings.nnz, 1)
    codes = users_of_entries(ratings) if mean == "user-means" else ratings.indices
    present = np.bincount(codes) > 0
    means = damped_means(codes, ratings.data, len(present), 0.0)[present]
    return float(means.mean()) if len(means) else 0.0


def _together(
    ratings: csr_array, residuals: FloatArray, user_damping: float, item_damping: float
) -> tuple[FloatArray, FloatArray]:
    """The biases that minimise the squared error plus their damped squares; of several solutions, the smallest."""
    n_users, n_items = ratings.shape
    rows = np.arange(ratings.nnz)
    codes = np.stack([users_of_entries(ratings), n_users + ratings.indices.astype(np.int64)], axis=1).ravel()
    design = csr_array((np.ones(2 * len(rows)), codes, 2 * np.arange(len(rows) + 1)), (len(rows), n_users + n_items))
    roots = np.sqrt(np.concatenate([np.full(n_users, user_damping), np.full(n_items, item_damping)]))
    damped = vstack([design, diags_array(roots)], format="csr")
    targets = np.concatenate([residuals, np.zeros(n_users + n_items)])
    solution = lsmr(damped, targets, atol=1e-15, btol=1e-15, conlim=0.0, maxiter=20 * (n_users + n_items))[0]
    return solution[:n_users], solution[n_users:]


@compiled()
def _descend(rows, epochs, rates, of_users, of_items):  # type: ignore[no-untyped-def]
    """Steps against the gradient of one row after the other, by user and item, in each epoch the same."""
    users, items, residuals = rows
    rate, of_user, of_item = rates
    for _ in range(epochs):
        for row in range(len(residuals)):
            user, item = users[row], items[row]
            error = residuals[row] - (of_users[user] + of_items[item])
            of_users[user] += rate * (error - of_user * of_users[user])
            of_items[item] += rate * (error - of_item * of_items[item])


def users_of_entries(matrix: csr_array) -> CodeArray:
    """The user of each entry of a matrix by users, in the order of its data."""
    return np.repeat(np.arange(matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))


def damped_means(codes: CodeArray, values: FloatArray, size: int, damping: float) -> FloatArray:
    """Sum of the values of each code over (their number + damping); 0 where there are none."""
    sums = np.bincount(codes, weights=values, minlength=size)
    counts = np.bincount(codes, minlength=size)
    return np.divide(sums, counts + damping, out=np.zeros(size), where=counts > 0)


@dataclass(eq=False, kw_only=True)
class Bias(Definition):
    """Overall mean, item bias and user bias (Koren 2010)::

        b(u, i) = m + b(i) + b(u)
        b(i) = sum over u in U(i) of (r(u, i) - m)        / (|U(i)| + item_damping)
        b(u) = sum over i in I(u) of (r(u, i) - m - b(i)) / (|I(u)| + user_damping)

    ``order`` says which bias comes first; the second one is of what the first leaves. With more ``epochs``, each is
    computed again from what the other leaves. With ``together``, they minimise the squared error plus the sum of
    user_damping b(u)^2 and item_damping b(i)^2, which is where more and more epochs lead. With ``row-by-row``, both
    start at 0, and each row in turn, by user and item, moves them against its gradient: with e the error before::

        b(u) += learning_rate (e - user_damping b(u))        b(i) += learning_rate (e - item_damping b(i))

    ``biases`` leaves one of them out. m is the mean of all rows, or of the means of users or items, or 0.

    An item without training rows is unscored, or has a bias of 0 (``unknown``). A user without training rows has
    b(u) = 0, the damped mean of no ratings, and is scored.
    """

    unknown: str = "unscored"

    def __post_init__(self) -> None:
        at_least(self, user_damping=0, item_damping=0, epochs=1)
        above(self, learning_rate=0)
        one_of(self, order=ORDERS, biases=BIASES, mean=MEANS, unknown=UNKNOWN)

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.baseline_ = self.baseline(train.matrix())
        self.known_items_ = (train.item_counts() > 0) | (self.unknown == "overall")

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return Scores.where(self.known_items_[items][None, :], self.baseline_.block(queries.users, items))

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        return Scores.where(self.known_items_[items], self.baseline_.pairs(queries.users, items))


_KOREN = "Koren (2010), ACM TKDD 4(1), doi:10.1145/1644873.1644874"
_EKSTRAND = "Ekstrand, Riedl & Konstan (2011), Foundations and Trends in HCI 4(2), doi:10.1561/1100000009"
_BOTH = When("biases", ("both",))


def _damping(side: str, probe: float) -> Parameter:
    meaning = f"number of imagined ratings without bias added to those of each {side}"
    when = (When("biases", ("both", f"{side}s")),)
    return Parameter(f"{side}_damping", 0.0, meaning, when=when, neutral=0.0, probe=probe)


_PARAMETERS = (
    _damping("user", probe=2.5),
    _damping("item", probe=1.5),
    Parameter(
        "order",
        "items-first",
        "which bias is computed first",
        when=(_BOTH,),
        choices=(
            Choice(
                "items-first",
                "item biases of ratings less the mean, user biases of what is left",
                "b(u) = sum (r - m - b(i)) / (|I(u)| + damping)",
                _KOREN,
                ("lenskit/bias", "surprise/bias"),
            ),
            Choice(
                "users-first",
                "user biases of ratings less the mean, item biases of what is left",
                "b(i) = sum (r - m - b(u)) / (|U(i)| + damping)",
                _EKSTRAND,
            ),
            Choice(
                "together",
                "the biases that minimise the squared error plus the damped squares of both",
                "min sum (r - m - b(i) - b(u))^2 + item_damping sum b(i)^2 + user_damping sum b(u)^2",
                _KOREN,
            ),
            Choice(
                "row-by-row",
                "stochastic gradient descent: each row in turn moves both biases",
                "b(u) += learning_rate (e - user_damping b(u)), b(i) likewise",
                _KOREN,
                ("surprise/BaselineOnly",),
            ),
        ),
    ),
    Parameter(
        "epochs",
        1,
        "how often each bias is computed from what the other leaves; 1: one after the other",
        when=(_BOTH, When("order", ("items-first", "users-first", "row-by-row"))),
        neutral=1,
        probe=3,
    ),
    Parameter(
        "biases",
        "both",
        "who has a bias",
        choices=(
            Choice("both", "users and items", "m + b(i) + b(u)", _KOREN, ("lenskit/bias", "surprise/bias")),
            Choice("items", "items only", "m + b(i)", used_by=("lenskit/bias",)),
            Choice("users", "users only", "m + b(u)", used_by=("lenskit/bias",)),
        ),
    ),
    Parameter(
        "mean",
        "rows",
        "what biases deviate from",
        choices=(
            Choice("rows", "the mean of all ratings", "sum r / |rows|", _KOREN, ("lenskit/bias", "surprise/bias")),
            Choice("user-means", "the mean of the users' means", "mean over u of mean r(u, .)"),
            Choice("item-means", "the mean of the items' means", "mean over i of mean r(., i)"),
            Choice("none", "nothing: the first bias is a damped mean rating", "m = 0"),
        ),
    ),
    Parameter(
        "learning_rate",
        0.005,
        "the step of gradient descent",
        when=(_BOTH, When("order", ("row-by-row",))),
        probe=0.05,
    ),
    Parameter(
        "unknown",
        "unscored",
        "an item without training rows",
        choices=(
            Choice("unscored", "has no score", "none"),
            Choice("overall", "has a bias of 0", "m + b(u)", used_by=("lenskit/bias", "surprise/bias")),
        ),
    ),
)

declaration = Algorithm(
    "bias",
    "overall mean plus damped item and user bias",
    Bias,
    parameters=_PARAMETERS,
    predicts=True,
    cite=_KOREN,
    defines=True,
)
