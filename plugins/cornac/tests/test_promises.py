"""Properties that the plug-in declares for its algorithms: seeds, states, refusals, and Cornac's own defaults."""

import numpy as np
import pytest

from repro.errors import PluginError
from repro.plugin import FALLBACK, SCORED, UNSCORED, plugins

KNOWN_USER, UNKNOWN_USER, KNOWN_ITEM, UNKNOWN_ITEM = 0, 59, 0, 39
QUICK = {
    "n_epochs": 2,
    "num_epochs": 1,
    "max_iter": 3,
    "epochs": 2,
}
ALGORITHMS = plugins().framework("cornac").algorithms
# No draw in them: another seed, the same scores.
NOT_RANDOM = {"popularity", "bias", "user-knn", "item-knn", "ease"}
NOT_RANDOM |= {"GlobalAvg", "MostPop", "BaselineOnly", "UserKNN", "ItemKNN", "EASE"}


def quick(algorithm):
    return {p.name: QUICK[p.name] for p in algorithm.parameters if p.name in QUICK}


def everything(recommender, rows, seed):
    recommender.fit(rows, seed=seed)
    return recommender.score_users(np.arange(rows.n_users, dtype=np.int32), np.arange(rows.n_items, dtype=np.int32))


def states(recommender, rows):
    """The states of known and unknown users (rows) and items (columns), and of the same as pairs."""
    recommender.fit(rows, seed=1)
    users = np.array([KNOWN_USER, UNKNOWN_USER], dtype=np.int32)
    items = np.array([KNOWN_ITEM, UNKNOWN_ITEM], dtype=np.int32)
    block = recommender.score_users(users, items)
    state = np.zeros((2, 2), dtype=np.uint8) if block.state is None else block.state
    return state.tolist()


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda entry: entry.name)
def test_a_seed_gives_the_same_bits_and_another_seed_others(make, small, algorithm):
    recommender = make(algorithm.name, **quick(algorithm))
    first = everything(recommender, small, 2**40 + 5)
    again = everything(make(algorithm.name, **quick(algorithm)), small, 2**40 + 5)
    other = everything(make(algorithm.name, **quick(algorithm)), small, 6)
    assert algorithm.deterministic
    assert first.values.tobytes() == again.values.tobytes()
    assert (first.values.tobytes() == other.values.tobytes()) == (algorithm.name in NOT_RANDOM)


@pytest.mark.parametrize("name", ["biased-mf", "item-knn", "multi-vae"])
def test_a_score_does_not_depend_on_what_is_asked_with_it(make, small, name):
    recommender = make(name, **({"epochs": 2} if name != "item-knn" else {}))
    complete = everything(recommender, small, 3)
    users, items = np.array([59, 7, 7, 3], dtype=np.int32), np.array([39, 5, 31], dtype=np.int32)
    part = recommender.score_users(users, items)
    assert part.values.tobytes() == complete.values[np.ix_(users, items)].tobytes()
    assert (part.state == complete.state[np.ix_(users, items)]).all()


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("popularity", {}, [[SCORED, FALLBACK], [SCORED, FALLBACK]]),
        ("GlobalAvg", {}, [[SCORED, SCORED], [SCORED, SCORED]]),
        ("bias", {}, [[SCORED, FALLBACK], [SCORED, FALLBACK]]),
        ("biased-mf", {}, [[SCORED, FALLBACK], [SCORED, FALLBACK]]),
        ("MF", {"use_bias": False}, [[SCORED, FALLBACK], [FALLBACK, FALLBACK]]),
        ("nmf", {}, [[SCORED, FALLBACK], [FALLBACK, FALLBACK]]),
        ("ease", {}, [[SCORED, FALLBACK], [FALLBACK, FALLBACK]]),
        ("bpr", {}, [[SCORED, UNSCORED], [UNSCORED, UNSCORED]]),
    ],
)
def test_unknown_users_and_items_are_marked(make, small, name, options, expected):
    assert states(make(name, **options), small) == expected


@pytest.mark.parametrize("name", ["user-knn", "item-knn"])
def test_a_mean_in_place_of_neighbours_is_a_fallback(make, name, small):
    """Users 1 and 2 have no item in common with user 0, so that nothing is known of their items for 0."""
    users, items = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 2, 3, 2, 3])
    rows = small.select(np.arange(6))
    rows.users[:], rows.items[:] = users, items
    rows.ratings[:] = [1, 4, 2, 5, 5, 1]
    recommender = make(name)
    recommender.fit(rows, seed=1)
    first_items = np.arange(4, dtype=np.int32)
    block = recommender.score_users(first_items[:1], first_items)
    pairs = recommender.predict_pairs(np.zeros(4, dtype=np.int32), first_items)
    assert block.state.tolist() == [[SCORED, SCORED, FALLBACK, FALLBACK]]
    assert pairs.state.tolist() == block.state[0].tolist()
    assert block.values[0, 2:].tolist() == [2.5, 2.5]
    assert pairs.values.tolist() == block.values[0].tolist()


def test_predictions_are_not_clipped(make, small):
    recommender = make("biased-mf", epochs=200, learning_rate=0.05)
    recommender.fit(small, seed=1)
    users, items = (side.ravel().astype(np.int32) for side in np.indices((58, 38)))
    assert recommender.predict_pairs(users, items).values.max() > 5


def test_the_defaults_are_those_of_cornac(inside):
    from repro_cornac.models import MODELS

    theirs = inside({"signatures": True})
    for name, model in MODELS.items():
        for own in model.parameters:
            mine = [int(part) for part in own.default.split(",")] if own.layers else own.default
            assert (None if mine == "none" else mine) == theirs[name][own.name], (name, own.name)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("biased-mf", {"factors": 0}, "MF: k = 0 must be at least 1"),
        ("VAECF", {"autoencoder_structure": "20;10"}, "must be whole numbers separated by commas"),
        ("NeuMF", {"layers": "8,0"}, "NeuMF: layers = 0 must be at least 1"),
        ("NeuMF", {"num_factors": 4}, "NeuMF: the last of layers must be num_factors = 4, and is 8"),
    ],
)
def test_what_cornac_could_not_bear_is_refused(make, name, options, message):
    with pytest.raises(PluginError, match=message):
        make(name, **options)


def test_no_rows_are_refused(make, small):
    with pytest.raises(PluginError, match="at least one training row"):
        make("popularity").fit(small.select(np.arange(0)), seed=1)


def test_of_several_rows_of_a_pair_the_first_counts(make, small):
    doubled = small.select(np.r_[np.arange(len(small)), 0:50])
    doubled.ratings[len(small) :] = 1.0
    assert (everything(make("ease"), doubled, 1).values == everything(make("ease"), small, 1).values).all()
