"""An audit of many evaluators into a folder: every step is journalled, and an interrupted audit can be resumed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from repro.audits.campaign.audit_results import AuditResults, doubtful, measures_of, policy_table
from repro.audits.campaign.tasks import AuditPipeline, CompareMeasures, InferMeasure, Task, TaskResult, run_tasks
from repro.audits.comparison.agreement import Agreement
from repro.audits.comparison.pairwise import by_metric
from repro.audits.examination.inference import Inference, brief
from repro.audits.pipelines.pipeline_audit import PipelineAudit
from repro.audits.policies import (
    RecordedPolicy,
    differing_decisions,
    file_stem,
    policies_text,
    recorded_protocol,
)
from repro.data import load_dataset
from repro.errors import PluginError, StudyError
from repro.evaluation.metrics import metric_named
from repro.plugin import Evaluator, Pipeline, plugins
from repro.plugin.host.placement import JOURNALLED
from repro.protocol import Protocol
from repro.runs.folder import JOURNAL, RunFolder, sha256
from repro.runs.journal import Contents, Journal, audit_events, has_journal, packed_journal, read_journal
from repro.runs.journal.events import ResultsWritten
from repro.runs.written_files import keep_files
from repro.study.environment import machine, software

PAGES, TABLE, PROTOCOLS, REPORT = "pages", "policies.csv", "protocols.toml", "report.html"

Progress = Callable[[str, int, int], None]  # is called with a stage, the tasks done and all tasks


@dataclass(frozen=True)
class AuditOptions:
    """Options of an audit of many evaluators: what it includes, and how it is run.

    pipelines  whole evaluations, which are run on ``data``; those of evaluators that are not audited are left out
    metrics    only measures that are declared as one of these; all by default
    left_out   evaluators that cannot run, with the reason, for the journal
    workers    the number of processes; it changes no number
    resume     finish an interrupted audit in the folder, or begin one
    fresh      replace an audit that is in the folder
    """

    pipelines: Collection[Pipeline] = ()
    data: str = "ml-100k"
    metrics: Collection[str] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    workers: int = 1
    resume: bool = False
    fresh: bool = False


def run_audit(
    evaluators: Collection[Evaluator],
    into: Path,
    protocols: Path,
    options: AuditOptions,
    progress: Progress | None = None,
) -> AuditResults:
    """Infer every measure of evaluators, compare those that are declared as one metric, and audit whole evaluations.

    into       the folder of the journal, of a table of policies and of a page for each measure
    protocols  the file for the table of inferred protocols
    """
    metrics = {metric_named(name).name for name in options.metrics}
    audited = [_restricted(evaluator, metrics) for evaluator in evaluators]
    audited = [evaluator for evaluator in audited if evaluator.measures]
    if not audited:
        raise PluginError(f"no evaluator measures {' or '.join(sorted(metrics)) or 'anything'}; nothing to audit")
    names = {evaluator.name for evaluator in audited}
    pipelines = [pipeline for pipeline in options.pipelines if pipeline.evaluator in names]
    if pipelines:
        load_dataset(options.data)  # fail now, and not after hours of work
    started = audit_events.AuditStarted(
        seed=options.seed,
        evaluators=[_entry(evaluator) for evaluator in audited],
        pipelines=[pipeline.name for pipeline in pipelines],
        data=options.data,
        left_out=dict(options.left_out),
        versions=software(name for name in plugins().frameworks if name in set(map(_framework, audited))),
        machine=machine(),
        workers=options.workers,
    )
    folder = RunFolder(into)
    into.mkdir(parents=True, exist_ok=True)
    with folder.locked():
        contents = _existing_journal(folder, options)
        _AuditRun(started, audited, pipelines, folder, protocols, progress or (lambda *_: None)).run(contents)
    return AuditResults.read(into)


def tables_from_journal(folder: Path, protocols: Path) -> tuple[AuditResults, list[str]]:
    """Write the tables of an audit from its journal alone; its results, and measures whose policy cannot be made again.

    Where there are such measures, which another version of the decisions recorded, no table of protocols is written.
    """
    results = AuditResults.read(folder)
    made = {name: recorded_protocol(event) for name, event in results.inferred.items() if event.protocol_hash}
    files = {TABLE: policy_table(results).encode()}
    lacking = [name for name, protocol in made.items() if protocol is None]
    if not lacking:
        table = policies_text({name: protocol for name, protocol in made.items() if protocol is not None}).encode()
        if protocols == folder / PROTOCOLS:
            files[PROTOCOLS] = table
        else:
            RunFolder(protocols.parent).write(protocols.name, table)
    keep_files(folder, files)
    return results, lacking


def _restricted(evaluator: Evaluator, metrics: Collection[str]) -> Evaluator:
    """The evaluator with only those measures that are declared as one of the metrics; all where there are none."""
    measures = {
        measure: declared
        for measure, declared in evaluator.measures.items()
        if not metrics or metric_named(declared.partition("@")[0]).name in metrics
    }
    return replace(evaluator, measures=measures)


def _framework(evaluator: Evaluator) -> str:
    return evaluator.name.partition("/")[0]


def _entry(evaluator: Evaluator) -> audit_events.EvaluatorEntry:
    name, frameworks = _framework(evaluator), plugins().frameworks
    return audit_events.EvaluatorEntry(
        name=evaluator.name,
        framework_version=frameworks[name].version if name in frameworks else "",
        where=JOURNALLED[plugins().location(name) if name in frameworks else "in-process"],
        measures=dict(evaluator.measures),
    )


def _existing_journal(folder: RunFolder, options: AuditOptions) -> Contents | None:
    """The journal to continue, if there is one; an audit in the folder is only replaced on request."""
    if not has_journal(folder.journal):
        return None
    if options.fresh and not options.resume:
        _clear(folder)
        return None
    contents = read_journal(folder.journal)
    if not options.resume:
        state = "a finished audit" if contents.events("audit.finished") else "an interrupted audit"
        raise StudyError(
            f"{folder.path} holds {state}; --resume finishes it, --fresh replaces it, --into takes another folder"
        )
    return contents if contents.lines else None


def _clear(folder: RunFolder) -> None:
    """Remove the files of an audit; other files in the folder stay."""
    shutil.rmtree(folder.path / PAGES, ignore_errors=True)
    for path in (*(folder.path / name for name in (REPORT, TABLE, PROTOCOLS, JOURNAL)), packed_journal(folder.journal)):
        path.unlink(missing_ok=True)


@dataclass(eq=False)
class _AuditRun:
    """One audit: its evaluators and pipelines, its journal, and the measures that are inferred."""

    _started: audit_events.AuditStarted
    _evaluators: Sequence[Evaluator]
    _pipelines: Sequence[Pipeline]
    _folder: RunFolder
    _protocols: Path
    _progress: Progress
    _inferred: dict[str, audit_events.MeasureInferred] = field(default_factory=dict)
    _policies: dict[str, RecordedPolicy] = field(default_factory=dict)
    _n_failed: int = 0

    def run(self, contents: Contents | None) -> None:
        """Do everything that the contents of an earlier journal do not have."""
        began_at = time.perf_counter()
        names = measures_of(self._started)
        _refuse_same_files(names)
        if contents is None:
            self._journal = Journal(self._folder.journal, None, self._observe)
            self._journal.write(self._started)
        else:
            self._refuse_another_audit(contents)
            self._keep_intact_measures(AuditResults.of(self._folder.path, contents))
            if contents.events("audit.finished") and self._is_complete(contents):
                self._write_protocols()
                return
            self._journal = Journal(self._folder.journal, contents, self._observe)
            self._journal.write(self._resumed(contents))
        missing = [InferMeasure(name, self._started.seed) for name in names if name not in self._inferred]
        done = set() if contents is None else self._done(contents, [task.name for task in missing])
        self._run_tasks("measures", missing, len(self._inferred))
        for stage, tasks in (("comparisons", self._comparisons()), ("pipelines", self._audits())):
            undone = [task for task in tasks if task.name not in done]
            self._run_tasks(stage, undone, len(tasks) - len(undone))
        self._finish(names, time.perf_counter() - began_at)

    def _observe(self, line: Mapping[str, Any]) -> None:
        plugins().observe(self._folder.path, line)

    def _run_tasks(self, stage: str, tasks: Sequence[Task], n_kept: int) -> None:
        total = n_kept + len(tasks)
        self._progress(stage, n_kept, total)
        results = run_tasks(tasks, self._started.workers) if tasks else ()
        for n_done, result in enumerate(results, start=n_kept + 1):
            self._record(result)
            self._progress(stage, n_done, total)

    def _record(self, result: TaskResult) -> None:
        """Write the result of a task into the journal."""
        name = result.task.name
        match result.value:
            case Inference() as inference:
                event = self._write_page(inference, result.seconds)
                self._inferred[name] = event
                self._policies[name] = _recorded_policy(event, inference.protocol)
                self._journal.write(event)
            case Agreement() as agreement:
                self._journal.write(audit_events.MetricCompared(**agreement.to_dict(), seconds=result.seconds))
            case PipelineAudit() as audit:
                self._journal.write(audit_events.PipelineAudited(**audit.to_dict(), seconds=result.seconds))
            case None:
                self._n_failed += 1
                is_measure = isinstance(result.task, InferMeasure)
                failure = audit_events.MeasureFailed if is_measure else audit_events.ComparisonFailed
                self._journal.write(failure(name=name, error=brief(result.error, 500)))

    def _write_page(self, inference: Inference, seconds: float) -> audit_events.MeasureInferred:
        """Write the page of a measure; the event."""
        page = f"{PAGES}/{file_stem(inference.name)}.txt"
        fields = inference.to_dict()
        fields |= {"evidence": len(inference.evidence), "unidentifiable": _open_decisions(inference)}
        fields = {key: value for key, value in fields.items() if key not in ("undetermined", "verdict")}
        return audit_events.MeasureInferred(
            **fields,
            page=page,
            page_digest=self._folder.write(page, inference.to_text().encode()),
            decisions=None if inference.protocol is None else differing_decisions(inference.protocol),
            seconds=seconds,
        )

    def _comparisons(self) -> list[Task]:
        """A task for each metric, the longest first; measures whose inference failed are not compared."""
        groups = {
            label: [box.name for box in boxes if box.name in self._policies]
            for label, boxes in by_metric(self._evaluators).items()
        }
        return [
            CompareMeasures(label, tuple(names), self._started.seed, {name: self._policies[name] for name in names})
            for label, names in sorted(groups.items(), key=lambda group: -len(group[1]))
            if len(names) > 1
        ]

    def _audits(self) -> list[Task]:
        """A task for each whole evaluation."""
        return [
            AuditPipeline(
                pipeline.name,
                self._started.data,
                self._measures_of(pipeline),
                self._started.seed,
                {name: self._policies[name] for name in self._measures_of(pipeline) if name in self._policies},
            )
            for pipeline in self._pipelines
        ]

    def _finish(self, names: Collection[str], seconds: float) -> None:
        table = policy_table(AuditResults.read(self._folder.path)).encode()
        files = {TABLE: self._folder.write(TABLE, table)}
        protocols = self._write_protocols()
        if self._protocols == self._folder.path / PROTOCOLS:
            files[PROTOCOLS] = sha256(protocols)
        self._journal.write(ResultsWritten(files=files))
        self._journal.write(audit_events.AuditFinished(measures=len(names), failed=self._n_failed, seconds=seconds))
        self._journal.close()

    def _write_protocols(self) -> bytes:
        """Write the table of inferred protocols; its content."""
        policies = ((name, policy.protocol) for name, policy in self._policies.items())
        table = policies_text({name: protocol for name, protocol in policies if protocol is not None}).encode()
        RunFolder(self._protocols.parent).write(self._protocols.name, table)
        return table

    def _refuse_another_audit(self, contents: Contents) -> None:
        earlier = AuditResults.of(self._folder.path, contents).started
        for what in ("seed", "evaluators", "pipelines", "data"):
            if getattr(earlier, what) != getattr(self._started, what):
                raise StudyError(
                    f"{self._folder.path} holds another audit (different {what}); audit into another "
                    "folder with --into, or replace that audit with --fresh"
                )

    def _keep_intact_measures(self, results: AuditResults) -> None:
        """Keep the measures whose page is as it was written, and whose policy can be made again from the journal."""
        for name, event in results.inferred.items():
            protocol = recorded_protocol(event)
            if self._folder.holds(event.page, event.page_digest) and (protocol or event.protocol_hash is None):
                self._inferred[name] = event
                self._policies[name] = _recorded_policy(event, protocol)

    def _is_complete(self, contents: Contents) -> bool:
        """Whether nothing failed, and every file is as it was written."""
        files = contents.events("results.written")[-1].files
        is_intact = all(self._folder.holds(name, digest) for name, digest in files.items())
        last = contents.events("audit.finished")[-1]
        return is_intact and not last.failed and self._inferred.keys() == measures_of(self._started).keys()

    def _done(self, contents: Contents, missing: Collection[str]) -> set[str]:
        """The comparisons and pipelines that are done: after the last inference of their measures.

        None of their measures is ``missing``.
        """
        measures = {label: {box.name for box in boxes} for label, boxes in by_metric(self._evaluators).items()}
        measures |= {pipeline.name: set(self._measures_of(pipeline)) for pipeline in self._pipelines}
        done: set[str] = set()
        for line in contents.lines:
            match line.event:
                case audit_events.MeasureInferred() as event:
                    done = {name for name in done if event.name not in measures[name]}
                case audit_events.MetricCompared() as event:
                    done.add(event.metric)
                case audit_events.PipelineAudited() as event:
                    done.add(event.name)
        return {name for name in done if measures[name].isdisjoint(missing)}

    def _measures_of(self, pipeline: Pipeline) -> tuple[str, ...]:
        return tuple(name for name in measures_of(self._started) if name.partition(" ")[0] == pipeline.evaluator)

    def _resumed(self, contents: Contents) -> audit_events.AuditResumed:
        return audit_events.AuditResumed(
            measures_kept=sorted(self._inferred),
            torn_bytes_dropped=contents.torn,
            versions=self._started.versions,
            machine=self._started.machine,
            workers=self._started.workers,
        )


def _recorded_policy(event: audit_events.MeasureInferred, protocol: Protocol | None) -> RecordedPolicy:
    return RecordedPolicy(protocol, event.summary, event.decimals, doubtful(event))


def _open_decisions(inference: Inference) -> list[audit_events.UnidentifiableEntry]:
    """The decisions that are not determined, one by one."""
    return [
        audit_events.UnidentifiableEntry(decision=key, options=list(group.of(key)), why=group.to_text())
        for group in inference.undetermined
        for key in group.decisions
    ]


def _refuse_same_files(names: Collection[str]) -> None:
    """Files are named after measures; two with the same name would overwrite each other."""
    written: dict[str, str] = {}
    for name in names:
        other = written.setdefault(file_stem(name), name)
        if other != name:
            raise PluginError(f"'{name}' and '{other}' would be written to one file; audit them one at a time (--only)")
