"""`repro study-metrics`."""

import json

import pytest
from click.testing import CliRunner

from repro import Study
from repro.cli import cli
from repro.data import synthetic_interactions
from repro.errors import StudyError


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return (
        Study(
            synthetic_interactions(users=40, items=50, ratings=800, alpha=1.0, seed=5),
            "valcarce-2018-allitems",
            ["reference/random", "reference/popularity", "reference/item-mean"],
            ["ndcg@20"],
        )
        .run(tmp_path_factory.mktemp("study") / "run")
        .folder
    )


def invoke(*arguments):
    return CliRunner().invoke(cli, ["study-metrics", *map(str, arguments)], catch_exceptions=False)


QUICK = ("-m", "ndcg", "-m", "rr", "--cutoffs", "5,20", "--samples", 1, "--randomisations", 100, "--workers", 1)


def test_tables_a_report_and_the_answer_beside_the_run(run):
    result = invoke(run, *QUICK)
    assert result.exit_code == 0
    assert "Metrics at cut-off 20" in result.output and "Cut-offs of ndcg" in result.output
    assert "ndcg@5" in result.output and "rr@20" in result.output
    for name in ("report.html", "sparsity.csv", "dp.csv", "figure-8-power-of-metrics.svg"):
        assert (run.parent / "metric-study" / name).exists()


def test_json_for_scripts(run, tmp_path):
    result = invoke(run, *QUICK, "--json", "--into", tmp_path / "there", "--seed", 3)
    printed = json.loads(result.stdout)
    assert printed["folder"] == str(tmp_path / "there") and printed["seed"] == 3
    assert printed["systems"] == ["reference random", "reference popularity", "reference item-mean"]
    assert [(row["metric"], row["cutoff"]) for row in printed["metrics"]] == [("ndcg", 20), ("rr", 20)]
    assert [(row["metric"], row["cutoff"]) for row in printed["cutoffs"]] == [("ndcg", 5), ("ndcg", 20)]
    assert printed["metrics"][0]["pairs"] == 3


def test_help_has_an_example():
    output = invoke("--help").output
    assert "repro study-metrics reports/metric-study-ml100k/run" in " ".join(output.split())


def test_mistakes_are_told(run):
    result = invoke(run, "--cutoffs", "5,ten")
    assert result.exit_code == 2 and "write whole numbers with commas" in result.output
    with pytest.raises(StudyError, match="down to rank 20"):
        invoke(run, "-m", "ndcg")
