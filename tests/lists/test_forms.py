"""The same recommendations and truth in every form that people have give the same bits, and those of a plain loop."""

import doctest
import math
from collections import defaultdict, namedtuple

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import ranx
from scipy import sparse

import repro
from repro.errors import DataError
from repro.lists import evaluate

METRICS = ["ndcg@2", "ndcg@5", "precision@3", "recall@3", "ap@5", "rr"]

# Scores of four users for six items; NaN where an item is not in a list. Tied scores would make forms differ.
SCORES = np.array(
    [
        [0.9, 0.1, np.nan, 0.5, 0.3, np.nan],
        [np.nan, 0.2, 0.4, np.nan, 0.8, 0.6],
        [1.5, -0.5, 0.0, 2.5, np.nan, np.nan],
        [np.nan, np.nan, 0.7, np.nan, np.nan, np.nan],
    ]
)
RATINGS = np.array([[0, 1, 1, 0, 0, 0], [0, 0, 1, 0, 1, 1], [1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]])
ROWS = [(user, item, float(SCORES[user, item])) for user, item in np.argwhere(~np.isnan(SCORES)).tolist()]
JUDGED = [(user, item, int(RATINGS[user, item])) for user, item in np.argwhere(RATINGS).tolist()]


def by_user(rows):
    nested = defaultdict(dict)
    for user, item, value in rows:
        nested[user][item] = value
    return dict(nested)


def ranked(rows):
    return {user: sorted(scores, key=scores.get, reverse=True) for user, scores in by_user(rows).items()}


def plain_loop():
    """The metrics as a textbook has them, in plain Python."""
    lists, relevant = ranked(ROWS), {user: set(ratings) for user, ratings in by_user(JUDGED).items()}

    def dcg(hits):
        return sum(hit / math.log2(rank + 1) for rank, hit in enumerate(hits, start=1))

    values = defaultdict(list)
    for user, items in relevant.items():
        hits = [item in items for item in lists[user]]
        for k in (2, 5):
            values[f"ndcg@{k}"].append(dcg(hits[:k]) / dcg([1] * min(k, len(items))))
        values["precision@3"].append(sum(hits[:3]) / 3)
        values["recall@3"].append(sum(hits[:3]) / len(items))
        precisions = [sum(hits[: n + 1]) / (n + 1) for n, hit in enumerate(hits[:5]) if hit]
        values["ap@5"].append(sum(precisions) / min(len(items), 5))
        values["rr"].append(next((1 / (n + 1) for n, hit in enumerate(hits) if hit), 0.0))
    return {name: sum(each) / len(each) for name, each in values.items()}


def frame(rows, value="score", id_=int):
    return pd.DataFrame([(id_(u), id_(i), v) for u, i, v in rows], columns=["user", "item", value])


LISTS = frame(ROWS)
TRUTH = frame(JUDGED, "rating")
TEXT = (frame(ROWS, id_=str), frame(JUDGED, "rating", str))
POLARS = (pl.from_pandas(TEXT[0]), pl.from_pandas(TEXT[1]))
RANKED = ranked(ROWS)
PADDED = np.array([[*RANKED[user], *[-1] * 6][:4] for user in range(4)])
CSR = sparse.csr_array((LISTS["score"], (LISTS["user"], LISTS["item"])), shape=(4, 6))
Prediction = namedtuple("Prediction", "uid iid r_ui est details")
CATEGORIES = pl.Enum(["5", "4", "3", "2", "1", "0", "unused"])


def spelled(spelling):
    return LISTS.set_axis(spelling.split(), axis=1), TRUTH.set_axis([*spelling.split()[:2], "rating"], axis=1)


class OnlyArrow:
    """A table of a library that is known by Arrow's interface alone."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


FORMS = {
    "pandas, text": TEXT,
    "pandas, Arrow": tuple(table.convert_dtypes(dtype_backend="pyarrow") for table in TEXT),
    "pandas, nullable": tuple(table.convert_dtypes() for table in (LISTS, TRUTH)),
    "pandas, categories": tuple(table.astype({"user": "category", "item": "category"}) for table in TEXT),
    "pandas, floats": tuple(table.astype({"user": float, "item": float}) for table in (LISTS, TRUTH)),
    "pandas, files' names": spelled("userId movieId score"),
    "pandas, others' names": spelled("user_id item_id prediction"),
    "pandas, index": (LISTS.set_index(["user", "item"]), TRUTH.set_index(["user", "item"])),
    "series, index": (LISTS.set_index(["user", "item"])["score"], TRUTH.set_index(["user", "item"])["rating"]),
    "series of lists": (pd.Series(RANKED), TRUTH.groupby("user")["item"].apply(list)),
    "Polars": POLARS,
    "Polars, lazy": tuple(table.lazy().with_columns(other=pl.lit(1)) for table in POLARS),
    "Polars, whole numbers": (pl.from_pandas(LISTS), pl.from_pandas(TRUTH)),
    "Polars, categories": tuple(t.with_columns(pl.col("user", "item").cast(pl.Categorical)) for t in POLARS),
    "Polars, enum": tuple(t.with_columns(pl.col("user", "item").cast(CATEGORIES)) for t in POLARS),
    "Polars, chunks": tuple(pl.concat([t[:2], t[2:3], t[3:]], rechunk=False) for t in POLARS),
    "Arrow": tuple(pa.Table.from_pandas(table) for table in TEXT),
    "Arrow, batch": tuple(pa.RecordBatch.from_pandas(table) for table in TEXT),
    "Arrow, interface": tuple(OnlyArrow(pa.Table.from_pandas(table)) for table in TEXT),
    "Arrow, dictionaries": tuple(
        pa.table({n: pa.array(t[n]).dictionary_encode() if n in ("user", "item") else t[n] for n in t}) for t in TEXT
    ),
    "dictionaries": (by_user(ROWS), by_user(JUDGED)),
    "dictionaries, text": tuple(
        {str(user): {str(item): value for item, value in of.items()} for user, of in by_user(rows).items()}
        for rows in (ROWS, JUDGED)
    ),
    "lists by user": (RANKED, {user: list(items) for user, items in by_user(JUDGED).items()}),
    "arrays and sets by user": (
        {user: np.array(items) for user, items in RANKED.items()},
        {user: set(items) for user, items in by_user(JUDGED).items()},
    ),
    "pairs by user": (
        {user: list(items.items()) for user, items in by_user(ROWS).items()},
        {user: list(items.items()) for user, items in by_user(JUDGED).items()},
    ),
    "lists by position": ([RANKED[user] for user in range(4)], [list(by_user(JUDGED)[user]) for user in range(4)]),
    "dictionaries by position": ([by_user(ROWS)[u] for u in range(4)], [by_user(JUDGED)[u] for u in range(4)]),
    "records": (LISTS.to_dict("records"), TRUTH.to_dict("records")),
    "columns": (LISTS.to_dict("list"), TRUTH.to_dict("series")),
    "array of ranked items": (PADDED, [list(by_user(JUDGED)[user]) for user in range(4)]),
    "record arrays": (LISTS.to_records(index=False), TRUTH.to_records(index=False)),
    "dense": (repro.Matrix(SCORES), repro.Matrix(RATINGS)),
    "dense, names": (
        repro.Matrix(SCORES, users=list("abcd"), items=list("uvwxyz")),
        repro.Matrix(pd.DataFrame(RATINGS, index=list("abcd"), columns=list("uvwxyz"))),
    ),
    "sparse": (CSR, sparse.csr_matrix(RATINGS)),
    "sparse, others": (CSR.tocoo(), sparse.csc_array(RATINGS)),
    "mixed, whole numbers as ids": (CSR, TRUTH),
    "ranx": (
        ranx.Run({f"u{u}": {f"i{i}": s for i, s in of.items()} for u, of in by_user(ROWS).items()}),
        ranx.Qrels({f"u{u}": {f"i{i}": r for i, r in of.items()} for u, of in by_user(JUDGED).items()}),
    ),
    "DuckDB": (duckdb.from_df(LISTS), duckdb.from_df(TRUTH)),
    "interactions": (LISTS, repro.Interactions.from_frame(TRUTH)),
}


def numbers(recommendations, truth, **options):
    table = evaluate(recommendations, truth, metrics=METRICS, **options)
    return dict(zip(table["metric"], table["value"], strict=True))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_bits(form):
    assert numbers(*FORMS[form]) == numbers(LISTS, TRUTH) == pytest.approx(plain_loop(), abs=1e-14)


@pytest.mark.parametrize("form", FORMS)
def test_curves_take_every_form_as_well(form):
    expected = repro.curves(LISTS, TRUTH, join="lengths")
    pd.testing.assert_frame_equal(repro.curves(*FORMS[form], join="lengths"), expected, check_exact=True)


@pytest.mark.parametrize("form", [form for form in FORMS if not form.startswith("ranx")])
def test_training_rows_and_earlier_lists_take_every_form(form):
    recommendations, truth = FORMS[form]
    requested = ["novelty@3", "temporal-diversity@2"]
    options = {"metrics": requested, "train": truth, "previous": [recommendations]}
    expected = evaluate(LISTS, TRUTH, metrics=requested, train=TRUTH, previous=[LISTS])
    assert evaluate(recommendations, truth, **options)["value"].tolist() == expected["value"].tolist()


def test_interactions_of_every_form_of_a_truth():
    expected = repro.Interactions.from_frame(TRUTH)
    for form, (_, truth) in FORMS.items():
        if form in ("ranx", "dense, names"):  # other ids
            continue
        rows = repro.Interactions.from_frame(truth)
        assert (rows.users.tolist(), rows.items.tolist()) == (expected.users.tolist(), expected.items.tolist()), form
        assert rows.user_ids.tolist() == expected.user_ids.tolist(), form


def test_predictions_of_surprise_with_their_truth_as_arrow():
    predictions = [Prediction(u, i, 1.0, s, {"was_impossible": False}) for u, i, s in ROWS if RATINGS[u, i]]
    alone = pd.DataFrame(predictions)
    arrow = pl.from_pandas(alone[["uid", "iid", "r_ui", "est"]])
    assert numbers(predictions, None) == numbers(alone, None) == numbers(arrow, None)


def test_large_whole_numbers_stay_apart():
    near = [2**62 + 1, 2**62 + 2]
    lists = {"user": [1, 1], "item": near, "score": [2.0, 1.0]}
    for truth in ({1: [near[1]]}, pl.DataFrame({"user": [1], "item": [near[1]]}), {"1": [str(near[1])]}):
        for recommended in (lists, pl.DataFrame(lists), pd.DataFrame(lists), pd.DataFrame(lists).convert_dtypes()):
            assert numbers(recommended, truth)["rr"] == 0.5


def test_a_stored_zero_of_a_sparse_matrix_is_a_score_or_a_rating():
    scores = sparse.csr_array((np.array([0.0, -1.0]), (np.array([0, 0]), np.array([2, 4]))), shape=(1, 6))
    assert numbers(scores, {0: [4]})["rr"] == 0.5
    judged = sparse.csr_array((np.array([0.0, 1.0]), (np.array([0, 1]), np.array([2, 4]))), shape=(2, 6))
    rows = repro.Interactions.from_frame(judged)
    assert (rows.user_ids[rows.users].tolist(), rows.item_ids[rows.items].tolist()) == ([0, 1], [2, 4])
    assert rows.ratings.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("recommendations", "truth", "message"),
    [
        ([[1], [2]], [[1], [2], [3]], r"users are positions.*recommendations 2, truth 3.*dict\(zip\(users, lists\)\)"),
        ([[1], [2]], {1: [1], 2: [2]}, "positions from 0 to 1, and another input has the user '2'"),
        ([[1], [2]], {"ann": [1]}, "positions from 0 to 1, and another input has the user 'ann'"),
        (CSR, {0: [17]}, "the items of recommendations are positions from 0 to 5.*item '17'.*repro.Matrix"),
        (SCORES, {0: [1]}, r"recommendations is an array of float64; give repro.Matrix\(array\)"),
        (RATINGS, {0: [1]}, "an array of nothing but 0 and 1; give repro.Matrix"),
        (np.zeros((2, 2, 2)), {0: [1]}, "an array of 3 dimensions"),
        (ROWS, TRUTH, "a list of tuples, and it is unclear whether"),
        ({0: {1, 2}}, TRUTH, "a set of items, which has no order, for user 0"),
        ({0: 1}, TRUTH, "a single item, for user 0"),
        ({0: "xy"}, TRUTH, "a single item, for user 0"),
        ({0: [1], 1: {2: 0.5}}, TRUTH, r"\[item, ...\] for user 0 and \{item: score\} for user 1"),
        ({0: 0.5}, TRUTH, "0.5 of type float for user 0; give a list"),
        ({"user": [1, 2], "item": [1]}, TRUTH, "not equally long .user 2, item 1."),
        (LISTS.to_dict("list") | {"user_id": [0] * len(LISTS)} | {"userId": [0] * len(LISTS)}, TRUTH, None),
        (LISTS.rename(columns={"user": "user_id"}).assign(userId=1), TRUTH, "'user_id' and 'userId'.*state which"),
        (pl.DataFrame({"user": [1, None], "item": [1, 2], "score": [1, 2]}), TRUTH, "user is empty in row 2 of rec"),
        (
            pl.DataFrame({"user": ["a", " "], "item": [1, 2], "score": [1, 2]}),
            TRUTH,
            "user is empty in row 2 of rec",
        ),
        (pd.DataFrame({"user": [1, np.nan], "item": 1, "score": 1}), TRUTH, "user is empty in row 2 of recommendat"),
        (pl.DataFrame({"user": [1], "item": [[1, 2]]}).with_columns(score=1), TRUTH, "item is a .* in row 1.*explode"),
        (pd.DataFrame({"user": [1], "item": [[1, 2]], "score": 1}), TRUTH, "item is a list in row 1 of recommenda"),
        (pl.Series([1, 2]), TRUTH, "is no table for Arrow"),
        (pl.DataFrame({"user": [1], "item": [2.0**60], "score": [1]}), TRUTH, "stands for several whole numbers"),
        (repro.Matrix(SCORES, users=["a", "b"]), TRUTH, "matrix of 4 users by 6 items, and users= has 2 ids"),
        (repro.Matrix(SCORES, users=list("aabc")), TRUTH, "users= of the matrix of recommendations has 'a' twice"),
        (repro.Matrix(["a"]), TRUTH, "has 1 dimensions and values of type"),
        (repro.Interactions.from_frame(TRUTH), TRUTH, "interactions, which have no scores"),
        (7, TRUTH, r"recommendations is of type int; give a data frame.*repro.Matrix"),
        (
            pl.DataFrame({"query_id": [1], "item_id": [1], "rating": [0.5]}),
            TRUTH,
            "neither a column 'score' nor",
        ),
    ],
)
def test_what_is_unclear_is_refused_with_what_to_do(recommendations, truth, message):
    if message is None:  # the plain name is the likeliest
        assert numbers(recommendations, truth) == numbers(LISTS, TRUTH)
        return
    with pytest.raises(DataError, match=message):
        evaluate(recommendations, truth)


def test_one_item_held_out_of_each_user():
    lists = [[3, 1, 2], [2, 3, 1]]
    for truth in ([1, 3], np.array([1, 3]), {0: 1, 1: 3}, [[1], [3]]):
        assert numbers(lists, truth)["rr"] == 0.5


def test_the_examples_of_the_documentation_run():
    results = doctest.testmod(__import__("repro.lists", fromlist=["evaluate"]), optionflags=doctest.ELLIPSIS)
    assert results.attempted > 8 and not results.failed
