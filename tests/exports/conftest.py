"""Small runs with awkward names: everything real, only small."""

import pytest

from repro import Study
from repro.data import Interactions, synthetic_interactions
from repro.protocol import Protocol

ALGORITHMS = [
    {"use": "reference/popularity", "label": "pop_100% & #1 {x} ~^\\ <script>alert('é') 中"},
    {"use": "reference/item-knn", "label": "[item] kNN", "parameters": {"k": 20}},
    {"use": "reference/bias", "label": "*bias*"},
    {"use": "reference/random", "label": "random"},
]
METRICS = ["ndcg@10", "precision@5", "recall@10", "ap@20", "rr", "catalogue-coverage@10", "rmse"]


def with_text_ids(rows):
    """The same interactions, of users and items whose ids have blanks, signs of comments and markup in them."""
    frame = rows.to_frame()
    frame["user"] = "user #" + frame["user"].astype(str)
    frame["item"] = "item 50% <b>" + frame["item"].astype(str) + "</b>"
    return Interactions.from_frame(frame)


@pytest.fixture(scope="session")
def data():
    return synthetic_interactions(users=80, items=60, ratings=1600, alpha=1.0, seed=4)


@pytest.fixture(scope="session")
def run(data, tmp_path_factory):
    study = Study(
        with_text_ids(data),
        Protocol.load("random-5fold", split__folds=2),
        ALGORITHMS,
        METRICS,
        seed=3,
        question='Which | is "it", & why?',
    )
    return study.run(tmp_path_factory.mktemp("export") / "run").folder


@pytest.fixture(scope="session")
def one_relevant(data, tmp_path_factory):
    """Every relevant item has a list of its own; ids are numbers."""
    protocol = Protocol.load("bellogin-1r-ti-nn", candidates__sample_size=20)
    study = Study(data, protocol, ["reference/popularity", "reference/item-knn"], ["precision@5", "rr"], seed=3)
    return study.run(tmp_path_factory.mktemp("one") / "run").folder


@pytest.fixture(scope="session")
def predictions_only(data, tmp_path_factory):
    study = Study(data, Protocol.load("random-5fold", split__folds=2), ["reference/bias"], ["rmse"], seed=3)
    return study.run(tmp_path_factory.mktemp("predictions") / "run").folder
