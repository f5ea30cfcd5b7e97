"""The events of a run, one model for each kind, and the JSON Schema of a journal (:func:`journal_schema`).

The events of an audit of evaluators are in :mod:`repro.runs.journal.audit_events`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from repro.runs.journal.audit_events import AuditEvent
from repro.runs.journal.base import BaseEvent, Digest, FileName, Files, Session, Value

Parameters = dict[str, Value]


class DecisionEntry(BaseEvent):
    """A decision in effect: its value, the meaning of the value, and its origin."""

    decision: str
    value: Value
    meaning: str
    origin: str


class ImpactEntry(BaseEvent):
    """The number of rows, users or items that a decision affected, as numbers and as a sentence."""

    decision: str
    value: Value
    touched: int
    total: int
    unit: str
    note: str
    sentence: str


class MeasureEntry(BaseEvent):
    """A metric by its short name and by the name with all variants."""

    name: str
    full_name: str


class ValueEntry(BaseEvent):
    """A value of one cell; null where it is NaN.

    ``lowest`` and ``highest`` are the extremes over all orders of tied items; null where they are unknown.
    """

    metric: str
    value: float | None
    users: int
    lowest: float | None = None
    highest: float | None = None


class FactsEntry(BaseEvent):
    """The counts of one cell from which findings are made (:class:`repro.evaluation.suspicion.Facts`).

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
    """A finding about an algorithm: a stable code, the numbers, and a sentence; ``others`` are further algorithms."""

    code: str
    severity: Literal["warning", "note"]
    algorithm: str
    sentence: str
    metric: str
    figures: dict[str, int | float | str]
    others: tuple[str, ...] = ()


class SecondsEntry(BaseEvent):
    """The seconds of one cell: the framework fits, scores candidates and predicts held-out pairs; the core ranks and
    measures."""

    fit: float
    score: float = 0.0
    predict: float = 0.0
    rank: float = 0.0


class RunStarted(Session):
    """A run starts: the study, the software and the machine.

    ``left_out`` are algorithms that the study names with ``*`` and that cannot run here, with the reason.
    """

    event: Literal["run.started"] = "run.started"
    question: str
    study_digest: str
    protocol_hash: str
    seed: int
    executor: Literal["local", "ray"] = "local"
    block_users: int
    left_out: dict[str, str] = Field(default_factory=dict)


class RunResumed(Session):
    """An interrupted run continues."""

    event: Literal["run.resumed"] = "run.resumed"
    cells_kept: list[str]
    tunings_kept: list[str] = Field(default_factory=list)
    torn_bytes_dropped: int
    executor: Literal["local", "ray"] = "local"


class DecisionsResolved(BaseEvent):
    """Every decision of the protocol."""

    event: Literal["decisions.resolved"] = "decisions.resolved"
    protocol: str
    decisions: list[DecisionEntry]
    left_open_by_source: list[str]
    measures: list[MeasureEntry]


class ModelGiven(BaseEvent):
    """A model that was given in Python: code of the user's own, which is not in the folder of the run.

    ``source`` and ``module_source`` are digests of the source text of its class or function and of the file of its
    module, where there are any; ``content`` is that of its state before a fit, or of a matrix. ``fitted`` says what is
    fitted on each fold.
    """

    event: Literal["model.given"] = "model.given"
    label: str
    algorithm: str
    form: Literal["model", "recommender", "fitted", "function", "matrix"]
    content: Digest
    source: Digest | None = None
    module: str = ""
    module_source: Digest | None = None
    package: str = ""
    predicts: bool
    deterministic: bool
    tunable: bool
    parameters: Parameters
    fitted: str


class _DataEvent(BaseEvent):
    """The digest and the size of a data set."""

    digest: str
    rows: int
    users: int
    items: int


class DataLoaded(_DataEvent):
    """The data set before it is prepared, and the SHA-256 of each file that a decision of the protocol names."""

    event: Literal["data.loaded"] = "data.loaded"
    data: str
    files: dict[str, str] = Field(default_factory=dict)


class DataPrepared(_DataEvent):
    """The data set after filters and duplicates."""

    event: Literal["data.prepared"] = "data.prepared"
    scale: tuple[float, float]
    impacts: list[ImpactEntry]


class FoldMade(BaseEvent):
    """One fold: the number of rows of each part, and their digests."""

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
    """All folds are made; the effects of the decisions about the split."""

    event: Literal["split.made"] = "split.made"
    folds: int
    impacts: list[ImpactEntry]


class RangeEntry(BaseEvent):
    """Numbers from low to high, on a linear scale or, with ``log``, on a logarithmic one."""

    low: int | float
    high: int | float
    log: bool


class TrialEntry(BaseEvent):
    """A trial: parameters and their value on the validation part, or why there is none.

    ``no-value``: the metric is not defined for the algorithm with these parameters. Parameters suggested a second time
    are not fitted again: the trial takes 0 seconds.
    """

    number: int
    parameters: Parameters
    state: Literal["complete", "failed", "no-value"]
    value: float | None
    users: int
    seconds: float
    error: str = ""


class BudgetEntry(BaseEvent):
    """The budget of a search, the same for all algorithms of a study."""

    trials: int
    seconds: float | None


class TuningFinished(BaseEvent):
    """The parameters of an algorithm on a fold are chosen, on the part that ``split.tuned_on`` names.

    ``left_out`` are parameters of the search space that were not tuned, with the reason. ``chosen`` is null where no
    trial has a value.
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
    space: dict[str, RangeEntry | list[Value]]
    left_out: dict[str, str]
    trials: list[TrialEntry]
    chosen: Parameters | None
    artifacts: dict[str, Digest]
    seconds: float


class CellStarted(BaseEvent):
    """One algorithm on one fold starts, in this process or in the framework's own environment.

    ``unmapped`` are parameters of the study that the framework cannot express, with the reason. ``tuned`` is whether
    the parameters were chosen by tuning. ``follows`` is the named definition that the algorithm follows with these
    parameters, with the proof; empty where the study states none.
    """

    event: Literal["cell.started"] = "cell.started"
    cell: str
    algorithm: str
    framework: str
    framework_version: str
    fold: str
    where: str
    parameters: Parameters
    unmapped: dict[str, str]
    follows: str = ""
    tuned: bool = False
    fitted_on: str = "train"
    deterministic: bool
    seed: int


class CellFinished(BaseEvent):
    """One algorithm on one fold is done: its values, the effects of decisions, and the stored tables.

    ``artifacts`` are stored under their digests; ``digests`` are of data that is not stored, such as the candidates.
    ``notes`` are the algorithm's own remarks about its scores; ``node`` is the machine of a cluster that it ran on;
    ``facts`` are counts from which findings are made.
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
    """One algorithm on one fold ended in an error."""

    event: Literal["cell.failed"] = "cell.failed"
    cell: str
    error: str


class AlgorithmsDropped(BaseEvent):
    """The labels of the algorithms that the run goes on without, with the reason; it replaces an earlier event.

    The results leave them out, also where some of their cells are finished.
    """

    event: Literal["algorithms.dropped"] = "algorithms.dropped"
    labels: dict[str, str]


class ResultsWritten(BaseEvent):
    """The tables are written: every file of the run except its artefacts, with its digest."""

    event: Literal["results.written"] = "results.written"
    files: Files


class FindingsMade(BaseEvent):
    """All findings about the results, by algorithm; they replace those of an earlier event."""

    event: Literal["findings.made"] = "findings.made"
    findings: list[FindingEntry]


class RunFinished(BaseEvent):
    """The run has ended."""

    event: Literal["run.finished"] = "run.finished"
    cells: int
    failed: int
    seconds: float


class ReportWritten(BaseEvent):
    """A command wrote files into the folder, or replaced them: their digests.

    ``used`` are files of the folder that these were made from; ``removed`` are files that the command deleted. In a
    folder whose journal continues that of a run elsewhere, ``run`` is the hash of the last line of that journal.
    ``tested`` is the test, family and correction behind the significant differences in the files.
    """

    event: Literal["report.written"] = "report.written"
    files: Files
    tested: str = ""
    used: Files = Field(default_factory=dict)
    removed: list[FileName] = Field(default_factory=list)
    run: Digest | None = None


RECORDED_LATER = "The digests were recorded when this line was written: they say nothing about an earlier time."


class FilesAdded(BaseEvent):
    """Files of the folder without a digest in the journal, or that people have changed; and those that they deleted."""

    event: Literal["files.added"] = "files.added"
    files: Files
    removed: list[FileName] = Field(default_factory=list)
    note: str = RECORDED_LATER


# Events about files made from a run: they follow its end, and change nothing of it.
ABOUT_FILES = ("report.written", "files.added")


Event = Annotated[
    RunStarted
    | RunResumed
    | DecisionsResolved
    | ModelGiven
    | DataLoaded
    | DataPrepared
    | FoldMade
    | SplitMade
    | TuningFinished
    | CellStarted
    | CellFinished
    | CellFailed
    | AlgorithmsDropped
    | FindingsMade
    | ResultsWritten
    | RunFinished
    | ReportWritten
    | FilesAdded
    | AuditEvent,
    Field(discriminator="event"),
]


class Line(BaseModel):
    """One line of a journal: an event, linked to the previous line by its hash."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int = Field(ge=1, description="Position in the journal, from 1.")
    time: str = Field(description="When it was written, UTC, ISO 8601.")
    previous: str = Field(description="The hash of the line before; 64 zeros for the first.")
    event: Event
    hash: str = Field(description="SHA-256 of the other fields as JSON: keys sorted, no spaces, UTF-8.")

    def cited(self, digits: int = 64) -> str:
        """Number, event and hash (its first ``digits``), as reports and exports quote the line."""
        return f"line {self.number} ({self.event.event}), SHA-256 {self.hash[:digits]}"


def journal_schema() -> dict[str, Any]:
    """The JSON Schema of one line of a journal, made from the models of events."""
    schema = TypeAdapter(Line).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "repro journal line"} | {
        key: value for key, value in schema.items() if key != "title"
    }
