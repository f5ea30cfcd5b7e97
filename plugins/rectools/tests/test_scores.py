"""Scores against those of RecTools' recommendations, inside its environment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import plugins
from repro.testing import IsolatedFramework

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


def compared(framework: IsolatedFramework, train: Interactions, folder: Path) -> list[dict[str, float]]:
    columns = ("users", "items", "ratings", "timestamps", "user_ids", "item_ids")
    np.savez(folder / "train.npz", **{name: getattr(train, name) for name in columns})
    script = Path(__file__).with_name("against_library.py")
    differences: list[dict[str, float]] = json.loads(
        framework.run(script, str(folder / "train.npz"), stdin=json.dumps(CASES))
    )
    return differences


def assert_same(differences: list[dict[str, float]]) -> None:
    for case, difference in zip(CASES, differences, strict=True):
        assert difference["states"] == 0, case
        # RecTools adds in single precision. Its EASE adds hundreds of terms of both signs, and is the farthest from the
        # exact sum: 1.6e-5 of the spread of the scores.
        assert difference["relative"] < 1e-5, (case, difference)
        assert difference["of_spread"] < (3e-5 if "ease" in case[0].lower() else 1e-5), (case, difference)


def test_every_algorithm_is_compared_with_rectools() -> None:
    assert {name for name, _ in CASES} == {algorithm.name for algorithm in plugins().framework("rectools").algorithms}


def test_scores_are_those_of_rectools_on_a_small_table(
    framework: IsolatedFramework, train: Interactions, tmp_path: Path
) -> None:
    differences = compared(framework, train, tmp_path)
    assert_same(differences)
    assert differences[[name for name, _ in CASES].index("puresvd")]["unscored"] == 136


@pytest.mark.slow
def test_scores_are_those_of_rectools_on_movielens(
    framework: IsolatedFramework, movielens: Interactions, tmp_path: Path
) -> None:
    assert_same(compared(framework, movielens, tmp_path))
