"""What is declared is what is there."""

from __future__ import annotations

import inspect
from pkgutil import resolve_name
from typing import Any

import pytest

from repro.errors import PluginError
from repro.plugin import Algorithm, Recommender, parameters_of, plugins
from repro.plugin.api.canonical import CANONICAL
from repro_implicit.models import MODELS, Model
from repro_implicit.plugin import repro_framework

ALGORITHMS = repro_framework().algorithms
each = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)
each_canonical = pytest.mark.parametrize("name", ["implicit-als", "bpr", "logistic-mf", "item-knn"])
# Given by the plug-in: the seed of the study, what is given as values, one thread. The loss is only printed.
GIVEN = {"random_state", "values", "num_threads", "calculate_training_loss"}


def test_algorithms_are_declared_once() -> None:
    names = [algorithm.name for algorithm in ALGORITHMS]
    assert len(names) == len(set(names)) == 11
    assert {name for name in names if name in CANONICAL} == {"implicit-als", "bpr", "logistic-mf", "item-knn"}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_own_parameters_and_defaults_are_those_of_the_class(model: Model) -> None:
    taken = {name: p.default for name, p in inspect.signature(resolve_name(model.own)).parameters.items()}
    declared = {p.name: p.default for p in model.parameters}
    assert declared.keys() - {"values"} == taken.keys() - {"random_state", "calculate_training_loss"}
    for name in declared.keys() - GIVEN - {"dtype"}:
        assert declared[name] == taken[name]
        assert type(declared[name]) is type(taken[name])
    assert declared.get("dtype") == getattr(taken.get("dtype"), "__name__", None)


@each
def test_every_option_can_be_made(algorithm: Algorithm) -> None:
    assert isinstance(algorithm.make(**parameters_of(algorithm, {})), Recommender)
    for parameter in algorithm.parameters:
        assert parameter.meaning
        for option in parameter.options:
            assert isinstance(algorithm.make(**parameters_of(algorithm, {parameter.name: option})), Recommender)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("implicit-als", {"factors": 0}),
        ("bpr", {"epochs": 0}),
        ("logistic-mf", {"neg_prop": 0}),
        ("item-knn", {"k": 0}),
        ("item-knn", {"k": 5, "B": -1.0, "similarity": "bm25"}),
        ("AlternatingLeastSquares", {"alpha": -1.0}),
    ],
)
def test_a_value_out_of_range_is_named(name: str, given: dict[str, Any]) -> None:
    _, algorithm = plugins().algorithm(f"implicit/{name}")
    with pytest.raises(PluginError, match=r"= .* give a number of at least"):
        algorithm.make(**parameters_of(algorithm, given))
