"""Logs a run of repro to MLflow: a parent run with the decisions and the averages, and a nested run for each cell.

Parameters, metrics and times come from the journal; files are logged as tags with their digests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from mlflow.entities import Metric, Param, RunTag
from mlflow.tracking import MlflowClient
from mlflow.utils.mlflow_tags import MLFLOW_PARENT_RUN_ID, MLFLOW_SOURCE_NAME

FIRST_EVENT_TAG = "repro.first_event"
MAX_BATCH = 100  # the highest number of parameters or tags that MLflow accepts in one call
MAX_CHARACTERS = 500  # of a parameter value, in every version of MLflow


@dataclass
class _Run:
    """A run in progress: its id in MLflow, the ids of its cells, and the names of its metrics by their full names."""

    id: str
    cells: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


class Tracking:
    """Logs the events of journals to an MLflow store."""

    def __init__(self, address: str, experiment: str) -> None:
        self._client = MlflowClient(tracking_uri=address)
        existing = self._client.get_experiment_by_name(experiment)
        self._experiment = existing.experiment_id if existing else self._client.create_experiment(experiment)
        self._runs: dict[Path, _Run] = {}

    def observe(self, folder: Path, line: Mapping[str, Any]) -> None:
        """Log one line of the journal of the run in ``folder``."""
        event = line["event"]
        kind = event["event"].replace(".", "_")
        when = _milliseconds(line["time"])
        if kind == "run_started":
            self._begin(folder, line["hash"], event, when)
        elif handler := getattr(self, f"_{kind}", None):
            handler(self._run(folder), folder, line, event, when)

    def _begin(self, folder: Path, first_hash: str, event: Mapping[str, Any], when: int) -> None:
        tags = {
            FIRST_EVENT_TAG: first_hash,
            MLFLOW_SOURCE_NAME: "repro",
            "repro.folder": folder.name,
            "repro.question": event["question"],
            "repro.protocol": event["protocol_hash"],
            "repro.study": event["study_digest"],
            **{f"repro.version.{_key(name)}": version for name, version in event["versions"].items()},
            **{f"repro.machine.{_key(name)}": str(value) for name, value in event["machine"].items()},
        }
        name = event["question"] or folder.name
        mlflow_run = self._client.create_run(self._experiment, start_time=when, tags=tags, run_name=name)
        self._runs[folder] = _Run(mlflow_run.info.run_id)
        self._log(mlflow_run.info.run_id, params={"seed": event["seed"]})

    def _run(self, folder: Path) -> _Run:
        """The MLflow run of a folder, by its first event if another process created it."""
        if folder not in self._runs:
            with (folder / "journal.jsonl").open(encoding="utf-8") as file:
                lines = [json.loads(line) for line in file if line.endswith("\n")]
            matches = self._client.search_runs(
                [self._experiment], f"tags.`{FIRST_EVENT_TAG}` = '{lines[0]['hash']}'", max_results=1
            )
            if matches:
                self._runs[folder] = _Run(matches[0].info.run_id)
            else:
                self._begin(folder, lines[0]["hash"], lines[0]["event"], _milliseconds(lines[0]["time"]))
            for line in lines:
                if line["event"]["event"] == "decisions.resolved":
                    self._runs[folder].names = _metric_names(line["event"]["measures"])
        return self._runs[folder]

    def _run_resumed(self, run: _Run, folder: Path, line: Any, event: Any, when: int) -> None:
        self._client.update_run(run.id, status="RUNNING")

    def _decisions_resolved(self, run: _Run, folder: Path, line: Any, event: Any, when: int) -> None:
        run.names = _metric_names(event["measures"])
        self._log(run.id, params={entry["decision"]: entry["value"] for entry in event["decisions"]})

    def _data_loaded(self, run: _Run, folder: Path, line: Any, event: Any, when: int) -> None:
        tags = {"repro.data": event["data"], "repro.data.digest": event["digest"]}
        self._log(run.id, params={name: event[name] for name in ("rows", "users", "items")}, tags=tags)

    def _fold_made(self, run: _Run, folder: Path, line: Any, event: Any, when: int) -> None:
        digests = {part: event[f"{part}_digest"] for part in ("train", "validation", "test")}
        prefix = f"repro.fold.{_key(event['fold'])}"
        self._log(run.id, tags={f"{prefix}.{part}": digest for part, digest in digests.items() if digest})

    def _cell_started(self, run: _Run, folder: Path, line: Any, event: Any, when: int) -> None:
        tags = {MLFLOW_PARENT_RUN_ID: run.id, MLFLOW_SOURCE_NAME: "repro", "repro.cell": event["cell"]}
        mlflow_run = self._client.create_run(self._experiment, start_time=when, tags=tags, run_name=event["cell"])
        run.cells[event["cell"]] = mlflow_run.info.run_id
        logged_params = ("algorithm", "framework", "framework_version", "fold", "seed", "tuned", "fitted_on")
        parameters = {f"parameter.{_key(name)}": value for name, value in event["parameters"].items()}
        self._log(mlflow_run.info.run_id, params={name: event[name] for name in logged_params} | parameters)

    def _cell_finished(self, run: _Run, folder: Path, line: Any, event: Any, when: int) -> None:
        values = {run.names.get(entry["metric"], entry["metric"]): entry["value"] for entry in event["values"]}
        seconds = {f"seconds.{name}": value for name, value in event["seconds"].items()}
        digests = {**event["artifacts"], **event["digests"]}
        cell = run.cells[event["cell"]]
        self._log(cell, values | seconds, tags={f"repro.digest.{_key(n)}": d for n, d in digests.items()}, when=when)
        self._client.set_terminated(cell, "FINISHED", when)

    def _cell_failed(self, run: _Run, folder: Path, line: Any, event: Any, when: int) -> None:
        self._log(run.cells[event["cell"]], tags={"repro.error": event["error"]})
        self._client.set_terminated(run.cells[event["cell"]], "FAILED", when)

    def _results_written(self, run: _Run, folder: Path, line: Any, event: Any, when: int) -> None:
        import repro

        results = repro.Run(folder).results
        averages = results[results["fold"] == "all"]
        values = {f"{row.algorithm}/{row.metric}": row.value for row in averages.itertuples()}
        self._log(run.id, values, tags={f"repro.file.{_key(n)}": d for n, d in event["files"].items()}, when=when)

    def _run_finished(self, run: _Run, folder: Path, line: Any, event: Any, when: int) -> None:
        self._log(run.id, {"seconds": event["seconds"]}, tags={"repro.runs.journal": line["hash"]}, when=when)
        self._client.set_terminated(run.id, "FAILED" if event["failed"] else "FINISHED", when)
        del self._runs[folder]

    def _log(
        self,
        run: str,
        metrics: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        tags: Mapping[str, str] | None = None,
        when: int = 0,
    ) -> None:
        """Log metrics, parameters and tags in batches; metrics that are None or not a number are left out."""
        numbers = {name: value for name, value in (metrics or {}).items() if value is not None and value == value}
        logged_metrics = [Metric(_key(name), float(value), when, 0) for name, value in numbers.items()]
        logged_params = [Param(_key(name), str(value)[:MAX_CHARACTERS]) for name, value in (params or {}).items()]
        logged_tags = [RunTag(name, value) for name, value in (tags or {}).items()]
        for start in range(0, max(len(logged_metrics), len(logged_params), len(logged_tags)), MAX_BATCH):
            batch = slice(start, start + MAX_BATCH)
            self._client.log_batch(run, logged_metrics[batch], logged_params[batch], logged_tags[batch])


def _metric_names(measures: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The names of metrics by their full names: the short name, or the full name if two metrics share the short one."""
    short_names = [measure["name"] for measure in measures]
    return {m["full_name"]: m["name"] if short_names.count(m["name"]) == 1 else m["full_name"] for m in measures}


def _key(name: str) -> str:
    """A name with the characters that MLflow allows: ``ndcg@10`` is ``ndcg_at_10``."""
    return re.sub(r"[^\w\-. :/]", "_", str(name).replace("@", "_at_"), flags=re.ASCII)


def _milliseconds(time: str) -> int:
    return round(datetime.fromisoformat(time).timestamp() * 1000)
