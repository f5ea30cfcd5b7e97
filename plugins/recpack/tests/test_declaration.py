"""What is declared: canonical algorithms and RecPack's own, without RecPack being there."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from repro.errors import PluginError
from repro.plugin import Algorithm, parameters_of, plugins
from repro.plugin.api.canonical import CANONICAL
from repro_recpack.environment import PINS
from repro_recpack.models import MODELS
from repro_recpack.plugin import repro_framework

ALGORITHMS = repro_framework().algorithms
CANONICAL_ONES = [algorithm for algorithm in ALGORITHMS if algorithm.name in CANONICAL]
# Parameters of RecPack that are left out: chance is the study's, files are not written, lists are not cut, and items
# without training rows are not shown to RecPack.
LEFT_OUT = {"seed", "save_best_to_file", "predict_topK", "use_only_interacted_items"}

each = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)


def test_the_installed_plugin_is_found() -> None:
    assert "recpack" in plugins().frameworks
    assert "recpack" not in plugins().broken


def test_all_algorithms_are_declared_once() -> None:
    names = [algorithm.name for algorithm in ALGORITHMS]
    assert len(names) == len(set(names))
    assert {algorithm.name for algorithm in CANONICAL_ONES} == {
        *("random", "popularity", "item-knn", "ease", "slim", "puresvd", "nmf", "bpr", "implicit-als", "multi-vae"),
    }
    assert set(names) - set(CANONICAL) == set(MODELS)


@pytest.mark.parametrize("algorithm", CANONICAL_ONES, ids=lambda algorithm: algorithm.name)
def test_every_canonical_parameter_is_mapped_or_said_not_to_be(algorithm: Algorithm) -> None:
    canonical = set(CANONICAL[algorithm.name].parameters)
    assert set(algorithm.mapping) | set(algorithm.unmapped) == canonical
    assert not set(algorithm.mapping) & set(algorithm.unmapped)
    assert set(algorithm.mapping) == {parameter.name for parameter in algorithm.parameters} & canonical


@each
def test_it_says_what_it_is(algorithm: Algorithm) -> None:
    assert algorithm.own.startswith("recpack.algorithms.")
    assert algorithm.summary
    assert algorithm.deterministic
    assert not algorithm.predicts
    for parameter in algorithm.parameters:
        assert parameter.meaning
        assert not parameter.options or parameter.default in parameter.options


def test_the_declaration_needs_no_framework() -> None:
    code = (
        "import sys; import repro_recpack.plugin as p; p.repro_framework(); "
        "assert not {'recpack', 'torch', 'scipy', 'pandas', 'sklearn'} & set(sys.modules), sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_requirement_is_pinned_for_any_machine() -> None:
    assert all(pin.count("==") == 1 and "+" not in pin for pin in PINS)
    assert {"numpy", "pandas", "scipy", "pluggy", "recpack", "torch"} <= {pin.partition("==")[0] for pin in PINS}
    assert not [pin for pin in PINS if pin.startswith(("nvidia", "triton", "cuda"))]
    environment = repro_framework().environment
    assert environment is not None
    assert environment.steps[0] == ("torch==2.13.0",)


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
    declared = {one.name: one.default for one in MODELS[name].parameters if one.name != "validation"}
    recpacks = {key: value for key, value in constructors[name].items() if key not in LEFT_OUT}
    none_is_zero = {key: 0 if value is None else value for key, value in recpacks.items()}
    # RecPack's popularity of the 0 most popular items is that of all; None is not allowed.
    assert declared == none_is_zero
    assert {key for key, value in recpacks.items() if value is None} <= {*MODELS[name].absent, "pop_discount"}
