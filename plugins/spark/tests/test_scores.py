"""Scores in a worker: those of Spark itself, always the same bits, and unscored for unknown users and items.

A Java machine takes seconds to start and tens of seconds to become fast, so all of these are left to `make test-all`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.errors import PluginError
from repro.plugin import SCORED, UNSCORED, CheckedRecommender, plugins
from repro.testing.checks import bits, check_blocks, codes, score_all

pytestmark = pytest.mark.slow

SEED = 11
Make = Callable[..., CheckedRecommender]
FEW_BLOCKS = {"numUserBlocks": 2, "numItemBlocks": 2}
QUICK = {"rank": 4, "maxIter": 2, **FEW_BLOCKS}
NONNEGATIVE = {"rank": 5, "maxIter": 2, "nonnegative": True, **FEW_BLOCKS}
# Name and parameters here, and Spark's own.
RUNS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("ALS", {"maxIter": 3}, {"maxIter": 3}),
    ("ALS", NONNEGATIVE, NONNEGATIVE),
    (
        "implicit-als",
        {"factors": 8, "epochs": 3, "regularisation": 0.05, "alpha": 2.0, **FEW_BLOCKS},
        {"rank": 8, "maxIter": 3, "regParam": 0.05, "alpha": 2.0, "implicitPrefs": True, **FEW_BLOCKS},
    ),
]


def test_scores_are_those_of_spark(
    train: Interactions, fitted: Make, inside: Callable[..., None], tmp_path: Path
) -> None:
    users, items = codes(60), codes(train.n_items)
    rows = train.canonical()
    request = [array.ravel().astype(np.int32) for array in np.meshgrid(users, items, indexing="ij")]
    np.savez(
        tmp_path / "rows.npz",
        user=rows.users,
        item=rows.items,
        rating=rows.ratings.astype(np.float32),
        asked_user=request[0],
        asked_item=request[1],
    )
    (tmp_path / "request.json").write_text(json.dumps({"seed": SEED, "runs": [own for _, _, own in RUNS]}))
    inside("spark_itself.py", str(tmp_path))
    with np.load(tmp_path / "scores.npz") as stored:
        expected = [stored[str(n)].reshape(len(users), len(items)) for n in range(len(RUNS))]
    for (name, parameters, _), own in zip(RUNS, expected, strict=True):
        recommender = fitted(name, parameters, train, SEED)
        scores = recommender.score_users(users, items)
        np.testing.assert_allclose(scores.values, own, rtol=0, atol=1e-5)
        assert scores.state is not None
        np.testing.assert_array_equal(scores.state == UNSCORED, np.isnan(own))
        assert (scores.state[:6] == UNSCORED).all()
        assert (scores.state[:, :8] == UNSCORED).all()
        assert (scores.state[6:, 8:][:, rows.item_counts()[8:] > 0] == SCORED).all()
        assert recommender.predicts is (name == "ALS")
        if recommender.predicts:
            predicted = recommender.predict_pairs(*request)
            np.testing.assert_allclose(predicted.values, own.ravel(), rtol=0, atol=1e-5)
            np.testing.assert_array_equal(predicted.state, scores.state.ravel())


@pytest.mark.parametrize("kind", [{}, {"nonnegative": True}, {"implicitPrefs": True}], ids=str)
def test_a_seed_gives_the_same_bits_and_another_one_others(
    kind: dict[str, Any], some: Interactions, fitted: Make
) -> None:
    first = bits(score_all(fitted("ALS", QUICK | kind, some), some))
    shuffled = some.select(np.random.default_rng(3).permutation(len(some)))
    assert (bits(score_all(fitted("ALS", QUICK | kind, shuffled), some)) == first).all()
    assert (bits(score_all(fitted("ALS", QUICK | kind, some, SEED + 1), some)) != first).any()


def test_a_score_does_not_depend_on_the_block(some: Interactions, fitted: Make) -> None:
    check_blocks(fitted("ALS", QUICK, some), some)


def test_ratings_are_not_predicted_from_implicit_feedback(make: Make) -> None:
    assert not make("ALS", {"implicitPrefs": True}).predicts
    assert make("ALS", {}).predicts


def test_many_epochs_do_not_overflow_the_stack(some: Interactions, fitted: Make) -> None:
    scores = score_all(fitted("ALS", QUICK | {"maxIter": 60}, some), some)
    assert np.isfinite(scores.values[10:90, 10:100]).any()


def test_a_training_part_without_rows_is_refused(some: Interactions, fitted: Make) -> None:
    with pytest.raises(PluginError, match="cannot learn from a training part without rows"):
        fitted("ALS", {}, some.select(np.zeros(0, dtype=np.int64)))


def test_spark_ends_with_its_worker_and_leaves_no_files(
    some: Interactions, fitted: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plugins().workers.close()
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    fitted("ALS", QUICK, some)
    assert list(tmp_path.iterdir())
    plugins().workers.close()
    deadline = time.monotonic() + 120
    while list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert not list(tmp_path.iterdir())


def test_the_worker_reports_a_missing_java(make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plugins().workers.close()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(PluginError, match=r"Spark needs Java 17 or later, and JAVA_HOME = .* has no bin/java"):
        make("implicit-als", {})
    plugins().workers.close()
