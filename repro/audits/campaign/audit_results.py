"""The results of an audit of many evaluators, read from its journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from repro.current import views
from repro.data.spreadsheet import csv_text
from repro.errors import StudyError
from repro.protocol import Value, registry
from repro.runs.folder import JOURNAL
from repro.runs.journal import Contents, audit_events, read_journal


@dataclass(frozen=True, eq=False)
class AuditResults:
    """The events of an audit, in the order in which its evaluators are declared.

    inferred  by measure, ``framework/evaluator measure``
    failed    measures, comparisons and whole evaluations that ended in an error, with the error
    """

    folder: Path
    started: audit_events.AuditStarted
    inferred: Mapping[str, audit_events.MeasureInferred]
    compared: Sequence[audit_events.MetricCompared] = ()
    pipelines: Sequence[audit_events.PipelineAudited] = ()
    failed: Mapping[str, str] = field(default_factory=dict)

    @property
    def measures(self) -> dict[str, str]:
        """All measures of the audit, each with the metric that it is declared as."""
        return measures_of(self.started)

    def report(self) -> Path:
        """Write the pages of the audit into its folder, and return the path of the first one."""
        return views().report(self, None)

    @classmethod
    def read(cls, folder: Path) -> AuditResults:
        """The results in a folder."""
        return cls.of(folder, read_journal(folder / JOURNAL))

    @classmethod
    def of(cls, folder: Path, contents: Contents) -> AuditResults:
        """The results in the contents of a journal; the last event about a measure, metric or pipeline counts."""
        if not contents.events("audit.started"):
            raise StudyError(f"{folder} holds no audit of evaluators; `repro audit report --into {folder}` makes one")
        started = contents.events("audit.started")[0]
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
            started,
            {name: inferred[name] for name in measures_of(started) if name in inferred},
            [compared[metric] for metric in sorted(compared)],
            [pipelines[name] for name in started.pipelines if name in pipelines],
            {name: failed[name] for name in sorted(failed)},
        )


def measures_of(started: audit_events.AuditStarted) -> dict[str, str]:
    """All measures of an audit, each with the metric that it is declared as."""
    return {
        f"{evaluator.name} {measure}": declared
        for evaluator in started.evaluators
        for measure, declared in evaluator.measures.items()
    }


def policy_table(results: AuditResults) -> str:
    """The policies as CSV: a row for each measure, a column for each decision.

    Equivalent options are joined by "or"; the cell of a decision that is not determined is empty.
    """
    decided = {key for event in results.inferred.values() for key in event.policy}
    decisions = [key for key in registry() if key in decided]
    rows: list[list[object]] = [
        ["evaluator", "measure", "metric", "status", "confirmed", "tried", "decimals", *decisions]
    ]
    for name, metric in results.measures.items():
        evaluator, _, measure = name.partition(" ")
        event = results.inferred.get(name)
        if event is None:
            rows.append([evaluator, measure, metric, "failed", "", "", "", *("" for _ in decisions)])
            continue
        decimals = "" if event.decimals is None else event.decimals
        options = [options_text(options_of(event, key)) for key in decisions]
        rows.append([evaluator, measure, metric, event.status, event.confirmed, event.tried, decimals, *options])
    return csv_text(rows)


def options_of(event: audit_events.MeasureInferred, decision: str) -> tuple[Value, ...]:
    """The option of a measure: several where they are equivalent, none where the decision is not determined."""
    equivalent = [entry.options for entry in event.unidentifiable if entry.decision == decision and entry.options]
    if equivalent:
        return tuple(equivalent[0])
    return (event.policy[decision],) if decision in event.policy else ()


def is_random(event: audit_events.MeasureInferred) -> bool:
    """Whether a measure has no policy because the same question gets different answers."""
    return not event.policy and any(entry.kind == "random" for entry in event.unstable)


def doubtful(event: audit_events.MeasureInferred) -> tuple[str, ...]:
    """The aspects that the policy does not explain, or for which answers vary; as :attr:`Inference.doubtful`."""
    unexplained, unstable = (entry.aspect for entry in event.unexplained), (entry.aspect for entry in event.unstable)
    return tuple(dict.fromkeys((*unexplained, *unstable)))


def options_text(options: Sequence[Value]) -> str:
    """Options as text, without quotation marks."""
    return " or ".join(str(value).lower() if isinstance(value, bool) else str(value) for value in options)
