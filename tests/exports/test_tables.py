"""The CSV files, read back."""

import json

import pandas as pd
import pytest

from repro.exports import export
from repro.runs.run import Run


@pytest.fixture(scope="module")
def tables(run, tmp_path_factory):
    folder = export(run, "csv", tmp_path_factory.mktemp("csv") / "csv")
    return {path.stem: pd.read_csv(path, float_precision="round_trip") for path in folder.iterdir()}


def test_numbers_survive_to_the_last_bit(tables, run):
    assert set(tables) == {"results", "per_user", "impacts", "decisions", "seconds"}, "nothing was tuned"
    assert tables["results"]["value"].tolist() == pytest.approx(Run(run).results["value"].tolist(), abs=0, nan_ok=True)


def test_each_user_has_one_value_of_each_algorithm_and_metric(tables):
    frame = tables["per_user"]
    assert set(frame["user"].str[:6]) == {"user #"}
    assert not frame.duplicated(["algorithm", "metric", "user"]).any()
    assert set(frame["metric"]) == {"ndcg@10", "precision@5", "recall@10", "ap@20", "rr", "rmse"}


def test_decisions_are_those_of_the_journal(tables, run):
    lines = [json.loads(line)["event"] for line in (run / "journal.jsonl").read_text().splitlines()]
    entries = next(event for event in lines if event["event"] == "decisions.resolved")["decisions"]
    assert tables["decisions"]["decision"].tolist() == [entry["decision"] for entry in entries]
    assert tables["decisions"]["origin"].tolist() == [entry["origin"] for entry in entries]
    impacts = sum(len(event.get("impacts", ())) for event in lines)
    assert len(tables["impacts"]) == impacts
