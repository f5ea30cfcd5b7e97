"""Results write the report that their command writes, and draw a chart."""

import json

import pandas as pd
import pytest

import repro
from repro.errors import StudyError
from repro.reports.replicate import verdict_chart

ROWS = [(user, item, 1 + (user * item) % 5) for user in range(12) for item in range(8) if (user + item) % 3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def run(folder):
    pd.DataFrame(ROWS, columns=["user", "item", "rating"]).to_csv(folder / "ratings.csv", index=False)
    protocol = repro.Protocol.load("random-5fold", split__folds=2)
    study = repro.Study(
        folder / "ratings.csv", protocol, ["reference/popularity", "reference/ease"], ["ndcg@5", "precision@5"]
    )
    return study.run(folder / "run", keep_scores=True, report=False)


def test_explanations_multiverses_and_metric_studies(run, folder):
    settings = repro.metric_study.Settings(("ndcg", "precision"), (2, 5), samples=2, randomisations=50)
    results = {
        "explanation": repro.explain(run, "said-bellogin-ut"),
        "multiverse": repro.multiverse(run, ["ties"]),
        "metrics": repro.study_metrics(run, settings),
    }
    for name, result in results.items():
        page = result.report(folder / name)
        assert page == folder / name / "report.html" and "<h1>" in page.read_text()
        assert repro.verify(folder / name).holds  # every file is in the journal, which goes on from that of the run
        assert result.plot().to_dict()["$schema"].startswith("https://vega")
        assert len(repr(result).splitlines()) <= 45 and " object at 0x" not in repr(result)
        assert "<table" in result._repr_html_()
    study = results["metrics"]
    for kind in ("metrics", "cutoffs"):
        for figure in ("correlation", "sparsity", "popularity", "power"):
            assert study.plot(f"{figure}-of-{kind}").to_dict()
    with pytest.raises(StudyError, match=r"no figure 'power-of-metric'; did you mean 'power-of-metrics'"):
        study.plot("power-of-metric")


CLAIM = """
title = "A tiny table"
source = "Table 1 of an invented paper"
seeds = [7]
[data]
name = "ratings.csv"
[protocol]
base = "random-5fold"
split.folds = 2
[[algorithms]]
use = "reference/popularity"
label = "Pop"
[[cells]]
algorithm = "Pop"
metric = "ndcg@5"
value = "0.123"
[[cells]]
algorithm = "Pop"
metric = "precision@5"
value = "0.2"
"""


def test_replications(run, folder):
    claim = folder / "claim.toml"
    claim.write_text(CLAIM)
    replication = repro.replicate(claim)
    chart = json.dumps(replication.plot().to_dict())
    for judgement in replication.judgements:
        assert judgement.verdict in chart and judgement.printed.text in chart
    page = replication.report()
    assert page == claim.parent / "report.html" and replication.title in page.read_text()
    assert replication.report(claim.parent / "other.html").read_bytes() == page.read_bytes()
    assert repro.verify(claim.parent).holds


def test_every_verdict_on_a_number_has_a_look():
    of_patterns = {"holds", "does not hold", "not run"}
    assert set(verdict_chart._STYLES) == set(repro.replications.VERDICTS) - of_patterns
    assert len(set(verdict_chart._STYLES.values())) == len(verdict_chart._STYLES)
