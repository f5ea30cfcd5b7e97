"""The events of an audit of evaluators; those of a run are in :mod:`repro.runs.journal.events`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from repro.runs.journal.base import BaseEvent, Digest, FileName, Session, Value


class UserEntry(BaseEvent):
    """A user of a case: scores by item (as text where they are not numbers), and items with their ratings."""

    user: int
    scores: dict[str, float | str]
    test: list[tuple[int, float]]
    train: list[tuple[int, float]]
    made_up: list[int]


class CaseEntry(BaseEvent):
    """The input of an evaluator: the cut-off, items in the order of presentation, and users.

    ``text_ids``: ids were text, such as ``x7``. ``interleaved``: the seed by which rows of users alternated, or 0.
    """

    k: int | None
    items: list[int]
    scale: tuple[float, float]
    users: list[UserEntry]
    text_ids: bool = False
    interleaved: int = 0


class EvaluatorEntry(BaseEvent):
    """An evaluator that is audited: its framework, where it runs, and the metric that each measure is taken for."""

    name: str
    framework_version: str
    where: str
    measures: dict[str, str]


class AuditStarted(Session):
    """An audit starts: the evaluators, the pipelines and the data set that these run on.

    ``left_out`` are evaluators that cannot run here, with the reason.
    """

    event: Literal["audit.started"] = "audit.started"
    seed: int
    evaluators: list[EvaluatorEntry]
    pipelines: list[str]
    data: str
    left_out: dict[str, str]


class AuditResumed(Session):
    """An interrupted audit continues."""

    event: Literal["audit.resumed"] = "audit.resumed"
    measures_kept: list[str]
    torn_bytes_dropped: int


class UnexplainedEntry(BaseEvent):
    """An aspect that no policy explains: the closest policy, its error (null: no number), and the smallest case."""

    aspect: str
    closest: dict[str, Value]
    residual: float | None
    agreed: int
    asked: int
    case: CaseEntry
    said: str
    would_say: str
    note: str = ""


class UnstableEntry(BaseEvent):
    """A question with several answers: when repeated, or with its rows in another order."""

    kind: Literal["random", "row order"]
    aspect: str
    case: CaseEntry
    answers: list[str]


class RefusedEntry(BaseEvent):
    """A kind of input that an evaluator rejects, its message, and a case."""

    aspect: str
    message: str
    case: CaseEntry


class UnidentifiableEntry(BaseEvent):
    """A decision with several remaining options (none: no question can test it), and the reason."""

    decision: str
    options: list[Value]
    why: str


class ThresholdEntry(BaseEvent):
    """Ratings from ``relevant`` on are relevant, those up to ``not_relevant`` (null: none is known) are not."""

    not_relevant: float | None
    relevant: float


class MeasureInferred(BaseEvent):
    """The policy of one measure of an evaluator.

    ``evidence`` is how many options were rejected with a case; the cases are on the page. ``attacked`` is how many
    questions of the adversary did not refute the policy, ``pairs`` how many pairs of aspects they had together, of how
    many. ``page`` is a file with its SHA-256. ``decisions`` are those in which the protocol of the policy differs from
    its base, and ``protocol_hash`` is null where there is no policy; earlier audits have no ``decisions``, but
    ``protocol``, a file with its SHA-256.
    """

    event: Literal["measure.inferred"] = "measure.inferred"
    name: str
    metric: str
    status: Literal["explained", "explained but for", "unexplained"]
    summary: str
    measure: str
    policy: dict[str, Value]
    confirmed: int
    tried: int
    asked: int
    decimals: int | None
    holds: list[str]
    unexplained: list[UnexplainedEntry]
    unstable: list[UnstableEntry]
    refused: list[RefusedEntry]
    unidentifiable: list[UnidentifiableEntry]
    evidence: int
    threshold: ThresholdEntry | None = None
    attacked: int = 0
    pairs: tuple[int, int] = (0, 0)
    not_asked: dict[str, str] = Field(default_factory=dict)
    page: FileName
    page_digest: Digest
    decisions: dict[str, Value] | None = None
    protocol: FileName | None = None
    protocol_digest: Digest | None = None
    protocol_hash: str | None
    seconds: float


class MeasureFailed(BaseEvent):
    """The audit of one measure ended in an error, without a result."""

    event: Literal["measure.failed"] = "measure.failed"
    name: str
    error: str


class ChoiceEntry(BaseEvent):
    """A decision that differs between two evaluators; null where it has no effect for one of them."""

    decision: str
    first: Value | None
    second: Value | None


class PairEntry(BaseEvent):
    """Two measures of one metric: the number of compared questions and the largest difference of each kind (null: one
    of them gave no number); ``case`` is the position of their smallest case."""

    first: str
    second: str
    verdict: Literal["agree", "differ", "not compared"]
    compared: dict[str, int]
    gaps: dict[str, float | None]
    case: int | None
    choices: list[ChoiceEntry]
    random: list[str]


class AnsweredCase(BaseEvent):
    """A smallest case on which two evaluators differ, and the answers of all."""

    kind: str
    case: CaseEntry
    answers: dict[str, str]


class RefusalEntry(BaseEvent):
    """An evaluator that rejects questions of a kind."""

    name: str
    kind: str
    refused: int
    asked: int
    message: str


class MetricCompared(BaseEvent):
    """All measures of one metric: which of them agree."""

    event: Literal["metric.compared"] = "metric.compared"
    metric: str
    names: list[str]
    agreeing: int
    compared: int
    share: float | None
    digits: int
    kinds: list[str]
    pairs: list[PairEntry]
    cases: list[AnsweredCase]
    refusals: list[RefusalEntry]
    seconds: float


class FoldEntry(BaseEvent):
    """The number that a framework reported of a fold, and that of the core for the same scores; null: no number."""

    fold: int
    reported: float | None
    measured: float | None
    difference: float | None
    equal: bool
    users: int


class AuditedMeasureEntry(BaseEvent):
    """One measure of a pipeline; ``explanations`` state why numbers differ."""

    measure: str
    metric: str
    equal: bool
    summary: str
    decimals: int | None
    protocol_hash: str | None
    explanations: list[str]
    folds: list[FoldEntry]


class PipelineAudited(BaseEvent):
    """A framework's whole evaluation, compared with the core under the policies of its evaluator."""

    event: Literal["pipeline.audited"] = "pipeline.audited"
    name: str
    title: str
    evaluator: str
    data: str
    seed: int
    equal: bool
    measures: list[AuditedMeasureEntry]
    seconds: float


class ComparisonFailed(BaseEvent):
    """A comparison of measures, or a pipeline, ended in an error."""

    event: Literal["comparison.failed"] = "comparison.failed"
    name: str
    error: str


class AuditFinished(BaseEvent):
    """The audit has ended."""

    event: Literal["audit.finished"] = "audit.finished"
    measures: int
    failed: int
    seconds: float


AuditEvent = (
    AuditStarted
    | AuditResumed
    | MeasureInferred
    | MeasureFailed
    | MetricCompared
    | PipelineAudited
    | ComparisonFailed
    | AuditFinished
)
