"""Files as toolkits write them give the same numbers as frames, and bad ones a sentence."""

import gzip
import json
import pickle
from collections import namedtuple

import numpy as np
import pandas as pd
import pytest

from repro.errors import DataError
from repro.lists import default_protocol, evaluate, read_recommendations, read_train, read_truth

METRICS = ["ndcg@3", "ap", "rr"]
ROWS = [("ann", "x", 0.9), ("ann", "y", 0.8), ("ann", "z", 0.7), ("bob", "y", 3.25), ("bob", "x", 1.0)]
LISTS = pd.DataFrame(ROWS, columns=["user", "item", "score"])
TRUTH = pd.DataFrame([("ann", "y", 2.0), ("ann", "w", 1.0), ("bob", "y", 0.0)], columns=["user", "item", "rating"])
PLACES = [1, 2, 3, 1, 2]


def text(rows, delimiter="\t"):
    return "".join(delimiter.join(map(str, row)) + "\n" for row in rows)


def csv(frame, **options):
    return frame.to_csv(index=False, **options)


RUNS = {
    "canonical.csv": csv(LISTS),
    "renamed.csv": csv(LISTS.set_axis(["userId", "movieId", "prediction"], axis=1)),
    "others.tsv": csv(LISTS.set_axis(["user_id", "item_id", "Predicted Rating"], axis=1), sep="\t"),
    "queries.csv": csv(LISTS.set_axis(["qid", "docno", "est"], axis=1)),
    "ranked.csv": csv(LISTS.assign(rank=PLACES)),
    "only-ranks.csv": csv(LISTS.drop(columns="score").assign(rank=PLACES)),
    "index.csv": LISTS.to_csv(),
    "plain.tsv": text(ROWS),
    "plain.csv": text(ROWS, ","),
    "plain.dat": text(ROWS, "::"),
    "rank-then-score.tsv": text((u, i, place, s) for (u, i, s), place in zip(ROWS, PLACES, strict=True)),
    "score-then-rank.tsv": text((u, i, s, place) for (u, i, s), place in zip(ROWS, PLACES, strict=True)),
    "run.inter": text([("user_id:token", "item_id:token", "score:float"), *ROWS]),
    "recbole-by-its-header.txt": text([("user_id:token", "item_id:token", "score:float"), *ROWS]),
    "a.run": text(((u, "Q0", i, 9, s, "tag") for u, i, s in ROWS), " "),
    "tabs.run": text((u, "Q0", i, 9, s, "tag") for u, i, s in ROWS),
    "blanks.run": text(((f" {u}", "Q0", f"  {i}", 9, s, "tag ") for u, i, s in ROWS), " "),
    "by-its-columns.txt": text(((u, "Q0", i, 0, s, "tag") for u, i, s in ROWS), " "),
    "records.json": LISTS.to_json(orient="records"),
    "columns.json": LISTS.to_json(),
    "lists.json": json.dumps(LISTS.to_dict("list")),
    "lines.jsonl": LISTS.to_json(orient="records", lines=True),
    "nested.json": json.dumps({"ann": {"x": 0.9, "y": 0.8, "z": 0.7}, "bob": {"y": 3.25, "x": 1.0}}),
}

TRUTHS = {
    "truth.csv": csv(TRUTH),
    "renamed.csv": csv(TRUTH.set_axis(["uid", "iid", "r_ui"], axis=1)),
    "plain.tsv": text(TRUTH.itertuples(index=False)),
    "test.qrels": text(((u, 0, i, int(r)) for u, i, r in TRUTH.itertuples(index=False)), " "),
    "qrels-by-their-columns.txt": text(((u, 0, i, int(r)) for u, i, r in TRUTH.itertuples(index=False)), " "),
    "test.inter": text([("user_id:token", "item_id:token", "rating:float"), *TRUTH.itertuples(index=False)]),
    "records.json": TRUTH.to_json(orient="records"),
    "nested.json": json.dumps({"ann": {"y": 2, "w": 1}, "bob": {"y": 0}}),
}


@pytest.mark.parametrize("name", RUNS)
def test_recommendations_in_every_form_give_the_numbers_of_frames(write, name):
    evaluated = evaluate(write(name, RUNS[name]), TRUTH, metrics=METRICS)
    pd.testing.assert_frame_equal(evaluated, evaluate(LISTS, TRUTH, metrics=METRICS), check_exact=True)


@pytest.mark.parametrize("name", TRUTHS)
def test_truth_in_every_form_gives_the_numbers_of_frames(write, name):
    evaluated = evaluate(LISTS, str(write(name, TRUTHS[name])), metrics=METRICS)
    pd.testing.assert_frame_equal(evaluated, evaluate(LISTS, TRUTH, metrics=METRICS), check_exact=True)


def test_parquet_and_compressed_files(tmp_path, write):
    expected = evaluate(LISTS, TRUTH, metrics=METRICS)
    LISTS.rename(columns={"score": "prediction"}).to_parquet(tmp_path / "run.parquet")
    TRUTH.rename(columns={"user": "user_id"}).to_parquet(tmp_path / "truth.parquet")
    evaluated = evaluate(tmp_path / "run.parquet", tmp_path / "truth.parquet", metrics=METRICS)
    pd.testing.assert_frame_equal(evaluated, expected, check_exact=True)
    run = write("a.run.gz", gzip.compress(RUNS["a.run"].encode()))
    truth = write("test.qrels.gz", gzip.compress(TRUTHS["test.qrels"].encode()))
    pd.testing.assert_frame_equal(evaluate(run, truth, metrics=METRICS), expected, check_exact=True)
    (tmp_path / "a.run.gz").write_bytes(run.read_bytes()[:-20])
    with pytest.raises(DataError, match="if it is damaged or cut short, copy it again"):
        read_recommendations(run)


def test_what_is_read_has_the_usual_names(write):
    read = read_recommendations(write("ranked.csv", RUNS["ranked.csv"]))
    pd.testing.assert_frame_equal(read, LISTS.assign(rank=np.array(PLACES, dtype=float)))
    rows = "7\t1\t3.5\t100\n9\t02\t1\t50\n"
    train = read_train(write("train.tsv", rows))
    assert train.to_dict("list") == {
        "user": [7, 9],
        "item": ["1", "02"],
        "rating": [3.5, 1.0],
        "timestamp": [100, 50],
    }


def test_a_format_can_be_named(write):
    file = write("whatever", RUNS["a.run"])
    assert read_recommendations(file, format="trec").equals(read_recommendations(file))
    assert read_truth(write("t", TRUTHS["test.qrels"]), format="qrels")["rating"].tolist() == [2.0, 1.0, 0.0]
    with pytest.raises(DataError, match="there is no format 'parkett'; did you mean 'parquet'"):
        read_recommendations(file, format="parkett")


def test_rows_that_all_begin_with_item_zero_are_no_qrels(write):
    zeros = [(user, 0, 4, 1000 + user) for user in range(150)]
    file = write("ratings.tsv", text([*zeros, (0, 1, 5, 2000)]))
    read = read_truth(file)
    assert (read["rating"].tolist()[-2:], read["item"].tolist()[-2:]) == ([4.0, 5.0], [0, 1])


def test_columns_by_name_and_by_place(write):
    named = write("named.csv", csv(LISTS.assign(other=[1.0, 3.0, 2.0, 1.0, 2.0])))
    by_score, by_other = (
        evaluate(named, TRUTH, metrics=["rr"], columns=columns)["value"].tolist()
        for columns in (None, {"recommendations.score": "other"})
    )
    assert (by_score, by_other) == ([0.5], [1.0])
    counted = write("counted.tsv", text((u, i, place) for (u, i, _), place in zip(ROWS, PLACES, strict=True)))
    with pytest.raises(DataError, match=r"are these ranks .1 is best. or scores"):
        read_recommendations(counted)
    assert evaluate(counted, TRUTH, metrics=["rr"], columns={"rank": "3"})["value"].tolist() == [0.5]
    assert evaluate(counted, TRUTH, metrics=["rr"], columns={"recommendations.score": "3"})["value"].tolist() == [0.5]
    shuffled = write("shuffled.tsv", text([("ann", "x", 2), ("ann", "y", 1), ("ann", "z", 3)]))
    with pytest.raises(DataError, match="--columns rank=3"):
        read_recommendations(shuffled)
    downwards = write("downwards.tsv", text([("ann", "x", 3), ("ann", "y", 2), ("ann", "z", 1)]))
    assert read_recommendations(downwards)["score"].tolist() == [3.0, 2.0, 1.0]


def test_each_file_may_have_names_of_its_own(write):
    run = write("run.csv", csv(LISTS.rename(columns={"user": "kunde"})))
    truth = write("truth.csv", csv(TRUTH.rename(columns={"user": "client"})))
    columns = {"recommendations.user": "kunde", "truth.user": "client"}
    assert evaluate(run, truth, metrics=["rr"], columns=columns)["value"].tolist() == [0.5]
    with pytest.raises(DataError, match=r"columns: there is no 'truth\.scor'; did you mean 'score'"):
        evaluate(run, truth, columns={"truth.scor": "x"})
    with pytest.raises(DataError, match=r"truth\.csv has no column 'kunde' for user; it has client, item, rating"):
        evaluate(run, truth, columns={"user": "kunde"})


# Errors of (1, -1, 2, 0.5), the third of a prediction that Surprise made up.
Prediction = namedtuple("Prediction", ["uid", "iid", "r_ui", "est", "details"])
POSSIBLE, IMPOSSIBLE = {"was_impossible": False}, {"was_impossible": True, "reason": "User and item are unknown."}
PREDICTED = [
    Prediction("ann", "x", 4.0, 5.0, POSSIBLE),
    Prediction("ann", "y", 3.0, 2.0, {"actual_k": 12, "was_impossible": False}),
    Prediction("bob", "x", 1.0, 3.0, IMPOSSIBLE),
    Prediction("bob", "z", 2.0, 2.5, POSSIBLE),
]
ALL = {"mae": 4.5 / 4, "rmse": (6.25 / 4) ** 0.5}
POSSIBLE_ONLY = {"mae": 2.5 / 3, "rmse": (2.25 / 3) ** 0.5}


def surprise_forms():
    frame = pd.DataFrame(PREDICTED)
    yield "predictions.csv", csv(frame)
    yield "json-in-csv.csv", csv(frame.assign(details=frame["details"].map(json.dumps)))
    yield "flags.csv", csv(frame.drop(columns="details").assign(was_impossible=[False, False, True, False]))
    yield "tuples.json", json.dumps(PREDICTED)
    yield "records.json", frame.to_json(orient="records")


@pytest.mark.parametrize(("name", "content"), list(surprise_forms()), ids=lambda value: value[:20])
def test_predictions_of_surprise_with_their_truth(write, name, content):
    file = write(name, content)
    assert errors(file) == pytest.approx(ALL, abs=1e-12)
    assert errors(file, truth=file) == pytest.approx(ALL, abs=1e-12)
    without = default_protocol(rated=True).replace({"predict.fallback": "missing"})
    assert errors(file, protocol=without) == pytest.approx(POSSIBLE_ONLY, abs=1e-12)


def errors(predictions, **options):
    table = evaluate(predictions, metrics=["mae", "rmse"], **options)
    return dict(zip(table["metric"], table["value"], strict=True))


def test_predictions_of_surprise_as_they_are_in_python():
    assert errors(PREDICTED) == pytest.approx(ALL, abs=1e-12)
    assert errors(pd.DataFrame(PREDICTED)) == pytest.approx(ALL, abs=1e-12)
    without = default_protocol(rated=True).replace({"predict.fallback": "missing"})
    assert errors(PREDICTED, protocol=without) == pytest.approx(POSSIBLE_ONLY, abs=1e-12)
    unknown = [*PREDICTED, Prediction("ann", "w", None, 1.0, POSSIBLE)]
    assert errors(unknown) == pytest.approx(ALL, abs=1e-12), "without a rating it is not held out"
    with pytest.raises(DataError, match="no prediction has a rating to compare it with"):
        errors([prediction._replace(r_ui=None) for prediction in PREDICTED])


def test_a_made_up_score_is_ranked_as_the_protocol_says():
    # Bob's only relevant item has a made-up score above that of z.
    truth = pd.DataFrame([("bob", "x")], columns=["user", "item"])
    ranked = {}
    for rule in ("accept", "missing"):
        protocol = default_protocol(rated=False).replace({"missing.fallback": rule})
        ranked[rule] = evaluate(PREDICTED, truth, protocol, ["rr"])["value"].tolist()
    assert ranked == {"accept": [1.0], "missing": [0.5]}
    stated = LISTS.assign(state=["unscored", "scored", "scored", "fallback", "scored"])
    protocol = default_protocol(rated=True).replace({"missing.fallback": "missing"})
    # y leads Ann's list, and is last of Bob's, to whom nothing is relevant.
    assert evaluate(stated, TRUTH, protocol, ["rr"])["value"].tolist() == [1.0]
    with pytest.raises(DataError, match="state is 'guess' in row 2; it may be 'scored', 'unscored' or 'fallback'"):
        evaluate(LISTS.assign(state=["scored", "guess", "scored", "scored", "scored"]), TRUTH)


def test_a_pickle_is_not_read(write):
    dumped = write("dump_file", pickle.dumps({"predictions": PREDICTED[0][:2]}))
    with pytest.raises(DataError, match=r"reading a pickle executes its content.*to_csv"):
        read_recommendations(dumped)


def test_truth_that_is_neither_given_nor_beside_the_predictions():
    with pytest.raises(DataError, match="there is no truth, and recommendations have no column 'rating'"):
        evaluate(LISTS)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", "", "is empty: a row for each user and item was expected"),
        ("blank.csv", "\n\n", "is empty"),
        (
            "no-score.csv",
            "user,item,rating\n1,2,3\n",
            r"neither a column 'score' nor 'rank'; it has user, item, rating\..*--columns score=rating",
        ),
        ("no-user.csv", "usr,item,score\n1,2,3\n", "has no column 'user'; it has usr, item, score; did you mean 'usr'"),
        ("bad-score.csv", "user,item,score\n1,2,0.5\n1,3,good\n", "score is 'good', not a number, in line 3"),
        ("no-item.csv", "user,item,score\n1,2,0.5\n1,,0.1\n", "item is empty in line 3"),
        ("short.run", "1 Q0 2 1 0.5 t\n1 Q0 3 2\n", "line 2 has 4 columns where 6 were expected"),
        ("bad.run", "1 Q0 2 1 0.5 t\n1 Q0 3 2 high t\n", "score is 'high', not a number, in line 2"),
        ("test.qrels", "1 0 2 1\n", "four columns are qrels, which are the truth"),
        ("five.tsv", "1\t2\t3\t4\t5\n", "has no header and 5 columns; expected are user, item and score"),
        ("four.tsv", "1\t2\t3.5\t881\n1\t4\t2.5\t882\n", "nothing shows which of its third and fourth columns"),
        ("broken.json", '[{"user": 1,', "is not valid JSON: .* in line 1"),
        ("text.json", '["a", "b"]', "has no table in a known form"),
        ("uneven.json", '{"user": [1, 2], "item": [1]}', "its columns are not equally long .user 2, item 1."),
        ("run.parquet", "PAR1 and no more", "cannot read .*copy it again"),
    ],
)
def test_files_that_cannot_be_used(write, name, content, message):
    with pytest.raises(DataError, match=message):
        read_recommendations(write(name, content))


def test_what_is_no_text_is_told_with_what_is_read(tmp_path):
    (tmp_path / "run.xlsx").write_bytes(b"PK\x03\x04\x14\x00\x06\x00")
    with pytest.raises(
        DataError, match=r"run\.xlsx is neither text nor any supported format: text, parquet, json.*; write it as CSV"
    ):
        evaluate(tmp_path / "run.xlsx", TRUTH)


def test_a_file_that_is_not_there(write, tmp_path):
    write("results.csv", RUNS["canonical.csv"])
    with pytest.raises(DataError, match=r"there is no file .*result\.csv; did you mean 'results\.csv'"):
        evaluate(tmp_path / "result.csv", TRUTH)
    with pytest.raises(DataError, match="has no header and 6 columns; expected are user, item, rating and timestamp"):
        read_truth(write("six.tsv", "1\t2\t3\t4\t5\t6\n"))


def test_a_run_without_rows_recommends_nothing(write):
    assert evaluate(write("nothing.csv", "user,item,score\n"), TRUTH, metrics=["rr"])["value"].tolist() == [0.0]


def test_missing_scores_in_a_file_are_missing_scores(write):
    file = write("gaps.csv", "user,item,score\nann,x,\nann,y,nan\nann,z,1\n")
    assert read_recommendations(file)["score"].isna().tolist() == [True, True, False]
