"""Scores against those that RecTools recommends by, inside its environment."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import plugins
from repro.plugin.isolation.client import Launch

CASES: list[tuple[str, dict[str, Any]]] = [
    ("popularity", {}),
    ("popularity", {"popularity": "mean_weight"}),
    ("PopularModel", {"period": 20.0}),
    ("random", {}),
    ("RandomModel", {}),
    ("ease", {"regularisation": 80.0}),
    ("ease", {"regularisation": 200.0, "values": "binary"}),
    ("EASEModel", {"regularization": 500.0}),
    ("puresvd", {"factors": 8}),
    ("PureSVDModel", {"factors": 5, "maxiter": 300}),
    ("implicit-als", {"factors": 12, "epochs": 3, "alpha": 4.0}),
    ("ImplicitALSWrapperModel", {"factors": 12, "iterations": 3, "alpha": 2.0, "values": "binary"}),
    ("ImplicitALSWrapperModel", {"factors": 12, "iterations": 3, "fit_features_together": True}),
    ("bpr", {"factors": 12, "epochs": 4}),
    ("ImplicitBPRWrapperModel", {"factors": 12, "iterations": 4, "learning_rate": 0.1}),
    ("item-knn", {"k": 9, "similarity": "cosine"}),
    ("item-knn", {"k": 9, "similarity": "tfidf"}),
    ("item-knn", {"k": 9, "similarity": "bm25", "values": "binary"}),
    ("item-knn", {"k": 9, "similarity": "dot"}),
    ("ImplicitItemKNNWrapperModel", {"model": "BM25Recommender", "K": 9, "K1": 2.0, "B": 0.5}),
]


def compared(launch: Launch, train: Interactions, folder: Path) -> list[dict[str, float]]:
    columns = ("users", "items", "ratings", "timestamps", "user_ids", "item_ids")
    np.savez(folder / "train.npz", **{name: getattr(train, name) for name in columns})
    for package in launch.packages:
        (folder / package.name).symlink_to(package)
    script = Path(__file__).with_name("against_library.py")
    done = subprocess.run(
        [launch.python, script, folder / "train.npz"],
        input=json.dumps(CASES),
        env={**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: list[dict[str, float]] = json.loads(done.stdout)
    return found


def assert_same(found: list[dict[str, float]]) -> None:
    for case, one in zip(CASES, found, strict=True):
        assert one["states"] == 0, case
        # RecTools adds up in single precision. Its EASE sums hundreds of terms of both signs, and is the farthest
        # from the exact sum: 1.6e-5 of the spread of the scores.
        assert one["relative"] < 1e-5, (case, one)
        assert one["of_spread"] < (3e-5 if "ease" in case[0].lower() else 1e-5), (case, one)


def test_every_algorithm_is_compared_with_rectools() -> None:
    assert {name for name, _ in CASES} == {algorithm.name for algorithm in plugins().framework("rectools").algorithms}


def test_scores_are_those_of_rectools_on_a_small_table(launch: Launch, train: Interactions, tmp_path: Path) -> None:
    found = compared(launch, train, tmp_path)
    assert_same(found)
    assert {one["unscored"] for case, one in zip(CASES, found, strict=True) if case[0] == "puresvd"} == {136}


@pytest.mark.slow
def test_scores_are_those_of_rectools_on_movielens(launch: Launch, movielens: Interactions, tmp_path: Path) -> None:
    assert_same(compared(launch, movielens, tmp_path))
