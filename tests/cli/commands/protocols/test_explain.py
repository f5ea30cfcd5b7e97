"""`repro diff`, `repro explain` and `repro multiverse`, as people and scripts use them."""

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from repro.cli import cli
from repro.data import synthetic_interactions
from tests.cli.study_files import write_study


def call(*arguments):
    return CliRunner().invoke(cli, list(map(str, arguments)), catch_exceptions=True)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    synthetic_interactions(users=60, items=80, ratings=1200, alpha=1.0, seed=5).to_frame().to_csv(
        folder / "ratings.csv", index=False
    )
    algorithms = {f"reference {name}": name for name in ("popularity", "item-knn", "puresvd")}
    return write_study(folder / "study.toml", ["ndcg@10", "precision@5"], algorithms, "ratings.csv")


@pytest.fixture(scope="module")
def runs(study):
    """The study, and the same with other decisions, both with their scores."""
    folders = study.parent / "a", study.parent / "b"
    changed = ["--set", "relevance.threshold=3", "--set", "ties.break=expected"]
    for folder, changes in zip(folders, ([], changed), strict=True):
        done = call("run", study, "--into", folder, "--keep-scores", "--workers", 1, "--quiet", *changes)
        assert done.exit_code == 0, done.output
    return [str(folder) for folder in folders]


def data_of(study):
    return "--data", study.parent / "ratings.csv"


def test_diff_says_what_differs(runs):
    result = call("diff", *runs).output
    assert "relevance.threshold" in result and "in all orders" in result
    assert "p: Fisher's randomisation test, two-sided, corrected for all algorithms that are in both runs" in result
    assert "p: Wilcoxon signed-rank test" in call("diff", *runs, "--test", "wilcoxon").output
    plain = json.loads(call("diff", *runs, "--json").output)
    assert [item["decision"] for item in plain["decisions"]] == ["relevance.threshold", "ties.break", "ties.id_order"]
    assert {item["metric"] for item in plain["numbers"]} == {"ndcg@10", "precision@5"}
    assert "No decision differs." in call("diff", runs[0], runs[0]).output


def test_explain_two_runs(runs, study, tmp_path):
    result = call("explain", *runs, "-m", "ndcg@10", *data_of(study), "--quiet", "--plot", tmp_path / "w.svg")
    assert result.exit_code == 0, result.output
    assert "relevance.threshold: 4.0 -> 3.0" in result.output and "exact, over all orders" in result.output
    assert (tmp_path / "w.svg").read_text().startswith("<svg")
    plain = json.loads(call("explain", *runs, *data_of(study), "--json").output)[0]
    for item in plain["algorithms"]:
        assert sum(part["part"] for part in item["parts"]) == pytest.approx(item["gap"], abs=1e-12)
    report = call("explain", *runs, *data_of(study), "--quiet", "--into", tmp_path / "report")
    assert report.exit_code == 0, report.output
    page = (tmp_path / "report" / "report.html").read_text()
    assert "<svg" in page and "http://" not in page.replace("http://www.w3.org", "")
    assert (
        (tmp_path / "report" / "journal.jsonl").read_bytes().startswith((Path(runs[0]) / "journal.jsonl").read_bytes())
    )
    assert set(pd.read_csv(tmp_path / "report" / "explanation.csv")["decision"]) == {
        "relevance.threshold",
        "ties.break",
    }


def test_data_that_is_gone_is_told(runs, study, tmp_path):
    import shutil

    shutil.copytree(runs[0], tmp_path / "moved" / "run")
    result = call("explain", tmp_path / "moved" / "run", "--to-protocol", "random-5fold")
    assert result.exit_code != 0 and "give it with --data" in str(result.exception)


def test_explain_the_way_to_a_protocol(runs, study):
    result = call("explain", runs[0], "--to-protocol", "said-bellogin-ut", *data_of(study), "--quiet").output
    assert "candidates.base: all-items -> user-test-items" in result
    assert "need another fit (--refit)" in result and "split.strategy" in result


def test_find_published_numbers(runs, study):
    values = pd.read_csv(f"{runs[1]}/results.csv").query("fold == 'all' and metric == 'ndcg@10'")["value"]
    cells = ",".join(f"{value:.3f}" for value in values)
    arguments = ("explain", runs[0], "--find", cells, "-m", "ndcg@10", "--budget", 150, *data_of(study))
    result = call(*arguments, "--quiet", "--vary", "relevance,ties").output
    assert "fits" in result and "protocols were tried" in result
    plain = json.loads(call(*arguments, "--vary", "relevance,ties", "--json").output)
    assert plain["fitting"] >= 1 and plain["nearest"][0]["fits"]


def test_multiverse_of_a_study_runs_it_first(study, tmp_path):
    arguments = ("multiverse", study, "--vary", "ties.break,relevance.threshold=3|4", "--workers", 1)
    result = call(*arguments, "--quiet", "--into", tmp_path)
    assert result.exit_code == 0, result.output
    assert "another winner" in result.output
    page = (tmp_path / "report.html").read_text()
    assert "Specification curve" in page and page.count("<svg") == 4
    table = pd.read_parquet(tmp_path / "multiverse.parquet")
    assert set(table["ties.break"]) >= {"expected", "random"} and len(table) % 6 == 0
    assert {path.name for path in tmp_path.glob("*.csv")} == {"spread.csv", "decisions.csv", "options.csv"}
    assert "run.finished" in (tmp_path / "journal.jsonl").read_text()
    plain = json.loads(call(*arguments, "--json", "--into", tmp_path).output)
    assert plain["complete"] and sum(plain["metrics"]["ndcg@10"]["wins"].values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("explain", "{run}"), "give one of: a second run, --to-protocol, or --find"),
        (("explain", "{run}", "--find", "0.1", "--to-protocol", "random-5fold"), "give one of"),
        (("explain", "{run}", "--to-protocol", "random-5fold", "--plot", "x.gif"), "a chart cannot be written"),
        (("explain", "{run}", "--to-protocol", "random-6fold"), "random-5fold"),
        (("multiverse", "{run}", "--vary", "split.folds"), "changes the fitted models"),
        (("multiverse", "{run}", "--vary", "tyes"), "no decision or family 'tyes'"),
        (("diff", "nowhere", "{run}"), "not a run folder"),
    ],
)
def test_what_cannot_be_done_is_told(runs, study, arguments, message):
    options = [runs[0] if item == "{run}" else item for item in arguments]
    if options[0] != "diff":
        options += data_of(study)
    result = call(*options)
    assert result.exit_code != 0
    assert message in result.output + str(result.exception)


def test_what_may_be_varied_is_completed():
    from repro.cli.options.protocol_options import complete_varied

    offered = [item.value for item in complete_varied(None, None, "ties,metric.nd")]
    assert "ties,metric.ndcg" in offered and "ties,metric.ndcg.gain" in offered
    assert not [item.value for item in complete_varied(None, None, "split")]
