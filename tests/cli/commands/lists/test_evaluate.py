"""`repro evaluate`."""

import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from click.testing import CliRunner

from repro.cli import cli
from repro.errors import DataError, ProtocolError
from repro.lists import evaluate

LISTS = pd.DataFrame(
    [("ann", "x", 0.9), ("ann", "y", 0.8), ("bob", "y", 3.0), ("bob", "x", 1.0)], columns=["user", "item", "score"]
)
TRUTH = pd.DataFrame([("ann", "y"), ("bob", "y"), ("cem", "x")], columns=["user", "item"])


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    LISTS.to_csv("run.tsv", sep="\t", index=False)
    TRUTH.to_csv("test.tsv", sep="\t", index=False)
    return tmp_path


def invoke(*arguments, **options):
    return CliRunner().invoke(cli, ["evaluate", *map(str, arguments)], catch_exceptions=False, **options)


def results(*arguments, **options):
    done = invoke(*arguments, "--json", **options)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_table_of_metric_value_and_users(files):
    lines = invoke("--run", "run.tsv", "--truth", "test.tsv", "-m", "rr", "-m", "hit@1").stdout.splitlines()
    assert [line.split() for line in lines[:3]] == [
        ["metric", "value", "users"],
        ["rr", "0.500000", "3"],
        ["hit@1", "0.333333", "3"],
    ]
    assert lines[-1].startswith("protocol by default, hash ")


def test_json_has_full_names_and_the_protocol(files):
    TRUTH.assign(rating=5).to_csv("rated.csv", index=False)
    printed = results(
        "--run", "run.tsv", "--truth", "rated.csv", "-m", "ndcg@10", "--protocol", "valcarce-2018-allitems"
    )
    (row,) = printed["results"]
    assert (row["run"], row["metric"], row["users"]) == ("run.tsv", "ndcg@10", 3)
    assert row["full"].startswith("ndcg[") and "gain=" in row["full"]
    assert printed["protocol"]["name"] == "valcarce-2018-allitems" and len(printed["protocol"]["hash"]) == 64
    shown = invoke("--run", "run.tsv", "--truth", "test.tsv", "-m", "precision@10", "--full").output
    assert "precision[denominator=k]@10" in shown


def test_by_default_the_metrics_of_the_call(files):
    expected = evaluate(LISTS, TRUTH)
    result = pd.DataFrame(results("--run", "run.tsv", "--truth", "test.tsv")["results"])[expected.columns.tolist()]
    pd.testing.assert_frame_equal(result, expected, check_exact=True)


def test_several_runs_have_a_column_each(files):
    LISTS.assign(score=-LISTS["score"]).to_csv("other.csv", index=False)
    arguments = [
        "--run",
        "run.tsv",
        "--run",
        "turned=other.csv",
        "--truth",
        "test.tsv",
        "-m",
        "rr",
        "-m",
        "user-coverage@1",
    ]
    header, row, *_ = invoke(*arguments).stdout.splitlines()
    assert header.split() == ["metric", "run.tsv", "turned", "users"]
    assert row.split() == ["rr", "0.500000", "0.500000", "3"]
    invoke(*arguments, "--per-user", "all.csv", "--into", "table.csv")
    assert pd.read_csv("all.csv").to_numpy().tolist()[:2] == [
        ["run.tsv", "ann", "rr", 0.5],
        ["run.tsv", "bob", "rr", 1],
    ]
    table = pd.read_csv("table.csv")
    assert table.columns.tolist() == ["run", "metric", "full", "value", "users", "lowest", "highest"]
    assert table["run"].tolist() == ["run.tsv", "run.tsv", "turned", "turned"]
    invoke(*arguments, "--per-user", "of-{run}.parquet")
    assert pd.read_parquet("of-turned.parquet")["value"].tolist() == [1.0, 0.5, 0.0]
    twice = invoke("--run", "run.tsv", "--run", "run.tsv", "--truth", "test.tsv")
    assert twice.exit_code == 2 and "two runs are called 'run.tsv'" in twice.output


def test_values_of_each_user(files):
    for name, read in (("users.parquet", pd.read_parquet), ("users.csv", pd.read_csv)):
        assert invoke("--run", "run.tsv", "--truth", "test.tsv", "-m", "rr", "--per-user", name).exit_code == 0
        expected = evaluate(LISTS, TRUTH, metrics=["rr"], per_user=True)
        pd.testing.assert_frame_equal(read(name), expected, check_exact=True)
    refused = invoke("--run", "run.tsv", "--truth", "test.tsv", "-m", "user-coverage@1", "--per-user", "users.csv")
    assert refused.exit_code == 2 and "about all users together" in refused.output


def test_standard_input(files):
    printed = results("--run", "-", "--truth", "test.tsv", "-m", "rr", input=(files / "run.tsv").read_text())
    assert [(row["run"], row["value"]) for row in printed["results"]] == [("stdin", 0.5)]
    packed = gzip.compress((files / "run.tsv").read_bytes())
    assert results("--run", "-", "--truth", "test.tsv", "-m", "rr", input=packed) == printed


def test_decisions_columns_and_formats(files):
    LISTS.rename(columns={"user": "kunde"}).to_csv("named.csv", index=False)
    arguments = ["--run", "named.csv", "--truth", "test.tsv", "-m", "rr"]
    result = results(*arguments, "--columns", "run.user=kunde", "--format", "run=csv", "--set", "average.no_list=skip")
    assert [(row["value"], row["users"]) for row in result["results"]] == [(0.75, 2)]
    with pytest.raises(DataError, match="has no column 'user'; it has kunde, item, score"):
        invoke(*arguments)
    for option, value, message in (
        ("--columns", "kunde", "write it like user=userId"),
        ("--format", "test=csv", "run=FORMAT, truth=FORMAT, train=FORMAT"),
        ("--set", "nonsense", "write DECISION=VALUE"),
        ("--per-user", "users.xlsx", "must end in .parquet, .csv, .tsv"),
        ("--into", "no/such/folder.csv", "there is no such folder"),
    ):
        done = invoke("--run", "run.tsv", "--truth", "test.tsv", option, value)
        assert done.exit_code == 2 and message in done.output


def test_training_rows_where_they_are_asked_for(files):
    (files / "train.csv").write_text("user,item,rating\nann,q,1\nbob,q,3\n")
    (files / "rated.csv").write_text("user,item,rating\nann,y,2\nbob,y,2\n")
    arguments = ["--run", "run.tsv", "--truth", "rated.csv", "-m", "rr", "--set", "relevance.rule=user-mean"]
    assert [row["users"] for row in results(*arguments, "--train", "train.csv")["results"]] == [1]
    with pytest.raises(ProtocolError, match="needs the training rows"):
        invoke(*arguments)


def test_features_and_earlier_lists(files):
    (files / "items.csv").write_text("item,genres\nx,Drama\ny,Comedy|Drama\n")
    LISTS.assign(item=["x", "z", "y", "x"]).to_csv("earlier.csv", index=False)
    arguments = ["--run", "run.tsv", "--truth", "test.tsv"]
    (row,) = results(*arguments, "--features", "items.csv", "-m", "ild[over=features]@2")["results"]
    assert row["value"] == pytest.approx(1 - 2**-0.5, abs=1e-12)  # cosine of (1, 0) and (1, 1)
    (row,) = results(*arguments, "--previous", "earlier.csv", "-m", "temporal-diversity@2")["results"]
    assert row["value"] == pytest.approx((1 / 2 + 0) / 2, abs=1e-12)  # one new item for Ann, none for Bob
    with pytest.raises(DataError, match="on the command line, --previous"):
        invoke(*arguments, "-m", "temporal-diversity@2")


def test_what_cannot_be_had_is_said(files):
    with pytest.raises(ProtocolError, match="frames have one list for each user"):
        invoke("--run", "run.tsv", "--truth", "test.tsv", "--protocol", "cremonesi-2010-1r")
    with pytest.raises(ProtocolError, match="there is no metric 'ndgc'; did you mean 'ndcg'"):
        invoke("--run", "run.tsv", "--truth", "test.tsv", "-m", "ndgc@10")
    with pytest.raises(DataError, match=r"there is no file test\.tvs; did you mean 'test\.tsv'"):
        invoke("--run", "run.tsv", "--truth", "test.tvs")
    LISTS.assign(user=["u1", "u1", "u2", "u2"]).to_csv("strangers.csv", index=False)
    assert "no user of strangers.csv is in the truth" in invoke("--run", "strangers.csv", "--truth", "test.tsv").stderr


def test_predictions_of_surprise(files):
    rows = ['ann,x,4,5,{"was_impossible": false}', "ann,y,3,2,{'was_impossible': False}"]
    rows += ["bob,x,1,3,{'was_impossible': True}"]
    quoted = [row[: row.index("{")] + '"' + row[row.index("{") :].replace('"', '""') + '"' for row in rows]
    (files / "predictions.csv").write_text("\n".join(["uid,iid,r_ui,est,details", *quoted]) + "\n")
    arguments = ["--run", "predictions.csv", "-m", "mae", "-m", "rmse"]
    values = [row["value"] for row in results(*arguments)["results"]]
    assert values == pytest.approx([4 / 3, (6 / 3) ** 0.5], abs=1e-12)
    without = [row["value"] for row in results(*arguments, "--set", "predict.fallback=missing")["results"]]
    assert without == [1.0, 1.0]


TREC = {
    "precision@5": "P_5",
    "recall@10": "recall_10",
    "ap": "map",
    "ap@10": "map_cut_10",
    "ndcg[gain=linear]": "ndcg",
    "ndcg[gain=linear]@10": "ndcg_cut_10",
    "rr": "recip_rank",
    "hit@5": "success_5",
}


def test_trec_files_give_the_numbers_of_trec_eval(tmp_path):
    """Few scores, so that many are tied; ids whose order as text is not that of their numbers."""
    draws = np.random.default_rng(7)
    run, qrels = [], []
    for topic in (f"q{n}" for n in range(40)):
        listed = draws.choice(60, size=int(draws.integers(5, 30)), replace=False)
        run += [(topic, f"{item}", float(draws.integers(0, 7)) / 3) for item in listed]
        judged = draws.choice(60, size=20, replace=False)
        grades = draws.integers(0, 4, size=20)
        grades[0] = 1  # trec_eval has nothing to say of a topic without a relevant document
        qrels += [(topic, f"{item}", int(grade)) for item, grade in zip(judged, grades, strict=True)]
    (tmp_path / "a.run").write_text("".join(f"{t} Q0 {i} 0 {s!r} tag\n" for t, i, s in run))
    (tmp_path / "a.qrels").write_text("".join(f"{t} 0 {i} {g}\n" for t, i, g in qrels))
    options = ["--run", tmp_path / "a.run", "--truth", tmp_path / "a.qrels", "--set", "ties.break=trec"]
    arguments = [text for name in TREC for text in ("-m", name)]
    averages = {row["metric"]: row["value"] for row in results(*options, *arguments)["results"]}
    assert invoke(*options, *arguments, "--per-user", tmp_path / "users.parquet").exit_code == 0
    users = pd.read_parquet(tmp_path / "users.parquet").set_index(["metric", "user"])["value"]

    nested_run, nested_qrels = {}, {}
    for topic, item, score in run:
        nested_run.setdefault(topic, {})[item] = score
    for topic, item, grade in qrels:
        nested_qrels.setdefault(topic, {})[item] = grade
    expected = {"P.5", "recall.10", "map", "map_cut.10", "ndcg", "ndcg_cut.10", "recip_rank", "success.5"}
    theirs = pytrec_eval.RelevanceEvaluator(nested_qrels, expected).evaluate(nested_run)
    for ours, name in TREC.items():
        each = {topic: result[name] for topic, result in theirs.items()}
        assert users[ours].to_dict() == pytest.approx(each, abs=1e-12), ours
        assert averages[ours] == pytest.approx(np.mean(list(each.values())), abs=1e-12), ours


def test_lists_that_do_not_meet_the_truth_are_noted(files):
    def note(table):
        table.to_csv("given.csv", index=False)
        return invoke("--run", "given.csv", "--truth", "test.tsv").stderr

    assert note(LISTS.head(0)) == "note: given.csv has no rows, so all lists are empty\n"
    assert "items are written like 'ix' there and like 'y' in the truth" in note(LISTS.assign(item="i" + LISTS["item"]))
    assert '1 of 3 users in the truth have no list in given.csv; average.no_list = "zero"' in note(LISTS)
    everyone = pd.concat([LISTS, pd.DataFrame([("cem", "x", 1.0)], columns=LISTS.columns)])
    assert note(everyone) == ""


def test_the_name_of_the_rating_is_that_of_the_truth(files):
    LISTS.rename(columns={"user": "who"}).to_csv("run.csv", index=False)
    TRUTH.assign(stars=[0, 5, 5]).rename(columns={"user": "who"}).to_csv("stars.csv", index=False)
    named = results("--run", "run.csv", "--truth", "stars.csv", "--columns", "user=who,rating=stars", "-m", "rr")
    assert [(row["value"], row["users"]) for row in named["results"]] == [(0.5, 2)]  # bob 1, cem without a list 0


def test_what_is_suspicious_is_said_by_run(files):
    """Equal scores in one run; another with the same values for every user."""
    LISTS.assign(score=1.0).to_csv("tied.csv", index=False)
    LISTS.assign(score=2.0).to_csv("again.csv", index=False)
    arguments = ["--run", "tied.csv", "--run", "again.csv", "--truth", "test.tsv", "-m", "rr"]
    shown = invoke(*arguments).stdout
    assert re.match(r"metric +tied\.csv \[1\] \[2\] \[3\] +again\.csv \[1\] \[2\] \[3\] +users\n", shown)
    assert re.search(r"^\[1\] warning: .* the tie rule .*:\n +tied\.csv, again\.csv: ", shown, re.MULTILINE)
    assert "tied.csv and again.csv have the same values of every metric for every user" in shown
    result = results(*arguments)["findings"]
    assert {("scores.constant", "tied.csv"), ("entries.identical", "tied.csv")} <= {
        (item["code"], item["algorithm"]) for item in result
    }
