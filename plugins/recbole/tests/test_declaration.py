"""The declaration: names, parameters in canonical and in RecBole's words, and an environment of exact versions."""

from __future__ import annotations

from typing import Any

import pytest

from repro.errors import PluginError
from repro.plugin import Algorithm, RatingPredictor, Recommender, parameters_of
from repro.plugin.api.canonical import CANONICAL
from repro_recbole.models import MODELS
from repro_recbole.plugin import repro_framework

ALGORITHMS = {algorithm.name: algorithm for algorithm in repro_framework().algorithms}
MAPPED = [algorithm for algorithm in ALGORITHMS.values() if algorithm.name in CANONICAL]
each = pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=lambda algorithm: algorithm.name)
each_canonical = pytest.mark.parametrize("algorithm", MAPPED, ids=lambda algorithm: algorithm.name)


def settings(name: str, **arguments: Any) -> dict[str, Any]:
    algorithm = ALGORITHMS[name]
    made: Any = algorithm.make(**parameters_of(algorithm, arguments))
    return dict(made.settings)


def test_canonical_and_own_names_are_declared() -> None:
    assert {algorithm.name for algorithm in MAPPED} == {
        "random",
        "popularity",
        "user-knn",
        "item-knn",
        "bpr",
        "ease",
        "slim",
        "multi-vae",
    }
    assert set(ALGORITHMS) == {algorithm.name for algorithm in MAPPED} | set(MODELS)
    assert len(ALGORITHMS) == len(repro_framework().algorithms)


@each
def test_an_algorithm_can_be_made_with_its_defaults_and_every_option(algorithm: Algorithm) -> None:
    assert algorithm.own in MODELS
    for parameter in algorithm.parameters:
        assert not parameter.options or parameter.default in parameter.options
        for option in parameter.options:
            made = algorithm.make(**parameters_of(algorithm, {parameter.name: option}))
            assert isinstance(made, Recommender)
    assert isinstance(algorithm.make(**parameters_of(algorithm, {})), RatingPredictor) is algorithm.predicts is False


@each_canonical
def test_canonical_defaults_are_those_of_the_model(algorithm: Algorithm) -> None:
    compared = {"knn_method": "user"} if algorithm.name == "user-knn" else {}
    assert settings(algorithm.name) == settings(algorithm.own) | compared


def test_canonical_parameters_reach_the_model() -> None:
    assert settings("bpr", factors=8, regularisation=0.01)["embedding_size"] == 8
    assert settings("bpr", factors=8, regularisation=0.01)["weight_decay"] == 0.01
    assert settings("ease", regularisation=7)["reg_weight"] == 7.0
    assert settings("user-knn", k=5)["knn_method"] == "user"
    assert settings("item-knn", k=5)["k"] == 5


def test_the_two_weights_of_slim_are_a_sum_and_a_share() -> None:
    assert settings("slim", l1=0.3, l2=0.1)["alpha"] == pytest.approx(0.4)
    assert settings("slim", l1=0.3, l2=0.1)["l1_ratio"] == pytest.approx(0.75)
    assert settings("slim", l1=0, l2=0)["alpha"] == 0


def test_the_latent_layer_of_multi_vae_is_half_of_what_recbole_calls_so() -> None:
    arguments = settings("multi-vae", latent=20, hidden=50, batch=100, anneal=0.5, dropout=0.25)
    assert arguments["latent_dimension"] == 40
    assert arguments["mlp_hidden_size"] == [50]
    assert (arguments["train_batch_size"], arguments["anneal_cap"], arguments["dropout_prob"]) == (100, 0.5, 0.25)


def test_drawn_items_are_a_setting_of_their_own() -> None:
    assert settings("BPR", sample_num=3)["train_neg_sample_args"] == {"distribution": "uniform", "sample_num": 3}
    assert settings("Pop", distribution="none")["train_neg_sample_args"] is None
    assert settings("MultiDAE")["train_neg_sample_args"] is None


def test_a_list_is_written_as_text() -> None:
    assert settings("NeuMF", mlp_hidden_size="[32, 8]")["mlp_hidden_size"] == [32, 8]
    assert settings("LDiffRec", out_dims="[]")["out_dims"] == []


@pytest.mark.parametrize("value", ["32", "[32", "['a']", "[True]", "print('evaluated')"])
def test_what_is_not_a_list_of_numbers_is_refused(value: str) -> None:
    with pytest.raises(PluginError, match=r"mlp_hidden_size = .* is not a list of numbers; write it as text"):
        settings("NeuMF", mlp_hidden_size=value)


@pytest.mark.parametrize("name", ["epochs", "train_batch_size", "sample_num"])
def test_less_than_once_is_refused(name: str) -> None:
    with pytest.raises(PluginError, match=f"{name} = 0 is too small; give a number of at least 1"):
        settings("BPR", **{name: 0})


def test_the_environment_is_pinned() -> None:
    environment = repro_framework().environment
    assert environment is not None
    first, (option, *pins) = environment.steps
    names = [pin.partition("==")[0].lower() for pin in pins]
    assert (first, option) == (("torch==2.13.0",), "--no-deps")
    assert len(set(names)) == len(names)
    assert {"recbole", "setuptools"} <= set(names)
    assert "torch" not in names
