"""Areas below curves of all users together: the same however users are cut into blocks."""

import pandas as pd
import pytest

from repro import Study
from repro.protocol import Protocol

METRICS = [
    "groc",
    "croc",
    "croc[normalised=perfect,rates=means]",
    "pr-auc",
    "pr-auc[join=lengths]",
    "pr-auc[join=users,interpolation=trapezoid]",
]


def run(data, folder, block_users, metrics=METRICS, **changes):
    algorithms = ["reference/random", "reference/popularity", "reference/item-knn"]
    study = Study(data, Protocol.load("random-5fold", split__folds=2, **changes), algorithms, metrics, seed=11)
    return study.run(folder, block_users=block_users).results


def test_blocks_change_no_bit(data, tmp_path):
    small, large = (run(data, tmp_path / str(size), size) for size in (64, 100_000))
    pd.testing.assert_frame_equal(small, large, check_exact=True)
    assert small["value"].between(0, 1).all()
    assert len(small) == len(METRICS) * 3 * (2 + 1)  # algorithms, folds and all of them


def test_a_random_recommender_is_at_one_half_and_popularity_above(data, tmp_path):
    table = run(data, tmp_path / "run", 1024, ["groc", "croc"], ties__break="expected")
    means = table.groupby(["algorithm", "metric"])["value"].mean()
    for metric in ("groc", "croc"):
        by_algorithm = means.xs(metric, level="metric")
        at_random, popular = (by_algorithm[by_algorithm.index.str.contains(name)].iloc[0] for name in ("random", "pop"))
        assert at_random == pytest.approx(0.5, abs=0.05)
        assert popular > at_random + 0.1
