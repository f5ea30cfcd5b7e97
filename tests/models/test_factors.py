"""The factors of a user's own model: its method, or attributes with usual names."""

import numpy as np
import pytest

from repro.definitions import audit
from repro.definitions.implementation import Implementation
from repro.definitions.optimality.result import FactorDefinition
from repro.definitions.optimality.training_sets import training_sets
from repro.models.factors import factors_of_model, named_factors


class Plain:
    """Factors of ratings by exact solutions, as many people write it; ids are numbers from 0."""

    def __init__(self, rank=3, n_iters=6, reg=0.4):
        self.rank, self.n_iters, self.reg = rank, n_iters, reg

    def fit(self, ratings):
        rng = np.random.default_rng(3)
        table = ratings.pivot(index="user", columns="item", values="rating").to_numpy()
        self.P = rng.normal(size=(table.shape[0], self.rank))
        self.Q = rng.normal(size=(table.shape[1], self.rank))
        for _ in range(self.n_iters):
            self.P = self.solved(table, self.Q)
            self.Q = self.solved(table.T, self.P)

    def solved(self, table, fixed):
        rows = []
        for row in table:
            seen = fixed[~np.isnan(row)]
            rows.append(np.linalg.solve(seen.T @ seen + self.reg * np.eye(self.rank), seen.T @ row[~np.isnan(row)]))
        return np.array(rows)

    def predict(self, user, items):
        return self.Q[items] @ self.P[user]


def holder(**attributes):
    model = Plain()
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"P": np.ones((4, 2)), "Q": np.ones((3, 2))}, ("P", "Q")),
        ({"user_factors": np.ones((4, 2)), "item_factors": np.ones((2, 3))}, ("user_factors", "item_factors")),
        ({"U": np.ones((2, 4)), "V": np.ones((3, 2))}, ("U", "V")),
        ({"U": np.ones((5, 2)), "V": np.ones((3, 2))}, None),
        ({"U": np.ones((4, 2)), "V": np.ones((3, 1))}, None),
        ({"P": "text", "Q": None}, None),
        ({}, None),
    ],
)
def test_attributes_with_a_row_for_each_user_and_item_are_factors(attributes, expected):
    names = named_factors(holder(**attributes), 4, 3)
    assert (names.get("user_factors"), names.get("item_factors")) == (expected or (None, None))


def test_biases_and_mean_are_read_too():
    model = holder(pu=np.ones((4, 2)), qi=np.ones((3, 2)), bu=np.arange(4), bi=np.arange(3.0), global_mean=3.5)
    state = factors_of_model(model, 4, 3)
    assert list(state) == ["user_factors", "item_factors", "user_bias", "item_bias", "mean"]
    assert state["user_bias"].tolist() == [0, 1, 2, 3]
    assert float(state["mean"]) == 3.5


def test_a_method_comes_first():
    model = holder(P=np.ones((4, 2)), Q=np.ones((3, 2)), state=lambda: {"item_bias": np.zeros(3)})
    assert list(factors_of_model(model, 4, 3)) == ["item_bias"]


def test_the_product_of_the_factors_is_the_score():
    train = next(training_sets(0))
    recommender = Implementation.of_object(Plain()).fitted(train)
    state = recommender.state()
    users, items = np.arange(train.n_users, dtype=np.int32), np.arange(train.n_items, dtype=np.int32)
    product = state["user_factors"] @ state["item_factors"].T
    np.testing.assert_allclose(recommender.score_users(users, items).values, product)


def test_an_audit_of_a_class_finds_its_objective_by_its_attributes():
    audited = audit(Plain, {"reg": 0.7}, progress=False)
    definition = audited.definition
    assert isinstance(definition, FactorDefinition)
    assert definition.algorithm == "explicit-als"
    assert definition.setting == {
        "values": "ratings",
        "offset": "none",
        "penalty": "constant",
        "regularisation": 0.7,
    }
    assert definition.methods[0].meaning == "the exact solution for users, then for items"
    assert "factors are read from the attributes P and Q" in audited.to_text()
    assert audited.to_dict()["status"] == "explained"
