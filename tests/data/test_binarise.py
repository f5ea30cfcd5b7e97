"""Binary ratings, before the split and in training alone."""

import pandas as pd
import pytest

from repro import Study
from repro.data import Interactions, prepare
from repro.errors import DataError, ProtocolError
from repro.protocol import Protocol, resolve
from repro.study.fold_data import fold_data, validation_data
from repro.study.plan import make_plan

REST = {"split.strategy": "kfold", "relevance.rule": "any", "candidates.base": "all-items"}
ROWS = pd.DataFrame(
    [("u", "a", 5.0), ("u", "b", 3.5), ("u", "c", 4.0), ("v", "b", 1.0), ("w", "a", 2.0), ("w", "c", 4.5)],
    columns=["user", "item", "rating"],
)


def protocol(**decisions):
    return resolve({**REST, **{f"data.{name}": value for name, value in decisions.items()}}, {})


def prepared(rows=ROWS, **decisions):
    result, impacts = prepare(Interactions.from_frame(rows), protocol(**decisions), 0)
    return result, {impact.decision: impact.sentence for impact in impacts}


def test_rows_below_are_left_out_and_the_others_are_implicit():
    data, impacts = prepared(binarise=4.0)
    assert data.to_frame().to_numpy().tolist() == [["u", "a"], ["u", "c"], ["w", "c"]]
    assert not data.explicit
    assert impacts["data.binarise"] == "data.binarise=4.0: 3 of 6 rows positive, with the rating 1"
    assert impacts["data.binarise_below"] == "data.binarise_below=drop: 3 of 6 rows left out"


def test_rows_below_stay_as_zeros():
    data, impacts = prepared(binarise=4.0, binarise_below="zero")
    assert data.to_frame()["rating"].tolist() == [1.0, 0.0, 1.0, 0.0, 0.0, 1.0]
    assert data.explicit
    assert impacts["data.binarise_below"] == "data.binarise_below=zero: 3 of 6 rows kept with the rating 0"


def test_filters_of_ratings_come_before_and_cores_after():
    data, _ = prepared(binarise=2.0, max_rating=4.0, user_core=2)  # of b 3.5, c 4, b 1, a 2 only v's 1 is negative
    assert data.to_frame().to_numpy().tolist() == [["u", "b"], ["u", "c"]]


def test_data_without_ratings_and_thresholds_that_leave_nothing_are_refused():
    with pytest.raises(DataError, match=r"data.binarise = 3.0 compares ratings, and this data set has none"):
        prepared(ROWS.drop(columns="rating"), binarise=3.0)
    with pytest.raises(DataError, match=r"data.binarise = 6.0 leaves no rows"):
        prepared(binarise=6.0)


def test_relevance_by_ratings_is_refused_where_these_are_gone(tmp_path):
    rules = Protocol.load("random-5fold").replace({"data.binarise": 3.0, "split.folds": 2})
    with pytest.raises(ProtocolError, match=r"compares ratings, and this data set has none; use relevance.rule"):
        make_plan(Study(ROWS, rules, "reference/popularity", "rr"))


def fitted(**decisions):
    """The rows that are fitted and held out in the first of two folds: a plan with a validation part."""
    rows = pd.DataFrame([(u, i, 1 + (3 * u + i) % 5) for u in range(8) for i in range(6)], columns=ROWS.columns)
    stated = {f"data.{name}": value for name, value in decisions.items()}
    rules = Protocol.load("random-5fold").replace({"split.folds": 2, "split.validation_share": 0.3, **stated})
    plan = make_plan(Study(rows, rules, "reference/popularity", "rr"))
    return plan, plan.split.folds[0]


@pytest.mark.parametrize("below", ["drop", "zero"])
@pytest.mark.parametrize("part", [fold_data, validation_data])
def test_in_training_alone_held_out_rows_keep_their_ratings(below, part):
    plan, fold = fitted(binarise=4.0, binarise_below=below, binarise_rows="training")
    plain, _ = fitted()
    data, usual = part(plan, fold), part(plain, plain.split.folds[0])
    assert data.test.digest == usual.test.digest and data.train.digest == usual.train.digest
    expected = usual.train.to_frame()
    expected["rating"] = (expected["rating"] >= 4).astype(float)
    if below == "drop":
        expected = expected[expected["rating"] == 1].drop(columns="rating")
    pd.testing.assert_frame_equal(data.fitted.to_frame(), expected.reset_index(drop=True), check_dtype=False)


def test_what_was_made_binary_in_training_is_counted():
    plan, _ = fitted(binarise=4.0, binarise_rows="training")
    train = [fold_data(plan, fold).train.ratings for fold in plan.split.folds]
    positive, rows = sum(int((ratings >= 4).sum()) for ratings in train), sum(map(len, train))
    sentences = [impact.sentence for impact in plan.data_impacts]
    assert f"data.binarise=4.0: {positive} of {rows} rows positive, with the rating 1" in sentences


def test_files_of_a_split_are_made_binary_too(tmp_path):
    ROWS.iloc[:4].to_csv(tmp_path / "train.csv", index=False)
    ROWS.iloc[4:].to_csv(tmp_path / "test.csv", index=False)
    files = {
        "split.strategy": "files",
        "split.train_file": str(tmp_path / "train.csv"),
        "split.test_file": str(tmp_path / "test.csv"),
        "split.unseen_users": "keep",
        "relevance.rule": "any",
        "data.binarise": 4.0,
    }
    plan = make_plan(Study(ROWS, Protocol.load("random-5fold").replace(files), "reference/popularity", "rr"))
    data = fold_data(plan, plan.split.folds[0])
    assert data.train.to_frame().to_numpy().tolist() == [["u", "a"], ["u", "c"]]
    assert data.test.to_frame().to_numpy().tolist() == [["w", "c"]]
    assert data.whole.n_users == 2 and data.whole.n_items == 2  # v and b are gone
    assert "data.binarise_below=drop: 2 of 4 rows of split.train_file are left out" in [
        impact.sentence for impact in plan.split.impacts
    ]
