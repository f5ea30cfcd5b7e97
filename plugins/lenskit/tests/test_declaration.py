"""What is declared is what is there."""

from __future__ import annotations

from importlib.metadata import version
from pkgutil import resolve_name
from typing import Any

import pytest

from repro.errors import PluginError
from repro.plugin import Algorithm, RatingPredictor, Recommender, parameters_of, plugins
from repro.plugin.api.canonical import CANONICAL
from repro_lenskit.plugin import repro_framework
from repro_lenskit.scorers import SCORERS, Scorer

ALGORITHMS = repro_framework().algorithms
each = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)
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


@each
def test_every_option_can_be_made(algorithm: Algorithm) -> None:
    made = algorithm.make(**parameters_of(algorithm, {}))
    assert isinstance(made, Recommender)
    assert isinstance(made, RatingPredictor) is algorithm.predicts
    for parameter in algorithm.parameters:
        assert parameter.meaning
        for option in parameter.options:
            assert isinstance(algorithm.make(**parameters_of(algorithm, {parameter.name: option})), Recommender)


@pytest.mark.parametrize(
    ("name", "given", "told"),
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
def test_a_value_that_lenskit_does_not_take_is_named(name: str, given: dict[str, Any], told: str) -> None:
    _, algorithm = plugins().algorithm(f"lenskit/{name}")
    with pytest.raises(PluginError, match=told):
        algorithm.make(**parameters_of(algorithm, given))
