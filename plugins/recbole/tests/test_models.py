"""Every model of RecBole under its own name: its defaults, its scores on MovieLens 100K, and its determinism."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import UNSCORED, CheckedRecommender, plugins
from repro.rng import child_keys, stream
from repro_recbole.models import MODELS
from repro_recbole.settings import settings_of

SEED = 11
USERS = 40
# Smaller than RecBole's defaults, where these take minutes for a pass through the rows.
SMALL: dict[str, dict[str, Any]] = {
    "ADMMSLIM": {"k": 10},
    "NCEPLRec": {"rank": 50},
    "FISM": {"embedding_size": 8},
    "NAIS": {"embedding_size": 4, "weight_size": 4},
    "NNCF": {"num_conv_kernel": 8},
    "RecVAE": {"n_enc_epochs": 1},
}
WITHOUT_CHANCE = {"ItemKNN", "AsymKNN", "EASE"}
Fitted = Callable[..., CheckedRecommender]
each = pytest.mark.parametrize("name", MODELS)


def parameters(name: str) -> dict[str, Any]:
    once = {"epochs": 1} if any(parameter.name == "epochs" for parameter in MODELS[name].parameters) else {}
    return once | SMALL.get(name, {})


def first_users(train: Interactions, users: int) -> tuple[Any, Any]:
    return np.arange(users, dtype=np.int32), np.arange(train.n_items, dtype=np.int32)


def test_names_and_defaults_are_those_of_recbole(inside: Callable[..., str], tmp_path: Path) -> None:
    actual = json.loads(inside("recbole_defaults.py", *MODELS, folder=tmp_path))
    for name, model in MODELS.items():
        drawn = actual[name]["train_neg_sample_args"]
        own = actual[name] | {key: drawn[key] for key in ("distribution", "sample_num")}
        defaults = settings_of(model, {})
        for parameter in model.parameters:
            value = defaults.get(parameter.name, parameter.default)
            assert own[parameter.name] == value, (name, parameter.name)
            assert type(own[parameter.name]) is type(value), (name, parameter.name)


@pytest.mark.slow
@each
def test_scores_are_those_of_recbole_itself(
    name: str, fitted: Fitted, compare: Callable[..., Any], train: Interactions
) -> None:
    seeds: list[int] = []
    if MODELS[name].draws:
        seeds = (child_keys(stream(SEED, "recbole", name), train.user_keys) >> np.uint64(1)).tolist()
    options = parameters(name)
    (itself,) = compare(train, [(name, options)], USERS, seeds)
    scores = fitted(name, options, train, SEED).score_users(*first_users(train, USERS))
    known = ~np.isnan(itself)
    assert known.sum() > 50_000
    np.testing.assert_allclose(scores.values[known], itself[known], rtol=1e-5, atol=1e-5)  # single precision
    has_score = known if MODELS[name].personal else np.broadcast_to(known.any(axis=0), known.shape)
    np.testing.assert_array_equal(scores.state == UNSCORED, ~has_score)


@pytest.mark.slow
@each
def test_a_seed_gives_the_same_bits_in_any_blocks(name: str, fitted: Fitted, some: Interactions) -> None:
    _, algorithm = plugins().algorithm(f"recbole/{name}")
    assert algorithm.deterministic
    options = parameters(name) | ({"train_batch_size": 64} if name == "DGCF" else {})
    users, items = first_users(some, USERS)
    recommender = fitted(name, options, some, SEED)
    first = recommender.score_users(users, items).values.view(np.uint64)
    np.testing.assert_array_equal(
        recommender.score_users(users[::-3], items[::2]).values.view(np.uint64), first[::-3, ::2]
    )
    again = fitted(name, options, some, SEED).score_users(users, items).values.view(np.uint64)
    np.testing.assert_array_equal(again, first)
    other = fitted(name, options, some, SEED + 1).score_users(users, items).values.view(np.uint64)
    assert np.array_equal(other, first) is (name in WITHOUT_CHANCE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options", "own", "settings"),
    [
        ("slim", {"l1": 0.01, "l2": 0.03}, "SLIMElastic", {"alpha": 0.04, "l1_ratio": 0.25}),
        (
            "multi-vae",
            {"latent": 8, "hidden": 20, "epochs": 3, "batch": 100},
            "MultiVAE",
            {"latent_dimension": 16, "mlp_hidden_size": [20], "epochs": 3, "train_batch_size": 100},
        ),
    ],
    ids=["slim", "multi-vae"],
)
def test_canonical_parameters_mean_those_of_recbole(
    name: str,
    options: dict[str, Any],
    own: str,
    settings: dict[str, Any],
    fitted: Fitted,
    compare: Callable[..., Any],
    some: Interactions,
) -> None:
    (itself,) = compare(some, [(own, settings)], USERS)
    values = fitted(name, options, some, SEED).score_users(*first_users(some, USERS)).values
    known = ~np.isnan(itself)
    assert np.count_nonzero(itself[known]) > 5000
    np.testing.assert_allclose(values[known], itself[known], rtol=0, atol=1e-5)


@pytest.mark.slow
def test_deep_matrix_factorisation_can_use_ratings(fitted: Fitted, some: Interactions) -> None:
    block = first_users(some, USERS)
    ones, ratings = (
        fitted("DMF", {"epochs": 1, "inter_matrix_type": kind}, some).score_users(*block).values
        for kind in ("01", "rating")
    )
    assert not np.allclose(ones, ratings, equal_nan=True)
