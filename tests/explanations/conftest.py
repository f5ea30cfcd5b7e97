"""A small study whose scores are kept: everything real, only small."""

import pandas as pd
import pytest

from repro import Study
from repro.data import Interactions, synthetic_interactions
from repro.explanations import ScoredRun
from repro.protocol import Protocol

ALGORITHMS = ["reference/popularity", "reference/item-knn", "reference/puresvd", "reference/bias"]
METRICS = ["ndcg@10", "precision@5", "recall@20", "auc", "rmse", "catalogue-coverage@10", "f1[average=means]@5"]


@pytest.fixture(scope="session")
def data():
    rows = synthetic_interactions(users=90, items=110, ratings=1800, alpha=1.0, seed=5)
    frame = rows.to_frame()
    # Some items that only the rarest users know, so that there are items nobody scores.
    extra = pd.DataFrame({"user": frame["user"].iloc[:6], "item": range(9000, 9006), "rating": 5.0})
    return Interactions.from_frame(pd.concat([frame[["user", "item", "rating"]], extra], ignore_index=True))


@pytest.fixture(scope="session")
def study(data):
    return Study(
        data,
        Protocol.load("random-5fold", split__folds=2),
        ALGORITHMS,
        METRICS,
        seed=7,
        question="Which is which?",
    )


@pytest.fixture(scope="session")
def folder(study, tmp_path_factory):
    return study.run(tmp_path_factory.mktemp("kept") / "run", keep_scores=True).folder


@pytest.fixture(scope="session")
def kept(folder, data):
    return ScoredRun.open(folder, data)
