"""The declaration agrees with the code."""

from __future__ import annotations

import inspect

import pytest

from repro.errors import PluginError
from repro.plugin import Algorithm, CheckedRecommender, RatingPredictor, Recommender, parameters_of, plugins
from repro_reference.plugin import repro_framework

ALGORITHMS = repro_framework().algorithms
each = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)


def test_the_installed_plugin_is_found() -> None:
    assert "reference" in plugins().frameworks
    assert "reference" not in plugins().broken


def test_all_algorithms_are_declared_once() -> None:
    names = [algorithm.name for algorithm in ALGORITHMS]
    assert sorted(names) == sorted(set(names))
    assert set(names) == {
        "random",
        "popularity",
        "item-mean",
        "bias",
        "user-knn",
        "item-knn",
        "puresvd",
        "ease",
        "plsa",
        "item-conditional",
        "expected-utility",
        "p3alpha",
        "rp3beta",
        "sar",
        "slim",
        "slope-one",
        "rocchio",
        "rsv",
        "chi2",
        "kld",
        "rm1",
        "rm2",
        "lm-wsr-user",
        "lm-wsr-item",
        "hitting-time",
        "lda",
        "uir-item",
        "implicit-als",
        "explicit-als",
        "biased-mf",
        "nmf",
    }


def test_the_versions_of_the_packages_below_are_declared() -> None:
    assert set(repro_framework().packages) == {"numba", "numpy", "scipy"}


@each
def test_declared_parameters_are_those_of_the_constructor(algorithm: Algorithm) -> None:
    accepted = {name: p for name, p in inspect.signature(algorithm.make).parameters.items() if p.kind is p.KEYWORD_ONLY}
    assert [p.name for p in algorithm.parameters] == list(accepted)
    for parameter in algorithm.parameters:
        assert parameter.default == accepted[parameter.name].default
        assert type(parameter.default) is type(accepted[parameter.name].default)
        assert not parameter.options or parameter.default in parameter.options
        assert parameter.meaning


@each
def test_parameters_are_kept_under_their_names(algorithm: Algorithm) -> None:
    arguments = parameters_of(algorithm, {})
    made = algorithm.make(**arguments)
    assert {name: getattr(made, name) for name in arguments} == arguments


@each
def test_an_unknown_parameter_is_refused(algorithm: Algorithm) -> None:
    with pytest.raises(PluginError, match="has no parameter 'neighbors'"):
        parameters_of(algorithm, {"neighbors": 3})


@each
def test_every_option_can_be_made(algorithm: Algorithm) -> None:
    for parameter in algorithm.parameters:
        for option in parameter.options:
            assert isinstance(algorithm.make(**parameters_of(algorithm, {parameter.name: option})), Recommender)


@each
def test_every_option_has_a_meaning_and_a_formula(algorithm: Algorithm) -> None:
    for parameter in algorithm.parameters if algorithm.defines else ():
        assert bool(parameter.choices) == bool(parameter.options), parameter.name
        for choice in parameter.choices:
            assert choice.meaning, (parameter.name, choice.value)
            assert choice.formula, (parameter.name, choice.value)


@each
def test_those_who_are_said_to_compute_so_are_there(algorithm: Algorithm) -> None:
    labels = {label for parameter in algorithm.parameters for choice in parameter.choices for label in choice.used_by}
    for label in labels:
        assert plugins().algorithm(label)[1].name == label.partition("/")[2]


@each
def test_who_is_said_to_predict_does(algorithm: Algorithm) -> None:
    assert isinstance(algorithm.make(**parameters_of(algorithm, {})), RatingPredictor) is algorithm.predicts


@pytest.mark.parametrize("name", ["user-knn", "item-knn"])
def test_sums_that_are_not_normalised_are_not_offered_as_predictions(name: str) -> None:
    _, algorithm = plugins().algorithm(f"reference/{name}")
    assert not CheckedRecommender(algorithm.make(**parameters_of(algorithm, {"normalise": False})), name).predicts


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("bias", "user_damping", -1.0),
        ("bias", "item_damping", float("nan")),
        ("user-knn", "k", 0),
        ("user-knn", "shrinkage", -0.5),
        ("item-knn", "min_overlap", 0),
        ("item-knn", "similarity", "jacard"),
        ("puresvd", "factors", 0),
        ("ease", "regularisation", 0.0),
        ("ease", "values", "log"),
        ("plsa", "inverse_temperature", 0.0),
        ("plsa", "inverse_temperature", 1.5),
        ("expected-utility", "utility", "price"),
        ("bias", "learning_rate", 0.0),
        ("ease", "penalty", "rows"),
        ("ease", "popularity_power", -1.0),
        ("popularity", "count", "clicks"),
        ("puresvd", "scaling", "half"),
        ("rp3beta", "pruned", "all"),
        ("slim", "l1", -0.1),
        ("slim", "tolerance", 0.0),
        ("slim", "signs", "negative"),
    ],
)
def test_a_value_out_of_range_is_named(name: str, parameter: str, value: object) -> None:
    _, algorithm = plugins().algorithm(f"reference/{name}")
    with pytest.raises(PluginError, match=f"{parameter} = .* give"):
        algorithm.make(**{parameter: value})
