"""Factor models with dense matrices and plain loops, whose objective and faults are known.

They share nothing with the engine: an objective is a matrix of weights, one of targets, and a penalty for each row.
"""

from __future__ import annotations

import numpy as np

from repro.definitions.implementation import Implementation
from repro.definitions.optimality.targets import Target
from repro.plugin import CheckedRecommender, Scores


def implicit_matrices(setting, numbers, table):
    """Weights and targets of all pairs, and the penalties of users and items, of an objective of implicit feedback."""
    present = ~np.isnan(table)
    ratings = np.where(present, table, 0.0)
    value = ratings if setting["values"] == "ratings" else present.astype(float)
    alpha, w0 = numbers["alpha"], numbers["unobserved"]
    confidence = {
        "plus-one": 1 + alpha * value,
        "linear": alpha * value,
        "logarithmic": 1 + alpha * np.log(1 + value / setting["epsilon"]),
        "one": np.ones_like(value),
    }[setting["confidence"]]
    confidence = np.where(present, confidence, 0.0)
    target = ratings if setting["target"] == "value" else present.astype(float)
    everywhere = w0 if setting["zeros"] == "all" else w0 * ~present
    weights = confidence + everywhere
    targets = confidence * target / weights
    penalties = []
    for axis in (1, 0):
        count, others = present.sum(axis=axis), table.shape[axis]
        scale = {
            "constant": np.ones(len(count)),
            "count": count ** setting["power"],
            "others": np.full(len(count), others),
            "count-and-zeros": (count + w0 * others) ** setting["power"],
            "weights": confidence.sum(axis=axis),
        }[setting["penalty"]]
        penalties.append(numbers["regularisation"] * scale)
    return weights, targets, penalties[0], penalties[1]


def rating_matrices(setting, numbers, table):
    """Weights and targets of all pairs, and penalties, of squared errors of ratings."""
    present = ~np.isnan(table)
    ratings = np.where(present, table, 0.0) if setting["values"] == "ratings" else present.astype(float)
    mean = ratings[present].mean()
    offset = {"none": 0.0, "mean": mean}.get(setting["offset"])
    if setting["offset"] == "user-mean":
        offset = (ratings.sum(axis=1) / present.sum(axis=1))[:, None]
    if setting["offset"] == "item-mean":
        offset = (ratings.sum(axis=0) / present.sum(axis=0))[None, :]
    penalties = []
    for axis in (1, 0):
        count = present.sum(axis=axis)
        scale = {"constant": np.ones(len(count)), "count": count, "others": np.full(len(count), table.shape[axis])}
        penalties.append(numbers["regularisation"] * scale[setting["penalty"]])
    return present.astype(float), np.where(present, ratings - offset, 0.0), *penalties


def exact(weights, targets, penalties, fixed):
    """The factors of one side that minimise the objective, row by row."""
    solved = []
    for row, penalty in enumerate(penalties):
        left = fixed.T @ np.diag(weights[row]) @ fixed
        right = fixed.T @ (weights[row] * targets[row])
        solved.append(np.linalg.solve(left + penalty * np.eye(fixed.shape[1]), right))
    return np.array(solved)


class PlantedALS:
    """Alternating exact solutions for users and items of dense matrices; ``fault`` names a deviation."""

    def __init__(self, matrices, setting, *, fault="", order="users", precision=np.float64, **numbers):
        self.matrices, self.setting, self.fault, self.order = matrices, setting, fault, order
        self.precision, self.numbers = precision, numbers

    def fit(self, train, *, seed):
        table = np.full((train.n_users, train.n_items), np.nan)
        table[train.users, train.items] = train.ratings
        numbers = self.numbers
        table = self._changed(table)
        weights, targets, of_users, of_items = self.matrices(self.setting, numbers, table)
        weights, targets, of_users, of_items = self._faulty(table, weights, targets, of_users, of_items)
        rng = np.random.default_rng(seed)
        x, y = (rng.normal(size=(size, numbers["factors"])) * 0.3 for size in table.shape)
        for _ in range(numbers["epochs"]):
            for side in ("users", "items") if self.order == "users" else ("items", "users"):
                if side == "users":
                    x = self._moved(x, exact(weights, targets, of_users, self._seen(y))).astype(self.precision)
                else:
                    y = self._moved(y, exact(weights.T, targets.T, of_items, self._seen(x))).astype(self.precision)
            if self.fault == "normalised":
                x /= np.linalg.norm(x, axis=0)
        if self.fault == "shifted-rows":
            x = np.roll(x, 1, axis=0)
        if self.fault == "noise":
            x, y = (side * (1 + 0.03 * rng.normal(size=side.shape)) for side in (x, y))
        self.x, self.y = x, y

    def _changed(self, table):
        match self.fault:
            case "rounded-ratings":
                return np.floor(table / 2) + 1
            case "one-user-lost":
                return np.vstack([table[:1] * 0 + 1, table[1:]])
        return table

    def _faulty(self, table, weights, targets, of_users, of_items):
        present = ~np.isnan(table)
        match self.fault:
            case "odd-counts":
                of_users = of_users * np.where(present.sum(axis=1) % 2, 2.0, 1.0)
            case "clipped-weights":
                weights = np.minimum(weights, np.median(weights[present]))
            case "squared-ratings":
                weights = np.where(present, 1 + table**2, weights)
            case "root-of-ratings":
                weights = np.where(present, 1 + 2 * np.sqrt(table), weights)
            case "popular-items":
                weights = weights * (1 + 0.3 * present.sum(axis=0))
            case "scaled-targets":
                targets = targets / np.nanmean(table, axis=1)[:, None]
            case "last-item-lost":
                weights = weights.copy()
                weights[:, -1] = np.where(present[:, -1], weights[:, -1], 0.0)
            case "root-penalty-of-items":
                of_items = of_items * present.sum(axis=0) ** 0.3
            case "first-users-heavier":
                weights = weights * np.linspace(1, 2, len(table))[:, None]
                of_users = of_users * 1.0
        return weights, targets, of_users, of_items

    def _seen(self, fixed):
        if self.fault == "first-factor-fixed":
            return np.hstack([np.ones((len(fixed), 1)), fixed[:, 1:]])
        return fixed

    def _moved(self, before, solved):
        return 0.6 * before + 0.4 * solved if self.fault == "damped" else solved

    def score(self, queries, items):
        return Scores(self.x[queries.users] @ self.y[items].T)

    def state(self):
        return {"user_factors": self.x, "item_factors": self.y}


class PlantedSteps(PlantedALS):
    """Steps against the gradient of the same objectives, for all factors at once."""

    def fit(self, train, *, seed):
        table = np.full((train.n_users, train.n_items), np.nan)
        table[train.users, train.items] = train.ratings
        numbers = self.numbers
        weights, targets, of_users, of_items = self.matrices(self.setting, numbers, table)
        rng = np.random.default_rng(seed)
        x, y = (rng.normal(size=(size, numbers["factors"])) * 0.3 for size in table.shape)
        for _ in range(numbers["epochs"]):
            errors = weights * (targets - x @ y.T)
            slopes = errors @ y - of_users[:, None] * x, errors.T @ x - of_items[:, None] * y
            if self.fault == "sign-of-penalty":
                slopes = errors @ y + of_users[:, None] * x, slopes[1]
            if self.fault == "clipped-steps":
                slopes = tuple(np.clip(slope, -1, 1) for slope in slopes)
            x, y = (side + numbers["learning_rate"] * slope for side, slope in zip((x, y), slopes, strict=True))
        self.x, self.y = x, y


class PlantedNMF(PlantedALS):
    """Multiplicative updates of factors that are not negative, with dense matrices (Lee & Seung 2000)."""

    def fit(self, train, *, seed):
        table = np.full((train.n_users, train.n_items), np.nan)
        table[train.users, train.items] = train.ratings
        present = ~np.isnan(table)
        setting, numbers = self.setting, self.numbers
        values = np.where(present, table, 0.0) if setting["values"] == "ratings" else present.astype(float)
        seen = np.ones_like(values) if setting["missing"] == "zero" else present.astype(float)
        rng = np.random.default_rng(seed)
        x, y = (rng.uniform(0.2, 1.2, (size, numbers["factors"])) for size in table.shape)
        for _ in range(numbers["epochs"]):
            x = self._updated(values, seen, x, y)
            y = self._updated(values.T, seen.T, y, x)
            if self.fault == "normalised":
                x /= x.sum(axis=1, keepdims=True)
        self.x, self.y = x, y

    def _updated(self, values, seen, own, fixed):
        setting, numbers = self.setting, self.numbers
        count = (values > 0).sum(axis=1)
        scale = {"constant": np.ones(len(count)), "count": count, "others": np.full(len(count), values.shape[1])}
        penalty = numbers["regularisation"] * scale[setting["penalty"]][:, None]
        product = own @ fixed.T
        if setting["loss"] == "frobenius":
            upper, lower = (seen * values) @ fixed, (seen * product) @ fixed
        else:
            upper, lower = (seen * values / product) @ fixed, seen @ fixed
        lower = lower + (penalty if setting["norm"] == "absolute" else penalty * own)
        return own * upper / lower


FAULTS = (
    "odd-counts",
    "clipped-weights",
    "squared-ratings",
    "root-of-ratings",
    "popular-items",
    "scaled-targets",
    "last-item-lost",
    "root-penalty-of-items",
    "first-users-heavier",
    "first-factor-fixed",
    "normalised",
    "shifted-rows",
    "noise",
    "rounded-ratings",
    "one-user-lost",
)


def target_of(model, values):
    """A target that makes ``model(**parameters)``; ``values`` are its parameters."""

    def make(changed):
        parameters = {**values, **changed}

        def recommender():
            return CheckedRecommender(model(**parameters), "planted")

        return Implementation("planted", recommender, parameters)

    return Target("planted", make, values)


def target(values, matrices, setting, kind=PlantedALS, hidden=(), **options):
    """The target of a planted objective; ``values`` are its numbers by the names of its parameters.

    hidden  the names of parameters that cannot be changed, and are not among those of the target
    """
    values = {"factors": 3, "epochs": 4, **values}
    fixed = {name: values.pop(name) for name in hidden}

    def model(**parameters):
        return kind(matrices, setting, **options, **fixed, **parameters)

    return target_of(model, values)
