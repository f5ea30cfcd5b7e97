"""Planted objectives are found, or undetermined among others, and planted faults are unexplained."""

import numpy as np
import pytest

from repro.definitions.optimality.decomposition import FactorDecomposition
from repro.definitions.optimality.inference import FactorInference
from repro.definitions.optimality.result import FactorDefinition, FactorUnexplained
from repro.plugin import Scores
from tests.definitions.optimality import planted
from tests.definitions.optimality.planted import PlantedNMF, PlantedSteps, implicit_matrices, rating_matrices

RNG = np.random.default_rng(2)
TABLE = RNG.choice([0.5, 1.0, 3.0, 4.5], (9, 6)) * np.where(RNG.random((9, 6)) < 0.6, 1.0, np.nan)
TABLE[np.arange(9), np.arange(9) % 6] = 2.0


def drawn_implicit(number):
    """An objective of implicit feedback, its numbers, and the order of the sides."""
    rng = np.random.default_rng([4, number])
    confidence = rng.choice(["plus-one", "linear", "logarithmic", "one"])
    penalty = rng.choice(["constant", "count", "others", "count-and-zeros", "weights"])
    setting = {
        "values": "binary" if confidence == "one" else rng.choice(["ratings", "binary"]),
        "confidence": confidence,
        "epsilon": 1.0,
        "zeros": rng.choice(["unobserved", "all"]),
        "target": rng.choice(["one", "value"]),
        "penalty": penalty,
        "power": float(rng.choice([1.0, 0.5])) if penalty == "count" else 1.0,
    }
    numbers = {
        "alpha": float(rng.uniform(0.5, 6.0)),
        "regularisation": float(rng.uniform(0.02, 0.3)),
        "unobserved": float(rng.uniform(0.1, 0.8)) if confidence == "one" else 1.0,
    }
    return {str(k): v if isinstance(v, float) else str(v) for k, v in setting.items()}, numbers, number


def drawn_ratings(number):
    rng = np.random.default_rng([5, number])
    setting = {
        "values": "ratings",
        "offset": str(rng.choice(["none", "mean", "user-mean", "item-mean"])),
        "penalty": str(rng.choice(["count", "constant", "others"])),
    }
    return setting, {"regularisation": float(rng.uniform(0.05, 0.5))}, number


def drawn_nonnegative(number):
    rng = np.random.default_rng([6, number])
    setting = {
        "values": str(rng.choice(["ratings", "binary"])),
        "loss": str(rng.choice(["frobenius", "kullback-leibler"])),
        "missing": str(rng.choice(["zero", "left-out"])),
        "penalty": str(rng.choice(["constant", "count", "others"])),
        "norm": str(rng.choice(["squares", "absolute"])),
    }
    return setting, {"regularisation": float(rng.uniform(0.05, 0.5))}, number


def normalised(matrices):
    """Weights, weighted targets and penalties but for a common factor."""
    weights, targets, of_users, of_items = matrices
    flat = np.concatenate([weights.ravel(), (weights * targets).ravel(), of_users, of_items])
    return flat / np.linalg.norm(flat)


def assert_found(finding, matrices, setting, numbers):
    """The finding has the planted objective, by its dense matrices, or leaves it open."""
    assert isinstance(finding, FactorDefinition), "\n".join(finding.lines())
    wanted = normalised(matrices(setting, {**numbers, **finding.parameters}, TABLE))
    differences = []
    for fit in (finding.fit, *finding.undetermined):
        stated = {"epsilon": 1.0, "power": 1.0, **fit.hypothesis.setting}
        weight = fit.numbers.get("user_regularisation", fit.numbers.get("item_regularisation"))
        given = {"unobserved": 1.0, "alpha": 0.0, **fit.numbers, "regularisation": weight}
        differences.append(float(np.linalg.norm(normalised(matrices(stated, given, TABLE)) - wanted)))
    assert min(differences) < 2e-3, (differences, finding.lines())
    return finding


def infer_implicit(case, **options):
    setting, numbers, number = case
    order, precision = ("users", "items")[number % 2], (np.float64, np.float32)[number // 2 % 2]
    kind = {"order": order, "precision": precision} | options
    return FactorInference(planted.target(numbers, implicit_matrices, setting, **kind)).run()


def check_implicit(number):
    case = drawn_implicit(number)
    finding = assert_found(infer_implicit(case), implicit_matrices, *case[:2])
    assert f"for {('users', 'items')[number % 2]}, then" in finding.methods[0].meaning


def check_ratings(number):
    setting, numbers, _ = case = drawn_ratings(number)
    target = planted.target(numbers, rating_matrices, setting, order=("users", "items")[number % 2])
    assert_found(FactorInference(target).run(), rating_matrices, *case[:2])


def check_steps(number):
    drawn, matrices = ((drawn_implicit, implicit_matrices), (drawn_ratings, rating_matrices))[number % 2]
    setting, numbers, _ = drawn(number + 100)
    target = planted.target({**numbers, "learning_rate": 0.01}, matrices, setting, PlantedSteps)
    finding = assert_found(FactorInference(target).run(), matrices, setting, numbers)
    assert finding.fit.method.kind == "step"


def check_nonnegative(number):
    setting, numbers, _ = drawn_nonnegative(number)
    target = planted.target(numbers, None, setting, PlantedNMF)
    finding = FactorInference(target, ("nmf",)).run()
    assert isinstance(finding, FactorDefinition)
    named = [fit.hypothesis.setting for fit in (finding.fit, *finding.same, *finding.undetermined)]
    assert {**setting} in [dict(each) for each in named], finding.lines()
    assert finding.fit.method.meaning == "a multiplicative update for users, then for items"


def check_hidden(number):
    """An implementation whose numbers and epochs cannot be changed: after many epochs, both sides say the same."""
    setting, numbers, _ = drawn_implicit(number + 40)
    values = {**numbers, "epochs": (4, 150)[number % 2]}
    target = planted.target(values, implicit_matrices, setting, hidden=tuple(values))
    finding = assert_found(FactorInference(target).run(), implicit_matrices, setting, numbers)
    assert finding.fit.sources.get("alpha") is None
    assert finding.is_complete or finding.to_dict()["status"] == "undetermined"


@pytest.mark.parametrize("number", range(3))
def test_some_planted_objectives_are_found(number):
    check_implicit(number)


def test_other_ways_to_learn_are_found():
    check_ratings(0)
    check_steps(0)
    check_nonnegative(1)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(3, 45))
def test_planted_objectives_of_implicit_feedback_are_found(number):
    check_implicit(number)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 11))
def test_planted_objectives_of_ratings_are_found(number):
    check_ratings(number)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 9))
def test_planted_objectives_of_steps_are_found(number):
    check_steps(number)


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, *range(2, 14)])
def test_planted_objectives_of_factors_that_are_not_negative_are_found(number):
    check_nonnegative(number)


@pytest.mark.parametrize("number", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 8))])
def test_planted_objectives_with_hidden_numbers_are_found(number):
    check_hidden(number)


SETTING = {
    "values": "ratings",
    "confidence": "plus-one",
    "epsilon": 1.0,
    "zeros": "unobserved",
    "target": "one",
    "penalty": "constant",
    "power": 1.0,
}
NUMBERS = {"alpha": 3.0, "regularisation": 0.5, "unobserved": 1.0}
FAST = ("clipped-weights",)


@pytest.mark.parametrize(
    "fault", [fault if fault in FAST else pytest.param(fault, marks=pytest.mark.slow) for fault in planted.FAULTS]
)
def test_a_fault_is_unexplained(fault):
    finding = infer_implicit((SETTING, NUMBERS, 0), fault=fault)
    assert isinstance(finding, FactorUnexplained), finding.lines()
    assert finding.nearest


@pytest.mark.slow
def test_another_way_to_the_same_minimum_is_found_after_many_epochs():
    finding = infer_implicit((SETTING, NUMBERS, 0), fault="damped")
    assert_found(finding, implicit_matrices, SETTING, NUMBERS)
    assert finding.methods[0].order == "both"


@pytest.mark.parametrize("fault", ["sign-of-penalty", "clipped-steps"])
def test_a_fault_of_steps_is_unexplained(fault):
    setting, numbers, _ = drawn_ratings(1)
    target = planted.target({**numbers, "learning_rate": 0.01}, rating_matrices, setting, PlantedSteps, fault=fault)
    assert isinstance(FactorInference(target).run(), FactorUnexplained)


@pytest.mark.slow
def test_a_fault_of_multiplicative_updates_is_unexplained():
    setting, numbers, _ = drawn_nonnegative(1)
    target = planted.target(numbers, None, setting, PlantedNMF, fault="normalised")
    assert isinstance(FactorInference(target).run(), FactorUnexplained)


class Singular:
    """Singular vectors of a dense matrix, with the singular values on either side or on both."""

    def __init__(self, factors=3, *, matrix="ratings", powers=(1.0, 0.0), wrong=False):
        self.factors, self.matrix, self.powers, self.wrong = factors, matrix, powers, wrong

    def fit(self, train, *, seed):
        table = np.zeros((train.n_users, train.n_items))
        table[train.users, train.items] = 1.0 if self.matrix == "binary" else train.ratings
        if self.matrix == "user-mean":
            seen = table > 0
            table = np.where(seen, table - table.sum(axis=1, keepdims=True) / seen.sum(axis=1, keepdims=True), 0.0)
        values, vectors = np.linalg.eigh(table.T @ table)
        values, vectors = np.sqrt(np.maximum(values[::-1][: self.factors], 1e-12)), vectors[:, ::-1][:, : self.factors]
        self.x, self.y = table @ vectors / values * values ** self.powers[0], vectors * values ** self.powers[1]
        if self.wrong:
            self.x[:, 0] *= 1.1

    def score(self, queries, items):
        return Scores(self.x[queries.users] @ self.y[items].T)

    def state(self):
        return {"user_factors": self.x, "item_factors": self.y}


@pytest.mark.parametrize(
    ("matrix", "powers", "subtracted"),
    [
        ("ratings", (1.0, 0.0), "none"),
        ("ratings", (0.0, 1.0), "none"),
        ("binary", (1.0, 1.0), "none"),
        ("user-mean", (0.5, 0.5), "user-mean"),
    ],
)
def test_singular_vectors_are_found(matrix, powers, subtracted):
    target = planted.target_of(lambda **values: Singular(matrix=matrix, powers=powers, **values), {"factors": 3})
    finding = FactorInference(target).run()
    assert isinstance(finding, FactorDecomposition), finding.lines()
    values = "binary" if matrix == "binary" else "ratings"
    assert finding.setting == {
        "values": values,
        "subtracted": subtracted,
        "user_power": powers[0],
        "item_power": powers[1],
    }
    assert finding.to_dict()["residual"] < 1e-9


def test_singular_vectors_with_a_fault_are_unexplained():
    target = planted.target_of(lambda **values: Singular(wrong=True, **values), {"factors": 3})
    assert isinstance(FactorInference(target).run(), FactorUnexplained)
