"""Real runs into a real MLflow store, read back with MLflow's own client."""

import json

import pytest
from mlflow.tracking import MlflowClient

from repro import Protocol, Study
from repro.data import synthetic_interactions

ALGORITHMS = [
    {"use": "reference/popularity", "label": "most popular (100%)"},
    {"use": "reference/item-knn", "parameters": {"k": 7}},
]


def study(algorithms=ALGORITHMS, metrics=("ndcg@10", "ndcg[gain=exp2]@10", "rmse")):
    data = synthetic_interactions(users=60, items=50, ratings=900, alpha=1.0, seed=3)
    return Study(data, Protocol.load("random-5fold", split__folds=2), algorithms, list(metrics), seed=5)


@pytest.fixture
def store(tmp_path, monkeypatch):
    address = f"sqlite:///{tmp_path / 'mlflow.db'}"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    return MlflowClient(tracking_uri=address)


def runs(client):
    """The run of a study, and those of its cells by name."""
    (experiment,) = [entry for entry in client.search_experiments() if entry.name == "repro"]
    actual = client.search_runs([experiment.experiment_id])
    (parent,) = [run for run in actual if "mlflow.parentRunId" not in run.data.tags]
    return parent, {run.data.tags["repro.cell"]: run for run in actual if run is not parent}


def test_params_numbers_digests_and_tags_are_those_of_the_journal(store, tmp_path):
    results = study().run(tmp_path / "run")
    lines = [json.loads(line) for line in (tmp_path / "run" / "journal.jsonl").read_text().splitlines()]
    events = {line["event"]["event"]: line["event"] for line in lines}
    parent, cells = runs(store)
    assert parent.info.status == "FINISHED"
    assert parent.data.params["ties.break"] == "item-asc" and parent.data.params["seed"] == "5"
    assert len(parent.data.params) == len(events["decisions.resolved"]["decisions"]) + 4  # seed, rows, users, items
    assert parent.data.tags["repro.protocol"] == events["run.started"]["protocol_hash"]
    assert parent.data.tags["repro.data.digest"] == events["data.loaded"]["digest"]
    finished = next(line for line in lines if line["event"]["event"] == "run.finished")
    assert parent.data.tags["repro.runs.journal"] == finished["hash"]
    assert set(cells) == {f"{label}/{fold}" for label in results.table().index for fold in ("1", "2")}
    table = results.table()
    assert parent.data.metrics["most popular _100__/ndcg_at_10"] == table.loc["most popular (100%)", "ndcg@10"]
    assert "most popular _100__/rmse" not in parent.data.metrics, "it predicts no ratings"
    for event in (line["event"] for line in lines if line["event"]["event"] == "cell.finished"):
        cell = cells[event["cell"]]
        assert cell.info.status == "FINISHED" and cell.data.tags["mlflow.parentRunId"] == parent.info.run_id
        assert cell.data.metrics["ndcg_at_10"] == event["values"][0]["value"]
        assert cell.data.metrics["ndcg_gain_exp2__at_10"] == event["values"][1]["value"]
        assert cell.data.tags["repro.digest.lists"] == event["artifacts"]["lists"]
    assert cells["reference item-knn/1"].data.params["parameter.k"] == "7"
    assert not (tmp_path / "mlruns").exists()


def test_a_run_that_goes_on_in_another_process_is_the_same_run(store, tmp_path):
    from repro_mlflow import plugin

    complete = study()
    complete.run(tmp_path / "run")
    journal = tmp_path / "run" / "journal.jsonl"
    journal_lines = journal.read_bytes().splitlines(keepends=True)
    last = max(number for number, line in enumerate(journal_lines) if b'"cell.finished"' in line)
    journal.write_bytes(b"".join(journal_lines[:last]))  # killed before its last cell was done
    before, _ = runs(store)
    plugin._tracking.cache_clear()  # a new process knows nothing
    complete.run(tmp_path / "run", resume=True)
    after, cells = runs(store)
    assert after.info.run_id == before.info.run_id and after.info.status == "FINISHED"
    assert after.data.tags["repro.runs.journal"] != before.data.tags["repro.runs.journal"]
    assert len(cells) == 4


def test_without_the_variable_nothing_happens(tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    study().run(tmp_path / "run")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


def test_a_store_that_cannot_be_had_is_told_once_and_stops_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "no-such-kind-of-store://anywhere")
    with pytest.warns(UserWarning, match="plug-in mlflow failed to observe the journal") as caught:
        results = study().run(tmp_path / "run")
    assert len([entry for entry in caught if "mlflow failed" in str(entry.message)]) == 1
    assert len(results.table()) == 2
