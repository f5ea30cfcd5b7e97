"""Files that other systems wrote: every form, what is not in them, and what they cannot say."""

import gzip
import hashlib
import math

import numpy as np
import pandas as pd
import pytest

from repro.data import Interactions
from repro.errors import PluginError
from repro.plugin import FALLBACK, SCORED, UNSCORED

USERS, ITEMS = np.arange(3, dtype=np.int32), np.arange(4, dtype=np.int32)
NAN = math.nan
# Ann likes 30 and 40 (2.5 and 1), bob 20 (7); cem has nothing, and nobody has dea.
SCORES = [[NAN, NAN, 2.5, 1.0], [NAN, 7.0, NAN, NAN], [NAN] * 4]
FORMS = {
    "table.csv": "user,item,score\nann,30,2.5\nann,40,1\nbob,20,7\ndea,20,1\n",
    "other.csv": "uid;iid;prediction\nann;30;2.5\nann;40;1\nbob;20;7\ndea;20;1\n",
    "bare.tsv": "ann\t30\t2.5\nann\t40\t1\nbob\t20\t7\ndea\t20\t1\n",
    "run.trec": "ann Q0 30 1 2.5 x\nann Q0 40 2 1 x\nbob Q0 20 1 7 x\ndea Q0 20 1 1 x\n",
    "mymedialite": "ann\t[30:2.5,40:1]\nbob\t[20:7]\ncem\t[]\ndea\t[20:1]\n",
    "rival.simple": "ann\t30\t2.5\nann\t40\t1.0\nbob\t20\t7.0\ndea\t20\t1.0\n",
    "rival.trec": "ann\tQ0\t30\t1\t2.5\tr\nann\tQ0\t40\t2\t1.0\tr\nbob\tQ0\t20\t1\t7.0\tr\ndea\tQ0\t20\t1\t1.0\tr\n",
    "nested.json": '{"ann": {"30": 2.5, "40": 1}, "bob": {"20": 7}, "dea": {"20": 1}}',
}
STATED = {"mymedialite": "mymedialite", "rival.simple": "rival", "rival.trec": "rival", "run.trec": "trec"}


def write(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


@pytest.mark.parametrize("with_format", [False, True])
@pytest.mark.parametrize("name", FORMS)
def test_every_form_gives_the_same_scores(tmp_path, make, data, name, with_format):
    path = write(tmp_path, name, FORMS[name])
    recommender = make("file", path=path, format=STATED.get(name, "recognised") if with_format else "recognised")
    recommender.fit(data, seed=1)
    actual = recommender.score_users(USERS, ITEMS)
    np.testing.assert_array_equal(actual.values, SCORES)
    np.testing.assert_array_equal(actual.state, np.where(np.isnan(SCORES), UNSCORED, SCORED))
    notes = recommender.notes()
    assert notes["rows"] == "4, of which 1 name users or items that are not in the data set"
    assert notes["file"] == f"{path}, SHA-256 {hashlib.sha256(FORMS[name].encode()).hexdigest()}"
    assert notes["candidates.*"].startswith("taken by the system")
    assert not recommender.predicts


def test_any_part_of_the_scores_can_be_asked_for_in_any_order(tmp_path, make, data):
    recommender = make("file", path=write(tmp_path, "x.csv", FORMS["table.csv"]))
    recommender.fit(data, seed=1)
    np.testing.assert_array_equal(
        recommender.score_users(USERS[[1, 0]], ITEMS[[3, 1]]).values, [[NAN, 7.0], [1.0, NAN]]
    )
    assert recommender.score_users(USERS[:0], ITEMS).values.shape == (0, 4)


def test_numbers_as_ids_and_compressed_files(tmp_path, make):
    numbers = Interactions.from_frame(pd.DataFrame({"user": [1, 2, 30], "item": [7, 8, 7]}))
    (tmp_path / "scores.csv.gz").write_bytes(gzip.compress(b"user,item,score\n30,8,0.5\n2,7,-1e300\n"))
    recommender = make("file", path=str(tmp_path / "scores.csv.gz"))
    recommender.fit(numbers, seed=1)
    actual = recommender.score_users(USERS, ITEMS[:2])
    np.testing.assert_array_equal(actual.values, [[NAN, NAN], [-1e300, NAN], [NAN, 0.5]])


def test_predictions_are_for_pairs_and_made_up_ones_are_told_apart(tmp_path, make, data):
    text = (
        "uid,iid,r_ui,est,details\nann,30,4,3.9,{'was_impossible': False}\nbob,20,1,3.1,{'was_impossible': True}\n"
        "cem,10,2,,{}\n"
    )
    recommender = make("file", path=write(tmp_path, "predictions.csv", text), gives="predictions")
    assert recommender.predicts
    recommender.fit(data, seed=1)
    actual = recommender.predict_pairs(np.array([0, 1, 2, 2], dtype=np.int32), np.array([2, 1, 0, 3], dtype=np.int32))
    np.testing.assert_array_equal(actual.values, [3.9, 3.1, NAN, NAN])
    assert actual.state.tolist() == [SCORED, FALLBACK, UNSCORED, UNSCORED]


def test_what_is_not_a_number_is_unscored_and_infinity_is_a_score(tmp_path, make, data):
    text = "user,item,score,state\nann,10,nan,scored\nann,20,,scored\nbob,10,inf,scored\nbob,20,1,unscored\n"
    recommender = make("file", path=write(tmp_path, "scores.csv", text))
    recommender.fit(data, seed=1)
    actual = recommender.score_users(USERS, ITEMS)
    assert actual.state.tolist() == [[UNSCORED] * 4, [SCORED, UNSCORED, UNSCORED, UNSCORED], [UNSCORED] * 4]
    assert actual.values[1, 0] == math.inf


def test_the_file_of_each_fold(tmp_path, make, data):
    for fold in ("1", "2"):
        write(tmp_path, f"scores-{fold}.csv", f"user,item,score\nann,10,{fold}\n")
    for fold in ("1", "2"):
        recommender = make("file", path=str(tmp_path / "scores-{fold}.csv"))
        recommender.fit(data, seed=1, fold=fold)
        assert recommender.score_users(USERS[:1], ITEMS[:1]).values == float(fold)
    with pytest.raises(PluginError, match=r"contains \{fold\}, but there are no folds here; give the path of one file"):
        make("file", path=str(tmp_path / "scores-{fold}.csv")).fit(data, seed=1)


LISTS = {
    # Of two items with the same rank or score, the one that comes first was put first by the system.
    "ranks.csv": "user,item,rank\nbob,30,3\nbob,20,1\nbob,40,2\nann,10,1\n",
    "ranked.csv": "user,item,rank,score\nbob,20,1,0.5\nbob,40,2,0.5\nbob,30,3,9.5\nann,10,1,1\n",
    "scored.csv": "user,item,score\nbob,20,0.5\nbob,40,0.25\nann,10,3\nbob,30,0.25\n",
    "pairs.csv": "user,item\nbob,20\nbob,40\nann,10\nbob,30\n",
    "bare.txt": "bob 20\nbob 40\nann 10\nbob 30\n",
    "mymedialite": "bob\t[20:0.5,40:0.25,30:0.25]\nann\t[10:3]\n",
}


@pytest.mark.parametrize("name", LISTS)
def test_of_lists_the_places_count(tmp_path, make, data, name):
    recommender = make("file", path=write(tmp_path, name, LISTS[name]), gives="lists")
    recommender.fit(data, seed=1)
    actual = recommender.score_users(USERS, ITEMS)
    np.testing.assert_array_equal(actual.values, [[-1, NAN, NAN, NAN], [NAN, -1, -3, -2], [NAN] * 4])
    notes = recommender.notes()
    assert notes["gives"] == "lists: places, not scores"
    for decision in ("candidates.*", "missing.*", "ties.*"):
        assert notes[decision].startswith("taken by the system: ")
    assert not recommender.predicts


@pytest.mark.parametrize(
    ("text", "parameters", "complaint"),
    [
        (LISTS["ranks.csv"], {}, 'has ranks and no scores; say that the system gives = "lists"'),
        (LISTS["pairs.csv"], {}, 'has users and items and no scores; say that the system gives = "lists"'),
        ("user,points,score\nann,10,1\n", {}, "has no column 'item'"),
        ("user,item,score\nann,10,1,2\n", {}, "line 2 has 4 columns where 3 were expected"),
        ("user,item,score\n", {}, "has no rows; one for each user and item was expected"),
        ("user,item,rank\nann,10,1\nann,20,\n", {"gives": "lists"}, "has no rank of user ann and item 20; without it"),
        ("user,item,score\nann,10,nan\n", {"gives": "lists"}, "has no score of user ann and item 10; without it"),
        ("user,item,score,state\nann,10,1,guess\n", {}, "the state 'guess'; it may be scored, unscored, fallback"),
        ("user,item,score\nann,10,1\nann,10,2\n", {}, "has user ann and item 10 twice"),
        ("user,item,score\nu1,10,1\n", {}, r"no user and item of the data set together.*'u1'.*users like 'ann'"),
        ("user,item,score\nann,10,high\n", {}, "score is 'high', not a number, in line 2"),
        ("ann\t[10:1,20]\n", {}, "line 1 has '20'; expected item:score"),
        ("ann\t[10:1]\nbob 20\n", {"format": "mymedialite"}, r"line 2 is 'bob 20'; expected user, a tab and"),
        ("ann\t[]\n", {}, "all its lists are empty"),
        ("", {}, "is empty"),
        ("user,item,score\nann,10,1\n", {"columns": "score"}, "write them like user=uid"),
        ("user,item,score\nann,10,1\n", {"columns": "score=points"}, "has no column 'points' for score"),
        ("user,item,score\nann,10,1\n", {"path": ""}, "needs a path"),
    ],
)
def test_what_cannot_be_used_is_told(tmp_path, make, data, text, parameters, complaint):
    options = {"path": write(tmp_path, "given.txt", text), **parameters}
    with pytest.raises(PluginError, match=f"external/file.*(?s:.*){complaint}"):
        make("file", **options).fit(data, seed=1)


def test_a_file_that_is_not_there_is_told_with_the_nearest(tmp_path, make, data):
    write(tmp_path, "lists.csv", FORMS["table.csv"])
    with pytest.raises(PluginError, match=r"there is no file .*list\.csv; did you mean 'lists\.csv'"):
        make("file", path=str(tmp_path / "list.csv")).fit(data, seed=1)
