"""What an audit of evaluators found, as its journal says it."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from repro.data.spreadsheet import CellWriter
from repro.errors import StudyError
from repro.protocol import Value, registry
from repro.runs.folder import JOURNAL
from repro.runs.journal import Contents, audit_events, read_journal


@dataclass(frozen=True, eq=False)
class Survey:
    """What a journal says of an audit, in the order in which evaluators are declared, however it came about.

    inferred  by measure, ``framework/evaluator measure``
    failed    measures, comparisons and whole evaluations that ended in an error
    """

    folder: Path
    began: audit_events.AuditStarted
    inferred: Mapping[str, audit_events.MeasureInferred]
    compared: Sequence[audit_events.MetricCompared] = ()
    pipelines: Sequence[audit_events.PipelineAudited] = ()
    failed: Mapping[str, str] = field(default_factory=dict)

    @property
    def measures(self) -> dict[str, str]:
        """The measures that were to be audited, each with the metric that it is taken for."""
        return measures_of(self.began)

    @classmethod
    def read(cls, folder: Path) -> Survey:
        return cls.of(folder, read_journal(folder / JOURNAL))

    @classmethod
    def of(cls, folder: Path, contents: Contents) -> Survey:
        """What the lines of a journal say; of what was done again, the last."""
        if not contents.events("audit.started"):
            raise StudyError(f"{folder} holds no audit of evaluators; `repro audit report --into {folder}` makes one")
        began = contents.events("audit.started")[0]
        inferred: dict[str, audit_events.MeasureInferred] = {}
        compared: dict[str, audit_events.MetricCompared] = {}
        pipelines: dict[str, audit_events.PipelineAudited] = {}
        failed: dict[str, str] = {}
        for line in contents.lines:
            match line.event:
                case audit_events.MeasureInferred() as event:
                    inferred[event.name] = event
                case audit_events.MetricCompared() as event:
                    compared[event.metric] = event
                case audit_events.PipelineAudited() as event:
                    pipelines[event.name] = event
                case audit_events.MeasureFailed() | audit_events.ComparisonFailed() as event:
                    failed[event.name] = event.error
                    continue
                case _:
                    continue
            failed.pop(event.metric if isinstance(event, audit_events.MetricCompared) else event.name, None)
        return cls(
            folder,
            began,
            {name: inferred[name] for name in measures_of(began) if name in inferred},
            [compared[metric] for metric in sorted(compared)],
            [pipelines[name] for name in began.pipelines if name in pipelines],
            {name: failed[name] for name in sorted(failed)},
        )


def measures_of(began: audit_events.AuditStarted) -> dict[str, str]:
    """The measures that are to be audited, each with the metric that it is taken for."""
    return {f"{one.name} {measure}": meant for one in began.evaluators for measure, meant in one.measures.items()}


def policy_table(survey: Survey) -> str:
    """The policies as CSV: a row for each measure, a column for each decision.

    What cannot be told apart is written with "or" in between; what is not settled is empty.
    """
    decided = {key for event in survey.inferred.values() for key in event.policy}
    decisions = [key for key in registry() if key in decided]
    text = io.StringIO()
    table = CellWriter(text)
    table.writerow(["evaluator", "measure", "metric", "status", "confirmed", "tried", "decimals", *decisions])
    for name, metric in survey.measures.items():
        evaluator, _, measure = name.partition(" ")
        event = survey.inferred.get(name)
        if event is None:
            table.writerow([evaluator, measure, metric, "failed", "", "", "", *("" for _ in decisions)])
            continue
        told = [
            "" if event.decimals is None else event.decimals,
            *(_as_text(options_of(event, key)) for key in decisions),
        ]
        table.writerow([evaluator, measure, metric, event.status, event.confirmed, event.tried, *told])
    return text.getvalue()


def options_of(event: audit_events.MeasureInferred, decision: str) -> tuple[Value, ...]:
    """The option that a measure takes: several where they cannot be told apart, none where it is not settled."""
    alike = [tuple(one.options) for one in event.unidentifiable if one.decision == decision and one.options]
    if alike:
        return alike[0]
    return (event.policy[decision],) if decision in event.policy else ()


def is_random(event: audit_events.MeasureInferred) -> bool:
    """Whether a measure has no policy because it gives several answers to one question."""
    return not event.policy and any(one.kind == "random" for one in event.unstable)


def doubtful(event: audit_events.MeasureInferred) -> tuple[str, ...]:
    """The aspects of which the policy says nothing, or nothing certain; as :attr:`Inference.doubtful`."""
    unexplained, unstable = (one.aspect for one in event.unexplained), (one.aspect for one in event.unstable)
    return tuple(dict.fromkeys((*unexplained, *unstable)))


def _as_text(options: Sequence[Value]) -> str:
    return " or ".join(str(value).lower() if isinstance(value, bool) else str(value) for value in options)
