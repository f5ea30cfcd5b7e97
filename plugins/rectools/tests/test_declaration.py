"""What is declared is what is there."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from repro.errors import PluginError
from repro.plugin import Algorithm, Recommender, parameters_of, plugins
from repro.plugin.api.canonical import CANONICAL
from repro.plugin.isolation.client import Launch
from repro_rectools.models import MODELS
from repro_rectools.plugin import repro_framework

ALGORITHMS = repro_framework().algorithms
NAMES = {"random", "popularity", "item-knn", "implicit-als", "bpr", "ease", "puresvd"}
each = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)


def test_algorithms_are_declared_once() -> None:
    names = [algorithm.name for algorithm in ALGORITHMS]
    assert len(names) == len(set(names)) == 14
    assert {name for name in names if name in CANONICAL} == NAMES


def test_own_defaults_are_those_of_the_classes(launch: Launch) -> None:
    """Asked in the environment of RecTools; None of RecTools is 0 or empty here."""
    code = (
        "import inspect, json, rectools.models as m\n"
        "from implicit.cpu.als import AlternatingLeastSquares as A\n"
        "from implicit.cpu.bpr import BayesianPersonalizedRanking as B\n"
        "from implicit.nearest_neighbours import BM25Recommender as K\n"
        "inside = {f'Implicit{name}WrapperModel': [c] for name, c in (('ALS', A), ('BPR', B), ('ItemKNN', K))}\n"
        "def defaults(c):\n"
        "    return {n: getattr(p.default, '__name__', p.default) for n, p in inspect.signature(c).parameters.items()\n"
        "            if p.default is not p.empty}\n"
        f"for n in {[model.name for model in MODELS]}:\n"
        "    print(json.dumps({k: v for c in [getattr(m, n), *inside.get(n, [])] for k, v in defaults(c).items()}))"
    )
    told = subprocess.run([launch.python, "-c", code], capture_output=True, text=True, check=True).stdout
    for model, line in zip(MODELS, told.splitlines(), strict=True):
        taken = json.loads(line)
        declared = {p.name: p.default for p in model.parameters if p.name not in ("values", "num_threads", "model")}
        assert declared.keys() <= taken.keys()
        assert {name: value or None for name, value in declared.items()} == {
            name: taken[name] or None for name in declared
        }


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
        ("puresvd", {"factors": 0}),
        ("ease", {"regularisation": -1.0}),
        ("item-knn", {"k": 0}),
        ("bpr", {"epochs": 0}),
        ("PopularModel", {"period": -1.0}),
    ],
)
def test_a_value_out_of_range_is_named(name: str, given: dict[str, Any]) -> None:
    _, algorithm = plugins().algorithm(f"rectools/{name}")
    with pytest.raises(PluginError, match=r"= .* give a number of at least"):
        algorithm.make(**parameters_of(algorithm, given))
