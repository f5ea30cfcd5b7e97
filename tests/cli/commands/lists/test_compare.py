"""`repro compare`: of a run, and of files."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

from repro import Study
from repro.cli import cli
from repro.data import synthetic_interactions
from repro.errors import DataError, ReproError, StudyError
from repro.protocol import Protocol
from repro.stats import CORRECTIONS, TESTS, ZEROS


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    data = synthetic_interactions(users=60, items=40, ratings=900, alpha=1.0, seed=3)
    algorithms = [
        {"use": "reference/popularity", "label": "popular"},
        {"use": "reference/item-knn", "label": "narrow", "parameters": {"k": 3}},
        {"use": "reference/item-knn", "label": "wide", "parameters": {"k": 30}},
    ]
    study = Study(data, Protocol.load("random-5fold", split__folds=2), algorithms, ["ndcg@5", "rmse", "gini@5"], seed=1)
    return study.run(tmp_path_factory.mktemp("cli") / "run").folder


def invoke(*arguments):
    return CliRunner().invoke(cli, ["compare", *map(str, arguments)], catch_exceptions=False)


def printed(*arguments):
    result = invoke(*arguments, "--json")
    assert result.exit_code == 0
    return json.loads(result.stdout)


def test_a_table_with_friedman_on_top_and_verdicts_in_words(run):
    result = invoke(run, "--test", "wilcoxon", "--correct", "holm", "-m", "ndcg@5")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0].startswith("Friedman: the 3 systems differ on ")
    title = "ndcg@5 (higher is better): Wilcoxon signed-rank test, two-sided, corrected for all 3 pairs of 3 systems by"
    assert title in result.output
    assert "popular is better" in result.output
    assert "95% interval" in result.output and "the test drops" in result.output


def test_several_settings_are_warned_of_unless_they_are_selected_on_other_users(run):
    assert "tuning on the evaluation set" in invoke(run, "--samples", 500).output
    tuned = invoke(run, "--samples", 500, "--select-on", 0.4).output
    assert "tuning on the evaluation set" not in tuned
    assert "Selected settings: reference/popularity: popular; reference/item-knn:" in tuned
    assert "Settings were chosen on 24 users; the tests are on the 36 others." in tuned


def test_json_for_scripts(run):
    result = printed(run, "-m", "ndcg@5", "-m", "rmse", "--test", "t", "--correct", "none", "--level", 0.01)
    assert [item["metric"] for item in result] == ["ndcg@5", "rmse"]
    assert result[1]["better"] == "lower" and len(result[1]["pairs"]) == 1
    first = result[0]
    assert first["friedman"]["critical_difference"] > 0 and set(first["friedman"]["average_ranks"]) == {
        "popular",
        "narrow",
        "wide",
    }
    assert all(row["p"] == row["p_corrected"] for row in first["pairs"])
    assert any("Left out" in note and "popular" in note for note in result[1]["notes"])


def test_a_baseline_and_the_sample_size(run):
    result = printed(run, "--baseline", "popular", "--samples", 99, "--seed", 4)[0]["pairs"]
    assert [row["b"] for row in result] == ["popular", "popular"]
    assert all(row["how"] == "99 samples" for row in result)
    assert result == printed(run, "--baseline", "popular", "--samples", 99, "--seed", 4)[0]["pairs"]


@pytest.mark.parametrize(("test", "name"), [("t", "out.svg"), ("nemenyi", "out.svg"), ("sign", "out.html")])
def test_charts(run, tmp_path, test, name):
    result = invoke(run, "--test", test, "--plot", tmp_path / name)
    assert result.exit_code == 0 and str(tmp_path / name) in result.output
    text = (tmp_path / name).read_text()
    assert "popular" in text and ("average rank" in text) == (test == "nemenyi")


def test_files_of_per_user_values(tmp_path):
    """Differences 1, 1, 1, 1 and a user whom only one file has: the exact test finds 2 of 16 ways."""
    ours = pd.DataFrame({"user": [1, 2, 3, 4, 5], "metric": "mae", "value": [2.0, 3.0, 4.0, 5.0, 9.0]})
    theirs = pd.DataFrame({"user": ["1", "2", "3", "4"], "metric": "mae", "value": [1.0, 2.0, 3.0, 4.0]})
    ours.to_csv(tmp_path / "ours.csv", index=False)
    theirs.to_parquet(tmp_path / "theirs.parquet")
    result = printed(tmp_path / "ours.csv", tmp_path / "theirs.parquet", "--level", 0.2)[0]
    (row,) = result["pairs"]
    assert result["better"] == "lower" and result["friedman"] is None
    assert (row["a"], row["b"], row["difference"], row["p"]) == ("theirs", "ours", -1.0, 2 / 16)
    assert (row["left_out"], row["how"], row["verdict"]) == (1, "exact, 16 ways", "theirs is better")


def test_one_file_of_several_runs(tmp_path):
    """The table that holds a run in a column: users 007 and 7 are two users."""
    users = ["007", "7", "8"]
    frame = pd.DataFrame({"run": ["x"] * 3 + ["y"] * 3, "user": users * 2, "metric": "rr", "value": [1, 1, 1, 0, 0, 0]})
    frame.to_csv(tmp_path / "both.tsv", sep="\t", index=False)
    (row,) = printed(tmp_path / "both.tsv")[0]["pairs"]
    assert (row["a"], row["b"], row["users"], row["p"]) == ("x", "y", 3, 2 / 8)
    with pytest.raises(StudyError, match="two systems called 'x'"):
        frame.to_csv(tmp_path / "again.csv", index=False)
        invoke(tmp_path / "both.tsv", tmp_path / "again.csv")


def test_files_of_different_protocols_are_noted(tmp_path):
    def write(name, protocol):
        frame = pd.DataFrame({"user": ["1", "2", "3"], "metric": "ndcg@10", "value": [0.1, 0.5, 0.7]})
        frame.attrs["protocol"] = {"name": protocol, "hash": protocol * 8}
        frame.to_parquet(tmp_path / f"{name}.parquet")
        return tmp_path / f"{name}.parquet"

    first, second, third = write("a", "loose"), write("b", "strict"), write("c", "strict")
    (note,) = [item for item in printed(first, second)[0]["notes"] if "protocol" in item]
    assert "a under loose (looselooselo), b under strict (strictstrict)" in note
    assert not [item for item in printed(second, third)[0]["notes"] if "protocol" in item]


def test_names_are_completed():
    def offered(option, start):
        (each,) = [p for p in cli.get_command(None, "compare").params if option in p.opts]
        return [item.value for item in each.shell_complete(None, start)]

    assert offered("--test", "") == list(TESTS)
    assert offered("--correct", "ho") == ["holm", "hochberg"]
    assert "ndcg" in offered("--metric", "nd")


def test_files_that_cannot_be_compared(tmp_path):
    for name, metric in (("a", "ndcg@10"), ("b", "ndcg@10"), ("c", "rmse"), ("d", "liking")):
        pd.DataFrame({"user": [1, 2], "metric": metric, "value": [0.1, 0.2]}).to_csv(tmp_path / f"{name}.csv")
    a, b, c, d = (tmp_path / f"{name}.csv" for name in "abcd")
    with pytest.raises(DataError, match="no metric in common"):
        invoke(a, c)
    with pytest.raises(StudyError, match="no metric 'ndcg@11'; did you mean 'ndcg@10'"):
        invoke(a, b, "-m", "ndcg@11")
    with pytest.raises(StudyError, match="--select-on is for run folders"):
        invoke(a, b, "--select-on", 0.5)
    with pytest.raises(StudyError, match="given twice"):
        invoke(a, a)
    with pytest.raises(StudyError, match="nothing to compare: 1 system"):
        invoke(a)
    with pytest.raises(StudyError, match=r"there is no metric 'liking'.*better="):
        invoke(d, tmp_path / ".." / tmp_path.name / "d.csv")
    (tmp_path / "e.csv").write_text("user,score\n1,2\n")
    with pytest.raises(DataError, match="no column 'metric' and 'value'"):
        invoke(a, tmp_path / "e.csv")
    (tmp_path / "f.csv").write_text("user,metric,value\n1,ndcg@10,0.2\n1,ndcg@10,0.3\n")
    with pytest.raises(DataError, match=r"ndcg@10 of user 1 twice"):
        invoke(a, tmp_path / "f.csv")
    (tmp_path / "g.csv").write_text("user,metric,value\n1,ndcg@10,high\n")
    with pytest.raises(DataError, match="must hold numbers"):
        invoke(a, tmp_path / "g.csv")
    with pytest.raises(DataError, match="there is no file"):
        invoke(a, tmp_path / "none.csv")


def test_what_cannot_be_asked_is_told(run, tmp_path):
    with pytest.raises(StudyError, match="did you mean 'wilcoxon'"):
        invoke(run, "--test", "wilcox")
    with pytest.raises(StudyError, match="the baseline 'poplar' is not a system; did you mean 'popular'"):
        invoke(run, "--baseline", "poplar")
    with pytest.raises(StudyError, match="gini@5 is a number about all users together"):
        invoke(run, "-m", "gini@5")
    with pytest.raises(StudyError, match=r"baseline '\w+' was not chosen"):
        chosen = printed(run, "--select-on", 0.5, "--test", "t")[0]["chosen"]["reference/item-knn"]
        invoke(run, "--select-on", 0.5, "--test", "t", "--baseline", {"narrow": "wide", "wide": "narrow"}[chosen])
    with pytest.raises(ReproError, match=r"\.svg"):
        invoke(run, "--plot", tmp_path / "out.txt")
    with pytest.raises(StudyError, match="is not a run folder"):
        invoke(tmp_path)
    with pytest.raises(StudyError, match="is a folder; give one run folder"):
        invoke(run, run)
    assert invoke(run, "-m", "ndcg@5", "-m", "rmse", "--plot", tmp_path / "x.svg").exit_code == 2


def test_help_names_every_test_and_correction():
    text = " ".join(invoke("--help").output.split())
    for name in (*TESTS, *CORRECTIONS, *ZEROS):
        assert name in text.replace("- ", "-")
