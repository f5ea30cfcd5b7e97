"""Declared algorithms, parameters and defaults are those of implicit."""

from __future__ import annotations

import inspect
from pkgutil import resolve_name
from typing import Any

import pytest

from repro.errors import PluginError
from repro.plugin import Algorithm
from repro.plugin.api.canonical import CANONICAL
from repro.testing import check_options, make
from repro_implicit.models import MODELS, Model
from repro_implicit.plugin import repro_framework

ALGORITHMS = repro_framework().algorithms
# Chosen by the plug-in: the seed of the study, the values of rows, one thread. The loss is only printed.
CHOSEN = {"random_state", "values", "num_threads", "calculate_training_loss"}


def test_algorithms_are_declared_once() -> None:
    names = [algorithm.name for algorithm in ALGORITHMS]
    assert len(names) == len(set(names)) == 11
    assert {name for name in names if name in CANONICAL} == {"implicit-als", "bpr", "logistic-mf", "item-knn"}


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.name)
def test_own_parameters_and_defaults_are_those_of_the_class(model: Model) -> None:
    defaults = {name: p.default for name, p in inspect.signature(resolve_name(model.own)).parameters.items()}
    declared = {p.name: p.default for p in model.parameters}
    assert declared.keys() - {"values"} == defaults.keys() - {"random_state", "calculate_training_loss"}
    for name in declared.keys() - CHOSEN - {"dtype"}:
        assert declared[name] == defaults[name]
        assert type(declared[name]) is type(defaults[name])
    assert declared.get("dtype") == getattr(defaults.get("dtype"), "__name__", None)


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)
def test_every_option_can_be_made(algorithm: Algorithm) -> None:
    check_options(algorithm)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("implicit-als", {"factors": 0}),
        ("bpr", {"epochs": 0}),
        ("logistic-mf", {"neg_prop": 0}),
        ("item-knn", {"k": 0}),
        ("item-knn", {"k": 5, "B": -1.0, "similarity": "bm25"}),
        ("AlternatingLeastSquares", {"alpha": -1.0}),
    ],
)
def test_a_value_out_of_range_is_named(name: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(PluginError, match=r"= .* give a number of at least"):
        make(f"implicit/{name}", parameters)
