"""A run as MLflow has it: one run with the decisions and the numbers of all folds, and below it one for each cell.

What is logged comes from the journal, with the times of the journal; what the journal has by digest is logged as a tag
with that digest.
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

FIRST = "repro.first_event"
MOST_AT_ONCE = 100  # what MLflow takes in one call
LONGEST = 500  # characters of a parameter that every version of MLflow takes


@dataclass
class _Run:
    """A run that is going on: its id in MLflow, those of its cells, and how the study calls its metrics."""

    id: str
    cells: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


class Tracking:
    """Writes what journals say to an MLflow store."""

    def __init__(self, address: str, experiment: str) -> None:
        self._client = MlflowClient(tracking_uri=address)
        known = self._client.get_experiment_by_name(experiment)
        self._experiment = known.experiment_id if known else self._client.create_experiment(experiment)
        self._runs: dict[Path, _Run] = {}

    def observe(self, folder: Path, line: Mapping[str, Any]) -> None:
        """Log one line of the journal of the run in ``folder``."""
        event = line["event"]
        kind = event["event"].replace(".", "_")
        when = _milliseconds(line["time"])
        if kind == "run_started":
            self._begin(folder, line["hash"], event, when)
        elif handle := getattr(self, f"_{kind}", None):
            handle(self._run(folder), folder, line, event, when)

    def _begin(self, folder: Path, first: str, event: Mapping[str, Any], when: int) -> None:
        tags = {
            FIRST: first,
            MLFLOW_SOURCE_NAME: "repro",
            "repro.folder": folder.name,
            "repro.question": event["question"],
            "repro.protocol": event["protocol_hash"],
            "repro.study": event["study_digest"],
            **{f"repro.version.{_key(name)}": version for name, version in event["versions"].items()},
            **{f"repro.machine.{_key(name)}": str(value) for name, value in event["machine"].items()},
        }
        name = event["question"] or folder.name
        made = self._client.create_run(self._experiment, start_time=when, tags=tags, run_name=name)
        self._runs[folder] = _Run(made.info.run_id)
        self._log(made.info.run_id, params={"seed": event["seed"]})

    def _run(self, folder: Path) -> _Run:
        """The run of a folder; one that another process began is found by its first event."""
        if folder not in self._runs:
            with (folder / "journal.jsonl").open(encoding="utf-8") as file:
                lines = [json.loads(line) for line in file if line.endswith("\n")]
            matches = self._client.search_runs(
                [self._experiment], f"tags.`{FIRST}` = '{lines[0]['hash']}'", max_results=1
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
        where = f"repro.fold.{_key(event['fold'])}"
        self._log(run.id, tags={f"{where}.{part}": digest for part, digest in digests.items() if digest})

    def _cell_started(self, run: _Run, folder: Path, line: Any, event: Any, when: int) -> None:
        tags = {MLFLOW_PARENT_RUN_ID: run.id, MLFLOW_SOURCE_NAME: "repro", "repro.cell": event["cell"]}
        made = self._client.create_run(self._experiment, start_time=when, tags=tags, run_name=event["cell"])
        run.cells[event["cell"]] = made.info.run_id
        logged_params = ("algorithm", "framework", "framework_version", "fold", "seed", "tuned", "fitted_on")
        own = {f"parameter.{_key(name)}": value for name, value in event["parameters"].items()}
        self._log(made.info.run_id, params={name: event[name] for name in logged_params} | own)

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

        long = repro.Run(folder).results
        over_all = long[long["fold"] == "all"]
        values = {f"{row.algorithm}/{row.metric}": row.value for row in over_all.itertuples()}
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
        """All of it, in as many calls as MLflow wants; a metric that is not a number is left out."""
        numbers = {name: value for name, value in (metrics or {}).items() if value is not None and value == value}
        logged = [Metric(_key(name), float(value), when, 0) for name, value in numbers.items()]
        logged_params = [Param(_key(name), str(value)[:LONGEST]) for name, value in (params or {}).items()]
        tagged = [RunTag(name, value) for name, value in (tags or {}).items()]
        for start in range(0, max(len(logged), len(logged_params), len(tagged)), MOST_AT_ONCE):
            some = slice(start, start + MOST_AT_ONCE)
            self._client.log_batch(run, logged[some], logged_params[some], tagged[some])


def _metric_names(measures: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """How a study calls its metrics: by the short name, unless two would share it."""
    short = [measure["name"] for measure in measures]
    return {m["full_name"]: m["name"] if short.count(m["name"]) == 1 else m["full_name"] for m in measures}


def _key(name: str) -> str:
    """A name in the letters that MLflow allows: ``ndcg@10`` is ``ndcg_at_10``."""
    return re.sub(r"[^\w\-. :/]", "_", str(name).replace("@", "_at_"), flags=re.ASCII)


def _milliseconds(time: str) -> int:
    return round(datetime.fromisoformat(time).timestamp() * 1000)
