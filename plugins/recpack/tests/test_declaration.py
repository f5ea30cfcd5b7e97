"""The declaration: canonical algorithms and RecPack's own, without RecPack being there."""

from __future__ import annotations

from typing import Any

import pytest

from repro.errors import PluginError
from repro.plugin import Algorithm, parameters_of, plugins
from repro.plugin.api.canonical import CANONICAL
from repro_recpack.models import MODELS
from repro_recpack.plugin import repro_framework

ALGORITHMS = repro_framework().algorithms
CANONICAL_ONES = [algorithm for algorithm in ALGORITHMS if algorithm.name in CANONICAL]
# Parameters of RecPack that are left out: chance is the study's, files are not written, lists are not cut, and items
# without training rows are not shown to RecPack.
LEFT_OUT = {"seed", "save_best_to_file", "predict_topK", "use_only_interacted_items"}

each = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)


def test_all_algorithms_are_declared_once() -> None:
    names = [algorithm.name for algorithm in ALGORITHMS]
    assert len(names) == len(set(names))
    assert {algorithm.name for algorithm in CANONICAL_ONES} == {
        *("random", "popularity", "item-knn", "ease", "slim", "puresvd", "nmf", "bpr", "implicit-als", "multi-vae"),
    }
    assert set(names) - set(CANONICAL) == set(MODELS)


@each
def test_it_says_what_it_is(algorithm: Algorithm) -> None:
    assert algorithm.own.startswith("recpack.algorithms.")
    assert algorithm.summary
    assert algorithm.deterministic
    assert not algorithm.predicts


def test_every_requirement_is_pinned_for_any_machine() -> None:
    environment = repro_framework().environment
    assert environment is not None
    assert environment.steps[0] == ("torch==2.13.0",)
    assert not [pin for pin in environment.steps[1] if pin.startswith(("nvidia", "triton", "cuda"))]


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("bpr", {"validation": 1.0}, "validation = 1 is not a share"),
        ("multi-vae", {"validation": -0.1}, "validation = -0.1 is not a share"),
        ("MultVAE", {"validation": 0.0, "stop_early": True}, "stop_early needs held-out rows"),
        ("RecVAE", {"gamma": 0.0}, "gamma and beta are both 0"),
    ],
)
def test_what_cannot_be_is_said(name: str, parameters: dict[str, Any], message: str) -> None:
    _, algorithm = plugins().algorithm(f"recpack/{name}")
    with pytest.raises(PluginError, match=message):
        algorithm.make(**parameters_of(algorithm, parameters))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_names_and_defaults_are_those_of_recpack(name: str, constructors: dict[str, dict[str, Any]]) -> None:
    declared = {entry.name: entry.default for entry in MODELS[name].parameters if entry.name != "validation"}
    recpacks = {key: value for key, value in constructors[name].items() if key not in LEFT_OUT}
    none_is_zero = {key: 0 if value is None else value for key, value in recpacks.items()}
    # RecPack's popularity of the 0 most popular items is that of all; None is not allowed.
    assert declared == none_is_zero
    assert {key for key, value in recpacks.items() if value is None} <= {*MODELS[name].absent, "pop_discount"}
