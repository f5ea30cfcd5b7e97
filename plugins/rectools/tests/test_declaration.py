"""Declared algorithms, parameters and defaults are those of RecTools."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from repro.errors import PluginError
from repro.plugin import Algorithm, make_recommender, parameters_of
from repro.plugin.api.canonical import CANONICAL
from repro.testing import IsolatedFramework, check_options
from repro_rectools.models import MODELS
from repro_rectools.plugin import repro_framework

ALGORITHMS = repro_framework().algorithms
NAMED = {algorithm.name: algorithm for algorithm in ALGORITHMS}
NAMES = {"random", "popularity", "item-knn", "implicit-als", "bpr", "ease", "puresvd"}


def test_algorithms_are_declared_once() -> None:
    names = [algorithm.name for algorithm in ALGORITHMS]
    assert len(names) == len(set(names)) == 14
    assert {name for name in names if name in CANONICAL} == NAMES


def test_own_defaults_are_those_of_the_classes(framework: IsolatedFramework) -> None:
    """Read in the environment of RecTools; RecTools' None is 0 or empty here."""
    code = (
        "import inspect, json, rectools.models as m\n"
        "from implicit.cpu.als import AlternatingLeastSquares as A\n"
        "from implicit.cpu.bpr import BayesianPersonalizedRanking as B\n"
        "from implicit.nearest_neighbours import BM25Recommender as K\n"
        "inside = {f'Implicit{name}WrapperModel': [c] for name, c in (('ALS', A), ('BPR', B), ('ItemKNN', K))}\n"
        "def defaults(c):\n"
        "    return {n: getattr(p.default, '__name__', p.default) for n, p in inspect.signature(c).parameters.items()\n"
        "            if p.default is not p.empty}\n"
        f"for n in {[model.name for model in MODELS.values()]}:\n"
        "    print(json.dumps({k: v for c in [getattr(m, n), *inside.get(n, [])] for k, v in defaults(c).items()}))"
    )
    printed = subprocess.run([framework.python, "-c", code], capture_output=True, text=True, check=True).stdout
    for model, line in zip(MODELS.values(), printed.splitlines(), strict=True):
        defaults = json.loads(line)
        declared = {p.name: p.default for p in model.parameters if p.name not in ("values", "num_threads", "model")}
        assert declared.keys() <= defaults.keys()
        assert {name: value or None for name, value in declared.items()} == {
            name: defaults[name] or None for name in declared
        }


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)
def test_every_option_can_be_made(algorithm: Algorithm) -> None:
    check_options(algorithm)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("puresvd", {"factors": 0}),
        ("ease", {"regularisation": -1.0}),
        ("item-knn", {"k": 0}),
        ("bpr", {"epochs": 0}),
        ("PopularModel", {"period": -1.0}),
    ],
)
def test_a_value_out_of_range_is_named(name: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(PluginError, match=r"= .* give a number of at least"):
        make_recommender(algorithm := NAMED[name], parameters_of(algorithm, parameters), name)
