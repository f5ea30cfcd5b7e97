"""Scores in a worker: those of RecPack itself, always the same bits, and unscored where RecPack has no entry."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from repro.data.interactions import Interactions
from repro.errors import PluginError
from repro.plugin import SCORED, UNSCORED, CheckedRecommender
from repro.testing.checks import bits, check_blocks, score_all
from repro_recpack.canonical import CANONICAL
from repro_recpack.models import MODELS

pytestmark = pytest.mark.slow

SEED = 11
Inside = Callable[..., str]
Fitted = Callable[..., CheckedRecommender]

SMALL_NETWORK = {"dim_hidden_layer": 30, "dim_bottleneck_layer": 10, "max_epochs": 3}
# Each of RecPack's algorithms, and how far from RecPack's own numbers it may be.
RUNS: list[tuple[str, dict[str, Any], float]] = [
    ("Random", {"K": 0}, 0.0),
    ("Random", {"K": 50}, 0.0),
    ("Popularity", {}, 0.0),
    ("Popularity", {"K": 0}, 0.0),
    ("ItemKNN", {"K": 20}, 0.0),
    (
        "ItemKNN",
        {
            "K": 50,
            "similarity": "conditional_probability",
            "pop_discount": 0.5,
            "normalize_X": True,
            "normalize_sim": True,
        },
        0.0,
    ),
    ("ItemPNN", {"K": 20, "pdf": "uniform"}, 0.0),
    ("KUNN", {"Ku": 30, "Ki": 40}, 0.0),
    ("EASE", {}, 1e-9),
    ("EASE", {"l2": 200.0, "alpha": 0.3, "density": 0.1}, 1e-9),
    ("SLIM", {}, 1e-9),
    ("SVD", {"num_components": 20}, 1e-9),
    ("SVDItemToItem", {"num_components": 20}, 1e-9),
    ("NMF", {"num_components": 10, "alpha": 0.001, "l1_ratio": 0.5}, 1e-9),
    ("NMFItemToItem", {"num_components": 10}, 1e-9),
    ("WeightedMatrixFactorization", {"num_components": 10, "iterations": 3}, 1e-5),
    ("BPRMF", {"num_components": 10, "max_epochs": 2, "validation": 0.0}, 1e-5),
    ("BPRMF", {"num_components": 10, "max_epochs": 3, "lambda_h": 0.01, "sample_size": 20000}, 1e-5),
    ("MultVAE", {**SMALL_NETWORK, "validation": 0.1}, 1e-5),
    ("MultVAE", {**SMALL_NETWORK, "validation": 0.0, "batch_size": 100}, 1e-5),
    ("RecVAE", {**SMALL_NETWORK, "stop_early": True}, 1e-5),
]
SIZES: dict[str, Any] = {
    "K": 20,
    "dim_bottleneck_layer": 10,
    "dim_hidden_layer": 30,
    "iterations": 2,
    "max_epochs": 2,
    "num_components": 6,
    "pdf": "uniform",
}
NO_CHANCE = {"Popularity", "ItemKNN", "KUNN", "EASE"}

each = pytest.mark.parametrize("name", MODELS)


def small(name: str) -> dict[str, Any]:
    """Sizes with which an algorithm is quick."""
    return {p.name: SIZES[p.name] for p in MODELS[name].parameters if p.name in SIZES}


def drawn(train: Interactions, share: float) -> npt.NDArray[np.bool_]:
    """The rows (in the order of pairs) that are held out, as the plug-in draws them."""
    from scipy.sparse import csr_matrix

    from repro_recpack.validation import held_out

    rows = train.compact()
    matrix = csr_matrix((np.ones(len(rows), dtype=np.int32), (rows.users, rows.items)))
    matrix.sort_indices()
    _, (_, out) = held_out(matrix, share, SEED)
    return np.asarray(out[rows.users, rows.items]).ravel() > 0


def request_of(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """A run with RecPack's own parameters."""
    model = MODELS[name]
    own = {p.name: p.default for p in model.parameters} | parameters
    if own.pop("validation", None) == 0:
        own["keep_last"] = True
    own = {key: None if key in model.absent and not value else value for key, value in own.items()}
    return {"name": name, "parameters": own, "validated": model.validated}


@pytest.fixture(scope="module")
def itself(
    inside: Inside, train: Interactions, tmp_path_factory: pytest.TempPathFactory
) -> list[npt.NDArray[np.float64]]:
    """The predictions of RecPack itself in each run, all in one process, which takes seconds to start."""
    folder = tmp_path_factory.mktemp("itself")
    rows = train.canonical()
    shares = [{"validation": 0.2, **parameters}["validation"] for _, parameters, _ in RUNS]
    nothing = np.zeros(len(rows), dtype=bool)
    out = {f"held_out_{n}": drawn(rows, share) if share else nothing for n, share in enumerate(shares)}
    np.savez(folder / "rows.npz", users=rows.users, items=rows.items, **out)
    request = {
        "runs": [request_of(name, parameters) for name, parameters, _ in RUNS],
        "seed": SEED,
        "n_users": train.n_users,
        "n_items": train.n_items,
    }
    (folder / "request.json").write_text(json.dumps(request))
    inside("recpack_itself.py", str(folder))
    with np.load(folder / "scores.npz") as scores:
        return [scores[str(n)] for n in range(len(RUNS))]


def test_every_algorithm_is_compared_with_recpack() -> None:
    assert {name for name, _, _ in RUNS} == set(MODELS)


@pytest.mark.parametrize("run", range(len(RUNS)), ids=lambda run: f"{RUNS[run][0]}-{run}")
def test_scores_are_those_of_recpack(
    run: int, train: Interactions, fitted: Fitted, itself: list[npt.NDArray[np.float64]]
) -> None:
    (name, parameters, tolerance), expected = RUNS[run], itself[run]
    scores = score_all(fitted(name, parameters, train), train)
    assert scores.state is not None
    np.testing.assert_array_equal(scores.state == SCORED, ~np.isnan(expected))
    np.testing.assert_allclose(scores.values, expected, rtol=0, atol=tolerance)
    assert (scores.state[:6] == UNSCORED).all()
    assert (scores.state[:, :8] == UNSCORED).all()
    assert (scores.state == SCORED).any()


@each
def test_a_seed_gives_the_same_bits_and_another_one_others(name: str, some: Interactions, fitted: Fitted) -> None:
    first = bits(score_all(fitted(name, small(name), some), some))
    shuffled = some.select(np.random.default_rng(3).permutation(len(some)))
    assert (bits(score_all(fitted(name, small(name), shuffled), some)) == first).all()
    other = bits(score_all(fitted(name, small(name), some, seed=SEED + 1), some))
    assert (other == first).all() == (name in NO_CHANCE)


@each
def test_a_score_does_not_depend_on_the_block(name: str, some: Interactions, fitted: Fitted) -> None:
    check_blocks(fitted(name, small(name), some), some)


@pytest.mark.parametrize("name", CANONICAL)
def test_canonical_names_mean_recpacks_own(name: str, some: Interactions, fitted: Fitted) -> None:
    renamed = CANONICAL[name]
    canonical, own = {}, dict(renamed.fixed)
    sizes = small(renamed.own)
    for key, mapped in renamed.mapping.items():
        if mapped[0] in sizes:
            canonical[key] = sizes.pop(mapped[0])
            own |= dict.fromkeys(mapped, canonical[key])
    expected = score_all(fitted(renamed.own, own, some), some)
    assert (bits(score_all(fitted(name, canonical, some), some)) == bits(expected)).all()


def test_canonical_popularity_has_a_score_for_every_item(some: Interactions, fitted: Fitted) -> None:
    scores = score_all(fitted("popularity", {}, some), some)
    assert scores.state is not None
    counts = some.item_counts()
    assert (scores.state[10] == np.where(counts > 0, SCORED, UNSCORED)).all()
    np.testing.assert_array_equal(scores.values[10][counts > 0], (counts / counts.max())[counts > 0])


def test_too_many_factors_are_refused(some: Interactions, fitted: Fitted) -> None:
    with pytest.raises(PluginError, match=r"100 factors are more than the \d+ users or \d+ items of the training part"):
        fitted("puresvd", {}, some)


def test_a_training_part_without_rows_is_refused(some: Interactions, fitted: Fitted) -> None:
    with pytest.raises(PluginError, match="cannot learn from a training part without rows"):
        fitted("ease", {}, some.select(np.zeros(0, dtype=np.int64)))


def test_nothing_is_printed_and_the_process_is_left_as_it_was(inside: Inside) -> None:
    assert json.loads(inside("no_traces.py")) == {"changed": [], "printed": ""}
