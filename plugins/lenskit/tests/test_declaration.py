"""Declared algorithms, parameters and defaults are those of LensKit."""

from __future__ import annotations

from importlib.metadata import version
from pkgutil import resolve_name
from typing import Any

import pytest

from repro.errors import PluginError
from repro.plugin import Algorithm, RatingPredictor, parameters_of
from repro.plugin.api.canonical import CANONICAL
from repro.testing import check_options, make
from repro_lenskit.plugin import repro_framework
from repro_lenskit.scorers import SCORERS, Scorer

ALGORITHMS = repro_framework().algorithms
MAPPED = [algorithm for algorithm in ALGORITHMS if algorithm.name in CANONICAL]
# Which kind of interaction, and whether known ratings come from training or from the query, which holds the same.
NOT_NEEDED = {"interaction_class", "source"}


def test_algorithms_are_declared_once() -> None:
    names = [algorithm.name for algorithm in ALGORITHMS]
    assert len(names) == len(set(names)) == 28
    assert {algorithm.name for algorithm in MAPPED} == {
        *("random", "popularity", "bias", "user-knn", "item-knn", "biased-mf", "implicit-als", "bpr", "logistic-mf"),
        *("nmf", "ease", "slim"),
    }


def test_the_environment_is_pinned_in_full_to_what_runs_here() -> None:
    environment = repro_framework().environment
    assert environment is not None
    pins = dict(pin.split("==") for pin in environment.steps[-1][1:])
    assert {"lenskit", "numpy", "pandas", "pluggy", "scikit-learn", "scipy", "torch"} <= pins.keys()
    for name in ("lenskit", "numpy", "scikit-learn", "scipy", "torch"):  # or scores here and there would differ
        assert version(name).partition("+")[0] == pins[name]


@pytest.mark.parametrize("scorer", SCORERS.values(), ids=lambda scorer: scorer.name)
def test_own_parameters_and_defaults_are_those_of_the_class(scorer: Scorer) -> None:
    config = resolve_name(scorer.path).config_class()
    fields = getattr(config, "model_fields", None) or config.__dataclass_fields__
    declared = {
        setting.name: setting.convert(setting.parameter.default) for setting in scorer.settings if not setting.required
    }
    required = {setting.name for setting in scorer.settings if setting.required}
    assert declared.keys() | required == fields.keys() - NOT_NEEDED
    assert declared == {name: fields[name].default for name in declared}


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)
def test_every_option_can_be_made(algorithm: Algorithm) -> None:
    check_options(algorithm)
    assert isinstance(algorithm.make(**parameters_of(algorithm, {})), RatingPredictor) is algorithm.predicts


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("user-knn", {"k": 0}, "= 0 is not what UserKNNScorer takes: .* greater than 0"),
        ("bias", {"user_damping": -1.0}, r"damping\.user = -1.0 is not what BiasScorer takes"),
        ("biased-mf", {"regularisation": -0.5}, "= -0.5 is not what BiasedMFScorer takes"),
        ("slim", {"l1": 0.0}, "l1_reg = 0.0 is not what SLIMScorer takes"),
        ("TimeBoundedPopScore", {"cutoff": "yesterday"}, "cutoff = 'yesterday' is not what"),
        ("FunkSVDScorer", {"range": "5"}, "range = '5' is not"),
        ("nmf", {"alpha_H": "other"}, "alpha_H = 'other' is neither"),
    ],
)
def test_a_value_that_lenskit_refuses_is_named(name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(PluginError, match=message):
        make(f"lenskit/{name}", parameters)
