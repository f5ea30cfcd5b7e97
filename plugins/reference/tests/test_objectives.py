"""The objectives of factor models in toolkits, by their factors alone; comments say where their sources confirm it."""

from __future__ import annotations

from typing import Any

import pytest

from repro.definitions import agree, align, audit
from repro.definitions.optimality.result import FactorDefinition, FactorUnexplained

SLOW = pytest.mark.slow
WEIGHTED = {"zeros": "unobserved", "target": "one"}


def definition_of(label: str, **parameters: Any) -> FactorDefinition:
    definition = audit(label, parameters, progress=False).definition
    assert isinstance(definition, FactorDefinition)
    assert not definition.undetermined
    return definition


@pytest.mark.parametrize(
    ("label", "parameters", "expected", "learnt"),
    [
        # implicit 0.7.3, implicit/cpu/_als.pyx, least_squares: A += (confidence - 1) y y', b += confidence y, A starts
        # as Y'Y + regularization I; als.py multiplies the matrix by alpha before, and no 1 is added.
        (
            "implicit/AlternatingLeastSquares",
            {},
            {"values": "ratings", "confidence": "linear", **WEIGHTED, "penalty": "constant"},
            "users, then for items",
        ),
        # The plug-in gives implicit 1 + alpha r as values, with implicit's alpha = 1.
        pytest.param(
            "implicit/implicit-als",
            {},
            {"values": "ratings", "confidence": "plus-one", **WEIGHTED, "penalty": "constant"},
            "users, then for items",
            marks=SLOW,
        ),
        # lenskit 2025.8.1, als/_implicit.py: ratings are ones times weight unless use_ratings, and 1 is added in
        # _train_implicit_row_cholesky; regularization I is added once.
        (
            "lenskit/implicit-als",
            {},
            {"values": "binary", "confidence": "plus-one", **WEIGHTED, "penalty": "constant"},
            "users, then for items",
        ),
        pytest.param(
            "lenskit/implicit-als",
            {"use_ratings": True},
            {"values": "ratings", "confidence": "plus-one", **WEIGHTED, "penalty": "constant"},
            "users, then for items",
            marks=SLOW,
        ),
        # lenskit 2025.8.1, als/_explicit.py: M'M + regularization n I, on ratings less LensKit's bias model.
        pytest.param(
            "lenskit/biased-mf",
            {},
            {"values": "ratings", "offset": "biases", "penalty": "count"},
            "users, then for items",
            marks=SLOW,
        ),
        # Surprise 1.1.5, matrix_factorization.pyx: NMF divides by the estimates plus n reg, all sums from before the
        # updates; SVD has err - reg b and err q - reg p in each row.
        (
            "surprise/nmf",
            {},
            {"values": "ratings", "loss": "frobenius", "missing": "left-out", "penalty": "count", "norm": "squares"},
            "both sides at once",
        ),
        (
            "surprise/biased-mf",
            {},
            {"values": "ratings", "offset": "biases", "penalty": "count"},
            "both sides at once",
        ),
        # scikit-learn multiplies alpha_W by the number of columns and alpha_H by that of rows.
        pytest.param(
            "lenskit/nmf",
            {},
            {"values": "binary", "loss": "frobenius", "missing": "zero", "penalty": "others", "norm": "squares"},
            "users, then for items",
            marks=SLOW,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_objective_of_a_toolkit(
    label: str, parameters: dict[str, Any], expected: dict[str, Any], learnt: str
) -> None:
    definition = definition_of(label, **parameters)
    assert dict(definition.fit.hypothesis.setting) == expected
    assert definition.methods[0].meaning.endswith(learnt)
    assert set(definition.numbers) <= {"alpha", "regularisation"}
    assert all(definition.fit.sources[name] for name in definition.fit.sources)
    assert definition.confirmation[1] >= 5


@pytest.mark.slow
def test_the_biases_of_a_toolkit() -> None:
    computed = definition_of("lenskit/biased-mf", user_damping=5.0, item_damping=2.0).biases
    assert (computed["users"].of, computed["users"].penalty) == ("other bias", "constant")
    assert (computed["items"].of, computed["items"].penalty) == ("mean", "constant")
    assert computed["users"].number == pytest.approx(5, rel=1e-4)
    assert computed["items"].number == pytest.approx(2, rel=1e-4)
    learnt = definition_of("reference/biased-mf", bias_regularisation=0.3).biases
    for side in ("users", "items"):
        assert (learnt[side].of, learnt[side].penalty, learnt[side].kind) == ("product", "count", "step")
        assert learnt[side].number == pytest.approx(0.3, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bpr", "logistic-mf"])
def test_models_that_sample_items_are_unexplained(name: str) -> None:
    audited = audit(f"implicit/{name}", progress=False, only=["implicit-als", "biased-mf", "nmf"])
    assert audited.status == "unexplained"
    assert all(isinstance(finding, FactorUnexplained) for finding in audited.findings)


def test_parameters_with_which_toolkits_minimise_a_named_objective() -> None:
    parameters = {"regularisation": 1.5, "alpha": 2.5}
    results = align(
        "implicit-als", "weighted-binary", parameters, only=["implicit", "lenskit", "reference"], progress=False
    )
    aligned = {result.label.partition("/")[0]: result for result in results}
    assert list(aligned) == ["implicit", "lenskit", "reference"]
    for result in aligned.values():
        assert result.parameters is not None
        assert {name: result.parameters[name] for name in parameters} == parameters
        assert result.to_dict()["residual"] < 1e-5
    assert aligned["implicit"].parameters is not None
    assert aligned["implicit"].parameters["values"] == "binary"


@pytest.mark.slow
def test_what_stands_in_the_way_is_named() -> None:
    """The reference with a penalty by counts, which implicit does not have."""
    own = {"penalty": "count", "regularisation": 0.05}
    (result,) = align("implicit-als", "reference", own, only=["implicit"], progress=False)
    assert result.parameters is None
    assert result.decisions == {"penalty": ("constant", "count")}


@pytest.mark.slow
def test_agreement_is_about_objectives() -> None:
    agreement = agree("implicit-als", only=["implicit", "lenskit", "reference"], progress=False)
    assert agreement.marks() == [[".", "x", "="], ["x", ".", "x"], ["=", "x", "."]]
    (pair, *_) = agreement.to_dict()["pairs"]
    assert pair["decisions"] == {"values": ["ratings", "binary"]}
    assert "differ in values: ratings, binary" in agreement.details()
