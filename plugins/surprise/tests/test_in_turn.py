"""NormalPredictor drawn in turn: the numbers of Surprise's own cross-validation, from one seeded generator."""

from __future__ import annotations

import numpy as np
import pytest
import surprise

import repro
from repro.data import Interactions
from repro.errors import PluginError
from repro_surprise.in_turn import DrawnInTurn, rows_before


@pytest.mark.parametrize("rows", [10, 11, 12, 13, 14, 100_003])
def test_rows_before_a_fold_are_those_that_kfold_holds_out_before_it(rows: int) -> None:
    data = surprise.Dataset.load_from_df(_frame(rows), surprise.Reader())
    before = 0
    for fold, (train, test) in enumerate(surprise.model_selection.KFold(5, random_state=1).split(data)):
        assert rows_before(train.n_ratings, fold, 5) == before
        before += len(test)


def test_a_study_has_the_numbers_of_a_script_that_seeds_numpy_once(train: Interactions) -> None:
    frame = train.to_frame()[["user", "item", "rating"]]
    data = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(1, 5)))
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    folds = surprise.model_selection.KFold(n_splits=5, random_state=3)
    own = surprise.model_selection.cross_validate(surprise.NormalPredictor(), data, ["rmse", "mae"], folds)
    np.random.set_state(state)  # noqa: NPY002
    protocol = repro.Protocol.load(
        "random-5fold",
        data__order="splitter",
        split__strategy="surprise/KFold",
        predict__clip="scale",
        data__scale="stated",
        data__scale_min=1.0,
        data__scale_max=5.0,
    )
    algorithms = [{"use": "surprise/NormalPredictor-in-turn", "label": "normal", "seed": "study"}]
    actual = repro.Study(frame, protocol, algorithms, ["rmse", "mae"], seed=3).run().results
    for metric, theirs in (("rmse", own["test_rmse"]), ("mae", own["test_mae"])):
        ours = actual[(actual["metric"] == metric) & (actual["fold"] != "all")].sort_values("fold")["value"]
        assert ours.to_numpy() == pytest.approx(theirs, abs=1e-12)


def test_one_fold_is_refused() -> None:
    with pytest.raises(PluginError, match="n_splits = 1 is too few"):
        DrawnInTurn(n_splits=1)


def _frame(rows: int):
    import pandas as pd

    positions = np.arange(rows)
    return pd.DataFrame({"user": positions, "item": positions % 7, "rating": 1.0 + positions % 5})
