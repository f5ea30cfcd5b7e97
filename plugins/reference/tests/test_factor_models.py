"""Factor models: their objectives written as sums over pairs, and the same steps by libraries and plain loops."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from implicit.cpu.als import AlternatingLeastSquares
from scipy.sparse import csr_matrix
from sklearn.decomposition import non_negative_factorization

from repro.data.interactions import FloatArray, Interactions
from repro.errors import PluginError
from repro.plugin import CheckedRecommender, plugins
from repro.testing import make, ratings_table
from repro.testing.checks import score_all
from repro_reference.biased_mf import BiasedMF
from repro_reference.explicit_als import ExplicitALS
from repro_reference.implicit_als import ImplicitALS
from repro_reference.nmf import NMF

TABLE = np.random.default_rng(8).integers(1, 6, (9, 7)) * (np.random.default_rng(9).random((9, 7)) < 0.45)
TABLE[3, 1:3] = 4, 2  # every user and item has rows
TRAIN = ratings_table(TABLE)
OBSERVED = TABLE > 0
SMALL = {"factors": 3, "epochs": 2, "start_scale": 1.0}


def fitted(model: Any, train: Interactions = TRAIN, seed: int = 4) -> Any:
    model.fit(train, seed=seed)
    return model


def assert_lowest(loss: Callable[[FloatArray], float], at: FloatArray) -> None:
    """A quadratic loss has no slope at its minimum: steps to both sides cost the same."""
    lowest = loss(at)
    for index in np.ndindex(at.shape):
        step = np.zeros_like(at)
        step[index] = 1e-2
        up, down = loss(at + step) - lowest, loss(at - step) - lowest
        assert up > 0 < down
        assert up == pytest.approx(down, rel=1e-6, abs=1e-9 * lowest)


def implicit_loss(settings: dict[str, Any], x: FloatArray, y: FloatArray) -> float:
    """The objective of the docstring of ImplicitALS, pair by pair."""
    total = 0.0
    confidences = np.zeros(TABLE.shape)
    w0, weight, power = settings.get("unobserved", 1.0), settings["regularisation"], settings.get("power", 1.0)
    for user, item in np.ndindex(TABLE.shape):
        value = TABLE[user, item] if settings.get("values", "ratings") == "ratings" else 1.0
        confidence = {
            "plus-one": 1 + settings["alpha"] * value,
            "linear": settings["alpha"] * value,
            "logarithmic": 1 + settings["alpha"] * np.log(1 + value / settings.get("epsilon", 1.0)),
            "one": 1.0,
        }[settings.get("confidence", "plus-one")]
        product = x[user] @ y[item]
        target = TABLE[user, item] if settings.get("target") == "value" else 1.0
        if OBSERVED[user, item]:
            total += confidence * (target - product) ** 2
            confidences[user, item] = confidence
        if not OBSERVED[user, item] or settings.get("zeros") == "all":
            total += w0 * product**2
    for factors, axis, others in ((x, 1, 7), (y, 0, 9)):
        for row, count, weights in zip(factors, OBSERVED.sum(axis=axis), confidences.sum(axis=axis), strict=True):
            scale = {
                "constant": 1.0,
                "count": count**power,
                "count-and-zeros": (count + w0 * others) ** power,
                "others": others,
                "weights": weights,
            }
            total += weight * scale[settings.get("penalty", "constant")] * (row @ row)
    return total


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"values": "binary", "penalty": "count"},
        {"confidence": "linear", "order": "items"},
        {"confidence": "logarithmic", "epsilon": 0.5, "unobserved": 0.3},
        {"confidence": "one", "zeros": "all", "unobserved": 0.2, "penalty": "count-and-zeros", "power": 0.5},
        {"penalty": "count-and-zeros", "unobserved": 2.0, "order": "items"},
        {"penalty": "count", "power": 0.5, "zeros": "all"},
        {"penalty": "others", "target": "value"},
        {"penalty": "weights", "target": "value", "zeros": "all", "order": "items"},
        {"penalty": "weights", "confidence": "linear"},
    ],
    ids=str,
)
def test_the_side_solved_last_minimises_the_objective(choices: dict[str, Any]) -> None:
    settings = {"regularisation": 0.7, "alpha": 1.5, **choices}
    model = fitted(ImplicitALS(**SMALL, **settings))
    x, y = model.user_factors_, model.item_factors_
    if choices.get("order") == "items":
        assert_lowest(lambda factors: implicit_loss(settings, factors, y), x)
    else:
        assert_lowest(lambda factors: implicit_loss(settings, x, factors), y)


def test_more_epochs_never_raise_the_objective() -> None:
    settings = {"regularisation": 0.7, "alpha": 1.5}
    losses = []
    for epochs in range(1, 12):
        model = fitted(ImplicitALS(factors=3, epochs=epochs, **settings))
        losses.append(implicit_loss(settings, model.user_factors_, model.item_factors_))
    assert (np.diff(losses) <= 1e-9).all()


@pytest.mark.parametrize(("confidence", "shift"), [("plus-one", 1.0), ("linear", 0.0)])
def test_factors_are_those_of_implicit_from_the_same_start(confidence: str, shift: float, train: Interactions) -> None:
    settings: dict[str, Any] = {"factors": 4, "regularisation": 2.0, "alpha": 1.5, "confidence": confidence}
    model = fitted(ImplicitALS(epochs=3, **settings), train)
    known = train.compact()
    library = AlternatingLeastSquares(
        factors=4, regularization=2.0, iterations=3, use_cg=False, dtype=np.float64, num_threads=1
    )
    start = ImplicitALS(epochs=3, **settings)
    start.begin(train, 4)
    library.user_factors = start.user_factors_[:38].copy()
    library.item_factors = start.item_factors_[:28].copy()
    weights = shift + 1.5 * known.matrix().data
    matrix = known.matrix()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library.fit(csr_matrix((weights, matrix.indices, matrix.indptr), shape=matrix.shape), show_progress=False)
    np.testing.assert_allclose(model.user_factors_[:38], library.user_factors, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.item_factors_[:28], library.item_factors, rtol=1e-6, atol=1e-9)


def explicit_loss(settings: dict[str, Any], baseline: FloatArray, x: FloatArray, y: FloatArray) -> float:
    errors = (TABLE - baseline - x @ y.T)[OBSERVED]
    counts = [OBSERVED.sum(axis=1), OBSERVED.sum(axis=0)]
    scales = counts if settings["penalty"] == "count" else [np.ones(9), np.ones(7)]
    squares = sum((scale * (side**2).sum(axis=1)).sum() for scale, side in zip(scales, (x, y), strict=True))
    return float((errors**2).sum() + settings["regularisation"] * squares)


@pytest.mark.parametrize("offset", ["none", "mean", "biases"])
@pytest.mark.parametrize("penalty", ["count", "constant"])
def test_exact_steps_minimise_squared_errors_of_ratings(offset: str, penalty: str) -> None:
    settings = {"regularisation": 0.4, "offset": offset, "penalty": penalty}
    model = fitted(ExplicitALS(**SMALL, **settings, item_damping=3.0))
    mean = TABLE[OBSERVED].mean()
    items = [(TABLE[OBSERVED[:, i], i] - mean).sum() / (OBSERVED[:, i].sum() + 3.0) for i in range(7)]
    users = [np.mean((TABLE[u] - mean - items)[OBSERVED[u]]) for u in range(9)]
    baseline = {"none": 0.0, "mean": mean, "biases": mean + np.add.outer(users, items)}[offset] * np.ones((9, 7))
    x, y = model.user_factors_, model.item_factors_
    assert_lowest(lambda factors: explicit_loss(settings, baseline, x, factors), y)
    np.testing.assert_allclose(score_all(CheckedRecommender(model, model.name), TRAIN).values, baseline + x @ y.T)


@pytest.mark.parametrize("offset", ["none", "mean", "biases"])
def test_steps_of_gradient_descent_are_those_of_a_plain_loop(offset: str) -> None:
    settings: dict[str, Any] = {"factors": 2, "learning_rate": 0.05, "regularisation": 0.3, "bias_regularisation": 0.1}
    model = fitted(BiasedMF(epochs=3, rows="sorted", offset=offset, **settings))
    start = BiasedMF(epochs=3, offset=offset, **settings)
    start.begin(TRAIN, 4)
    x, y, users, items = start.user_factors_, start.item_factors_, np.zeros(9), np.zeros(7)
    mean = 0.0 if offset == "none" else TABLE[OBSERVED].mean()
    for _, (u, i) in itertools.product(range(3), np.argwhere(OBSERVED)):
        error = TABLE[u, i] - mean - users[u] - items[i] - x[u] @ y[i]
        x[u], y[i] = x[u] + 0.05 * (error * y[i] - 0.3 * x[u]), y[i] + 0.05 * (error * x[u] - 0.3 * y[i])
        if offset == "biases":
            users[u] += 0.05 * (error - 0.1 * users[u])
            items[i] += 0.05 * (error - 0.1 * items[i])
    np.testing.assert_allclose(model.user_factors_, x)
    np.testing.assert_allclose(model.item_factors_, y)
    state = model.state()
    if offset == "none":
        assert set(state) == {"user_factors", "item_factors"}
    else:
        np.testing.assert_allclose(state["user_bias"], users)
        np.testing.assert_allclose(state["item_bias"], items)
        assert state["mean"] == pytest.approx(mean)


def test_shuffled_rows_converge_to_the_same_place_with_small_steps() -> None:
    settings: dict[str, Any] = {"factors": 1, "epochs": 4000, "learning_rate": 0.002, "regularisation": 0.3}
    first, second = (fitted(BiasedMF(rows=rows, **settings)) for rows in ("sorted", "shuffled"))
    products = [model.user_factors_ @ model.item_factors_.T for model in (first, second)]
    np.testing.assert_allclose(products[0], products[1], atol=0.02)


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("regularisation", [0.0, 0.02])
def test_updates_with_missing_as_zero_are_those_of_scikit_learn(loss: str, regularisation: float) -> None:
    settings: dict[str, Any] = {"loss": loss, "penalty": "others", "regularisation": regularisation, "factors": 3}
    model = fitted(NMF(epochs=6, **settings))
    start = NMF(epochs=6, **settings)
    start.begin(TRAIN, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x, y, _ = non_negative_factorization(
            TABLE.astype(float),
            start.user_factors_.copy(),
            np.ascontiguousarray(start.item_factors_.T),
            n_components=3,
            init="custom",
            solver="mu",
            beta_loss=loss,
            max_iter=6,
            tol=0,
            alpha_W=regularisation,
            alpha_H=regularisation,
        )
    np.testing.assert_allclose(model.user_factors_, x, rtol=1e-9)
    np.testing.assert_allclose(model.item_factors_, y.T, rtol=1e-9)


def observed_divergence(values: FloatArray, products: FloatArray, loss: str) -> float:
    v, p = values[OBSERVED], products[OBSERVED]
    return float(((v - p) ** 2).sum() / 2 if loss == "frobenius" else (v * np.log(v / p) - v + p).sum())


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("penalty", ["constant", "count"])
@pytest.mark.parametrize("values", ["ratings", "binary"])
def test_updates_of_observed_pairs_never_raise_the_loss(loss: str, penalty: str, values: str) -> None:
    given = TABLE.astype(float) if values == "ratings" else OBSERVED.astype(float)
    counts = [OBSERVED.sum(axis=1), OBSERVED.sum(axis=0)] if penalty == "count" else [np.ones(9), np.ones(7)]
    losses = []
    for epochs in range(1, 10):
        model = NMF(factors=3, epochs=epochs, loss=loss, missing="left-out", penalty=penalty, values=values)
        model.regularisation = 0.05
        x, y = fitted(model).user_factors_, model.item_factors_
        squares = sum((n * (side**2).sum(axis=1)).sum() for n, side in zip(counts, (x, y), strict=True))
        losses.append(observed_divergence(given, x @ y.T, loss) + 0.05 * squares / 2)
        assert (x >= 0).all()
        assert (y >= 0).all()
    assert (np.diff(losses) <= 1e-9).all()


@pytest.mark.parametrize("name", ["implicit-als", "explicit-als", "biased-mf", "nmf"])
def test_every_choice_is_explained_and_accepted(name: str) -> None:
    _, algorithm = plugins().algorithm(f"reference/{name}")
    for parameter in algorithm.parameters:
        for choice in parameter.choices:
            assert choice.meaning
            make(f"reference/{name}", {parameter.name: choice.value})


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("implicit-als", {"epsilon": 0.0}, "epsilon = 0.0 is too small"),
        ("implicit-als", {"regularisation": -1.0}, "regularisation = -1.0 is too small"),
        ("explicit-als", {"epochs": 0}, "epochs = 0 is too small"),
        ("biased-mf", {"learning_rate": -0.1}, "learning_rate = -0.1 is too small"),
        ("nmf", {"factors": 0}, "factors = 0 is too small"),
    ],
)
def test_numbers_without_a_meaning_are_refused(name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(PluginError, match=message):
        make(f"reference/{name}", parameters)
