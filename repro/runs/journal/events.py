"""What a journal records: one model for each kind of event; the JSON Schema is made from them.

Those of a run are here, those of an audit of evaluators in :mod:`repro.runs.journal.audit_events`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from repro.runs.journal.audit_events import AuditEvent
from repro.runs.journal.base import BaseEvent, Digest, FileName, Files, Number


class DecisionEntry(BaseEvent):
    """A decision in effect: its value, what that means, and who made it."""

    decision: str
    value: str | int | float | bool
    meaning: str
    origin: str


class ImpactEntry(BaseEvent):
    """What a decision touched, as numbers and as a sentence."""

    decision: str
    value: str | int | float | bool
    touched: int
    total: int
    unit: str
    note: str
    sentence: str


class MeasureEntry(BaseEvent):
    """A metric by its short name and by the name that says every variant."""

    name: str
    full_name: str


class ValueEntry(BaseEvent):
    """A number of one cell; null where it is not a number.

    ``lowest`` and ``highest`` are the extremes over all orders of tied items; null where they are not known.
    """

    metric: str
    value: float | None
    users: int
    lowest: float | None = None
    highest: float | None = None


class FactsEntry(BaseEvent):
    """What was counted of one cell to find out what is suspicious (:class:`repro.evaluation.suspicion.Facts`).

    ``tied_users`` is by cut-off.
    """

    users: int
    lists: int
    candidates: int
    unscored: int
    fallback: int
    constant_lists: int
    empty_lists: int
    listed: int
    listed_unscored: int
    tied_users: dict[str, int]
    predictions: int
    predictions_missing: int
    predictions_fallback: int
    prediction_range: tuple[float, float] | None
    ratings_vary: bool


class FindingEntry(BaseEvent):
    """Something suspicious about an algorithm: a code that stays the same, the numbers, and a sentence.

    ``others`` are further algorithms that it is about.
    """

    code: str
    severity: Literal["warning", "note"]
    algorithm: str
    sentence: str
    metric: str
    figures: dict[str, int | float | str]
    others: tuple[str, ...] = ()


class SecondsEntry(BaseEvent):
    """How long one cell took: the framework to fit, to score the candidates and to predict the held-out pairs, and
    the core to rank and measure."""

    fit: float
    score: float = 0.0
    predict: float = 0.0
    rank: float = 0.0


class RunStarted(BaseEvent):
    """A run begins: what was asked, with which software, on which machine.

    ``left_out`` is what the study asked for with ``*`` and what cannot run here, with the reason.
    """

    event: Literal["run.started"] = "run.started"
    question: str
    study_digest: str
    protocol_hash: str
    seed: int
    versions: dict[str, str]
    machine: dict[str, Number]
    workers: int
    executor: Literal["local", "ray"] = "local"
    block_users: int
    left_out: dict[str, str] = Field(default_factory=dict)


class RunResumed(BaseEvent):
    """A run that was cut off goes on."""

    event: Literal["run.resumed"] = "run.resumed"
    cells_kept: list[str]
    tunings_kept: list[str] = Field(default_factory=list)
    torn_bytes_dropped: int
    versions: dict[str, str]
    machine: dict[str, Number]
    workers: int
    executor: Literal["local", "ray"] = "local"


class DecisionsResolved(BaseEvent):
    """Every decision of the protocol."""

    event: Literal["decisions.resolved"] = "decisions.resolved"
    protocol: str
    decisions: list[DecisionEntry]
    left_open_by_source: list[str]
    measures: list[MeasureEntry]


class DataLoaded(BaseEvent):
    """The data set as it came, and the SHA-256 of each file that a decision of the protocol names."""

    event: Literal["data.loaded"] = "data.loaded"
    data: str
    digest: str
    rows: int
    users: int
    items: int
    files: dict[str, str] = Field(default_factory=dict)


class DataPrepared(BaseEvent):
    """The data set after filters and duplicates."""

    event: Literal["data.prepared"] = "data.prepared"
    digest: str
    rows: int
    users: int
    items: int
    scale: tuple[float, float]
    impacts: list[ImpactEntry]


class FoldMade(BaseEvent):
    """One fold: how many rows are in each part, and their digests."""

    event: Literal["fold.made"] = "fold.made"
    fold: str
    train_rows: int
    validation_rows: int
    test_rows: int
    train_digest: str
    validation_digest: str | None
    test_digest: str
    artifacts: dict[str, Digest]


class SplitMade(BaseEvent):
    """All folds are made; what the decisions about the split touched."""

    event: Literal["split.made"] = "split.made"
    folds: int
    impacts: list[ImpactEntry]


class RangeEntry(BaseEvent):
    """Numbers from low to high, tried evenly or, with ``log``, evenly in their logarithms."""

    low: int | float
    high: int | float
    log: bool


class TrialEntry(BaseEvent):
    """Parameters that were tried: their value on the validation part, or why there is none.

    ``no-value``: the metric has nothing to say about the algorithm with these parameters. Parameters proposed again
    are not fitted again, and take no time.
    """

    number: int
    parameters: dict[str, str | int | float | bool]
    state: Literal["complete", "failed", "no-value"]
    value: float | None
    users: int
    seconds: float
    error: str = ""


class BudgetEntry(BaseEvent):
    """How much may be tried: the same for all algorithms of a study."""

    trials: int
    seconds: float | None


class TuningFinished(BaseEvent):
    """The parameters of an algorithm on a fold are chosen, on the validation part, before the test part is opened.

    ``left_out`` are parameters of the space that were not tuned, with the reason. Nothing is chosen where no trial has
    a value.
    """

    event: Literal["tuning.finished"] = "tuning.finished"
    cell: str
    algorithm: str
    fold: str
    metric: MeasureEntry
    better: Literal["higher", "lower"]
    search: Literal["grid", "tpe"]
    seed: int
    budget: BudgetEntry
    space: dict[str, RangeEntry | list[str | int | float | bool]]
    left_out: dict[str, str]
    refit: Literal["train", "train+validation"]
    trials: list[TrialEntry]
    chosen: dict[str, str | int | float | bool] | None
    artifacts: dict[str, Digest]
    seconds: float


class CellStarted(BaseEvent):
    """One algorithm on one fold begins, in this process or in the framework's own environment.

    ``unmapped`` are parameters that were asked for and that the framework cannot express, with the reason. ``tuned``
    says whether the parameters were chosen by tuning.
    """

    event: Literal["cell.started"] = "cell.started"
    cell: str
    algorithm: str
    framework: str
    framework_version: str
    fold: str
    where: str
    parameters: dict[str, str | int | float | bool]
    unmapped: dict[str, str]
    tuned: bool = False
    fitted_on: Literal["train", "train+validation"] = "train"
    deterministic: bool
    seed: int


class CellFinished(BaseEvent):
    """One algorithm on one fold is done: its numbers, what each decision touched, what was stored.

    ``artifacts`` are stored under their digests; ``digests`` are of what is not stored, such as the candidates.
    ``notes`` are what the algorithm has to say about how it came by its scores; ``node`` is the machine of a cluster
    that it ran on; ``facts`` are what was counted to find out what is suspicious.
    """

    event: Literal["cell.finished"] = "cell.finished"
    cell: str
    values: list[ValueEntry]
    impacts: list[ImpactEntry]
    artifacts: dict[str, Digest]
    digests: dict[str, str]
    seconds: SecondsEntry
    notes: dict[str, str] = Field(default_factory=dict)
    node: str | None = None
    facts: FactsEntry | None = None


class CellFailed(BaseEvent):
    """One algorithm on one fold could not be done."""

    event: Literal["cell.failed"] = "cell.failed"
    cell: str
    error: str


class ResultsWritten(BaseEvent):
    """The tables are written: each file that the run made, beside its artefacts, and its digest."""

    event: Literal["results.written"] = "results.written"
    files: Files


class FindingsMade(BaseEvent):
    """What is suspicious about the results, by algorithm; it replaces what an earlier such event says."""

    event: Literal["findings.made"] = "findings.made"
    findings: list[FindingEntry]


class RunFinished(BaseEvent):
    """The run is over."""

    event: Literal["run.finished"] = "run.finished"
    cells: int
    failed: int
    seconds: float


class ReportWritten(BaseEvent):
    """A command wrote files into the folder, in place of those of the same names: their digests.

    ``used`` are files of the folder that these were made of; ``removed`` are files that the command took away. In a
    folder whose journal continues that of a run elsewhere, ``run`` is the hash of the last line of that journal.
    ``tested`` says how differences were tested, where the files say which are significant: test, family, correction.
    """

    event: Literal["report.written"] = "report.written"
    files: Files
    tested: str = ""
    used: Files = Field(default_factory=dict)
    removed: list[FileName] = Field(default_factory=list)
    run: Digest | None = None


RECORDED_LATER = "The digests were recorded when this line was written: they say nothing about an earlier time."


class FilesAdded(BaseEvent):
    """Files that were in the folder without a digest in the journal, or that people changed since; and those that
    people took away."""

    event: Literal["files.added"] = "files.added"
    files: Files
    removed: list[FileName] = Field(default_factory=list)
    note: str = RECORDED_LATER


# Events about files beside a run: they come after its end, and change nothing of it.
ABOUT_FILES = ("report.written", "files.added")


Event = Annotated[
    RunStarted
    | RunResumed
    | DecisionsResolved
    | DataLoaded
    | DataPrepared
    | FoldMade
    | SplitMade
    | TuningFinished
    | CellStarted
    | CellFinished
    | CellFailed
    | FindingsMade
    | ResultsWritten
    | RunFinished
    | ReportWritten
    | FilesAdded
    | AuditEvent,
    Field(discriminator="event"),
]


class Line(BaseModel):
    """One line of a journal: an event in its place of the chain."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int = Field(ge=1, description="Position in the journal, from 1.")
    time: str = Field(description="When it was written, UTC, ISO 8601.")
    previous: str = Field(description="The hash of the line before; 64 zeros for the first.")
    event: Event
    hash: str = Field(description="SHA-256 of the other fields as JSON: keys sorted, no spaces, UTF-8.")

    def cited(self, digits: int = 64) -> str:
        """Number, event and hash (its first ``digits``), as outputs quote a line so that a reader can look it up."""
        return f"line {self.number} ({self.event.event}), SHA-256 {self.hash[:digits]}"


def journal_schema() -> dict[str, Any]:
    """The JSON Schema of one line of a journal."""
    schema = TypeAdapter(Line).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "repro journal line"} | {
        key: value for key, value in schema.items() if key != "title"
    }


if __name__ == "__main__":
    Path(__file__).with_name("schema.json").write_text(json.dumps(journal_schema(), indent=2) + "\n")
