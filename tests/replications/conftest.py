"""A small study whose numbers are known from a run of its own, and claims about them."""

import pytest

from repro import Study
from repro.data import synthetic_interactions
from repro.protocol import Protocol

BASE = """
title = "A tiny table"
source = "Table 1 of an invented paper"
seeds = [7]

[data]
name = "ratings.csv"

[protocol]
base = "random-5fold"
split.folds = 2

[[algorithms]]
use = "reference/popularity"
label = "Pop"

[[algorithms]]
use = "reference/bias"
label = "Bias"
"""
METRICS = ["ndcg@10", "precision@10", "hit@10", "rmse", "mae"]


@pytest.fixture(scope="session")
def ratings():
    return synthetic_interactions(users=40, items=50, ratings=600, alpha=1.0, seed=5)


@pytest.fixture
def folder(tmp_path, ratings):
    """The folder of a claim, with the ratings next to it."""
    ratings.to_frame().to_csv(tmp_path / "ratings.csv", index=False)
    return tmp_path


@pytest.fixture
def write(folder):
    """Writes a claim: the base with more."""

    def written(more, base=BASE, name="claim.toml"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(base + more, encoding="utf-8")
        return path

    return written


@pytest.fixture(scope="session")
def measured(ratings, tmp_path_factory):
    """Runs of the study under changed decisions and with other seeds: their numbers by algorithm and metric."""
    data = tmp_path_factory.mktemp("data") / "ratings.csv"
    ratings.to_frame().to_csv(data, index=False)
    known = {}

    def numbers(seed=7, **changes):
        key = (seed, *sorted(changes.items()))
        if key not in known:
            algorithms = [
                {"use": "reference/popularity", "label": "Pop"},
                {"use": "reference/bias", "label": "Bias"},
            ]
            protocol = Protocol.load("random-5fold", **{"split__folds": 2, **changes})
            known[key] = Study(data, protocol, algorithms, METRICS, seed=seed).run().table()
        return known[key]

    return numbers
