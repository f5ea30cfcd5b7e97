"""The contract of plug-ins, for the algorithms with several parameters; and what they mark as unscored."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import SCORED, UNSCORED, make_recommender, parameters_of, plugins
from repro.testing import PluginContract
from repro.testing.checks import SEED, score_all

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("random", {}),
    ("popularity", {}),
    ("item-mean", {}),
    ("bias", {"user_damping": 5.0, "item_damping": 2.0}),
    ("user-knn", {"k": 4}),
    ("user-knn", {"k": 5, "similarity": "pearson", "center": "mean", "min_overlap": 3}),
    ("user-knn", {"k": 3, "neighbourhood": "all", "normalise": False}),
    ("item-knn", {"k": 4, "center": "baseline", "user_damping": 3.0, "item_damping": 4.0, "shrinkage": 10.0}),
    ("item-knn", {"k": 5, "similarity": "pearson", "center": "mean"}),
    ("item-knn", {"k": 3, "normalise": False, "center": "baseline", "shrinkage": 100.0}),
    ("puresvd", {"factors": 7}),
    ("ease", {"regularisation": 3.0}),
    ("ease", {"regularisation": 10.0, "values": "ratings"}),
    ("ease", {"penalty": "count", "signs": "positive", "side": "rows"}),
    ("slim", {"l1": 0.5, "l2": 2.0}),
    ("slim", {"l1": 0.1, "scale": "mean", "signs": "any", "values": "ratings"}),
    ("puresvd", {"factors": 7, "missing": "item-mean", "scaling": "both-sides"}),
    ("puresvd", {"factors": 5, "missing": "user-mean", "subtracted": "yes"}),
    ("rp3beta", {"k": 6, "pruned": "rows-then-columns", "normalise": True}),
    ("popularity", {"count": "sum", "scale": "quantile"}),
    ("plsa", {"factors": 5, "iterations": 12}),
    ("plsa", {"factors": 5, "iterations": 12, "inverse_temperature": 0.8}),
    ("implicit-als", {"factors": 4, "epochs": 2}),
    ("implicit-als", {"factors": 4, "epochs": 2, "penalty": "count-and-zeros", "order": "items"}),
    ("explicit-als", {"factors": 4, "epochs": 2}),
    ("explicit-als", {"factors": 4, "epochs": 2, "offset": "none", "regularisation": 0.0}),
    ("biased-mf", {"factors": 4, "epochs": 3}),
    ("biased-mf", {"factors": 4, "epochs": 3, "offset": "none", "rows": "sorted"}),
    ("nmf", {"factors": 4, "epochs": 5}),
    ("nmf", {"factors": 4, "epochs": 5, "loss": "kullback-leibler", "missing": "left-out", "penalty": "count"}),
    ("item-conditional", {}),
    ("expected-utility", {}),
    ("expected-utility", {"probability": "prediction", "utility": "item-mean", "k": 6}),
    ("expected-utility", {"probability": "item-conditional", "utility": "prediction", "k": 6}),
]
NOT_PERSONAL = {"random", "popularity", "item-mean", "bias"}


class TestContract(PluginContract):
    plugin = "repro_reference.plugin"
    algorithms: ClassVar = VARIANTS


@pytest.mark.parametrize(("name", "parameters"), VARIANTS, ids=str)
def test_what_is_unknown_is_unscored(name: str, parameters: dict[str, Any], train: Interactions) -> None:
    _, algorithm = plugins().algorithm(f"reference/{name}")
    recommender = make_recommender(algorithm, parameters_of(algorithm, parameters), name)
    recommender.fit(train, seed=SEED)
    scores = score_all(recommender, train)
    if recommender.predicts:
        pairs = recommender.predict_pairs(*np.indices(scores.values.shape, dtype=np.int32).reshape(2, -1))
        assert (pairs.values.view(np.uint64) == scores.values.ravel().view(np.uint64)).all()
    if name == "random":
        assert scores.state is None
        assert np.isfinite(scores.values).all()
        return
    assert scores.state is not None
    assert (np.isnan(scores.values) == (scores.state == UNSCORED)).all()
    assert set(np.unique(scores.state)) == {SCORED, UNSCORED}
    assert (scores.state[:, 28:] == UNSCORED).all()
    assert (scores.state[38:, :28] == (SCORED if name in NOT_PERSONAL else UNSCORED)).all()
    if "knn" not in name and "prediction" not in parameters.values():
        assert (scores.state[:38, :28] == SCORED).all()
