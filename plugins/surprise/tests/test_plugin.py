"""The declaration agrees with the code: the canonical words, and Surprise's own with Surprise's own defaults."""

from __future__ import annotations

import inspect
from importlib.metadata import requires

import pytest
import surprise
from packaging.requirements import Requirement

from repro.data.interactions import Interactions
from repro.errors import PluginError
from repro.plugin import Algorithm, RatingPredictor, parameters_of, plugins
from repro_surprise.classes import CLASSES, SurpriseClass
from repro_surprise.plugin import repro_framework

FRAMEWORK = repro_framework()
each = pytest.mark.parametrize("algorithm", FRAMEWORK.algorithms, ids=lambda algorithm: algorithm.name)
each_class = pytest.mark.parametrize("of", CLASSES.values(), ids=lambda of: of.name)
# What the fit decides, or what a study has no use for.
NOT_PARAMETERS = {"self", "random_state", "verbose", "kwargs", "sim_options", "bsl_options"}


def test_every_algorithm_of_surprise_is_there_under_its_own_name() -> None:
    public = {
        name for name, kind in vars(surprise).items() if inspect.isclass(kind) and issubclass(kind, surprise.AlgoBase)
    }
    assert set(CLASSES) == public - {"AlgoBase"}
    assert set(CLASSES) <= {algorithm.name for algorithm in FRAMEWORK.algorithms}


def test_canonical_algorithms() -> None:
    assert {algorithm.name for algorithm in FRAMEWORK.algorithms} - set(CLASSES) - {"NormalPredictor-in-turn"} == {
        "random",
        "bias",
        "user-knn",
        "item-knn",
        "biased-mf",
        "svd++",
        "nmf",
        "slope-one",
        "co-clustering",
    }


@each_class
def test_parameters_have_the_defaults_of_surprise(of: SurpriseClass) -> None:
    accepted = inspect.signature(getattr(surprise, of.name).__init__).parameters
    defaults = {name: accepted[name].default for name in accepted if name not in NOT_PARAMETERS}
    flat = {
        parameter.name: parameter.default for parameter in of.parameters if parameter.name[:4] not in ("sim_", "bsl_")
    }
    assert flat == {name: -1 if default is None else default for name, default in defaults.items()}
    assert of.talks == ("verbose" in accepted)
    assert of.seeded == ("random_state" in accepted)


@each_class
def test_what_is_not_given_is_not_given_to_surprise(of: SurpriseClass) -> None:
    settings = of.keywords({parameter.name: parameter.default for parameter in of.parameters})
    made = of.make({parameter.name: parameter.default for parameter in of.parameters}, 3)
    assert isinstance(made, surprise.AlgoBase)
    assert -1 not in settings.values()
    assert -1 not in settings.get("bsl_options", {}).values()


@each
def test_every_option_can_be_made_and_predicts(algorithm: Algorithm) -> None:
    for parameter in algorithm.parameters:
        for option in parameter.options:
            made = algorithm.make(**parameters_of(algorithm, {parameter.name: option}))
            assert isinstance(made, RatingPredictor)
    assert isinstance(algorithm.make(), RatingPredictor)
    assert algorithm.predicts


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("KNNBasic", "k", 0),
        ("KNNWithMeans", "min_k", 0),
        ("user-knn", "min_overlap", 0),
        ("item-knn", "min_neighbours", -2),
        ("item-knn", "center", "median"),
        ("biased-mf", "factors", 0),
        ("NMF", "init_low", -0.5),
        ("co-clustering", "user_clusters", 0),
    ],
)
def test_a_value_out_of_range_is_named_as_it_was_given(name: str, parameter: str, value: object) -> None:
    _, algorithm = plugins().algorithm(f"surprise/{name}")
    with pytest.raises(PluginError, match=f"{parameter} = .* give"):
        algorithm.make(**{parameter: value})


def test_nothing_cannot_be_fitted(train: Interactions) -> None:
    recommender = plugins().recommender("surprise/SVD", {})
    with pytest.raises(PluginError, match="surprise/SVD: Surprise cannot be fitted to no rows"):
        recommender.fit(train.select(train.users < 0), seed=1)


def test_pins_are_exact_and_hold_what_a_worker_needs() -> None:
    assert FRAMEWORK.environment is not None
    ((first, *pins),) = FRAMEWORK.environment.steps
    assert first == "--no-deps"
    pinned = dict(pin.split("==") for pin in pins)
    assert {"scikit-surprise", "joblib", "numpy", "scipy", "pandas", "pluggy"} <= set(pinned)
    assert not any("+" in version for version in pinned.values())
    for pin in pinned:  # installed without asking for dependencies: they must be among the pins
        expected = [Requirement(line) for line in requires(pin) or []]
        assert {kind.name for kind in expected if not kind.marker or kind.marker.evaluate({"extra": ""})} <= set(pinned)
