"""An audit of all evaluators into a folder: every step journalled, and picked up where it was cut off."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from repro.audit.campaign.audit_results import Survey, doubtful, measures_of, policy_table
from repro.audit.campaign.tasks import AuditPipeline, CompareMeasures, InferMeasure, Task
from repro.audit.campaign.worker_pool import Done, run_tasks
from repro.audit.comparison.agreement import Agreement
from repro.audit.comparison.pairwise import by_metric
from repro.audit.examination.inference import Inference, brief
from repro.audit.pipelines.pipeline_audit import PipelineAudit
from repro.audit.policies import RecordedPolicy, file_stem, write_policy
from repro.data import load_dataset
from repro.errors import JournalError, PluginError, StudyError
from repro.evaluation.metrics import metric_named
from repro.plugin import Evaluator, Pipeline, plugins
from repro.plugin.host.placement import JOURNALLED
from repro.protocol import read_protocol
from repro.runs.folder import JOURNAL, RunFolder, sha256
from repro.runs.journal import Contents, Journal, audit_events, read_journal
from repro.runs.journal.events import ResultsWritten
from repro.study.environment import machine, software

PAGES, TABLE, REPORT = "pages", "policies.csv", "report.html"

Tell = Callable[[str, int, int], None]


def run_survey(
    evaluators: Collection[Evaluator],
    into: Path,
    protocols: Path,
    *,
    pipelines: Collection[Pipeline] = (),
    data: str = "ml-100k",
    metrics: Collection[str] = (),
    left_out: Mapping[str, str] | None = None,
    seed: int = 0,
    workers: int = 1,
    resume: bool = False,
    fresh: bool = False,
    tell: Tell | None = None,
) -> Survey:
    """Infer every measure of evaluators, compare those that are taken for one metric, and audit whole evaluations.

    into       the folder of the journal, of a table of policies and of a page for each measure
    protocols  the folder of the inferred protocols
    pipelines  whole evaluations, which are run on ``data``; those of other evaluators are not
    metrics    only measures that are taken for one of these
    left_out   what else there is and cannot run, with the reason, for the journal
    workers    as many processes; they change no number
    resume     finish an audit that was cut off in that folder; begin it where there is none yet
    fresh      replace an audit that is in that folder
    """
    wanted = {metric_named(name).name for name in metrics}
    asked = [_restricted(one, wanted) for one in evaluators]
    asked = [one for one in asked if one.measures]
    if not asked:
        raise PluginError(f"no evaluator measures {' or '.join(sorted(wanted)) or 'anything'}; nothing to audit")
    used = [one for one in pipelines if one.evaluator in {evaluator.name for evaluator in asked}]
    if used:
        load_dataset(data)  # what is not there is told before hours of work
    began = audit_events.AuditStarted(
        seed=seed,
        evaluators=[_entry(one) for one in asked],
        pipelines=[one.name for one in used],
        data=data,
        left_out=dict(left_out or {}),
        versions=software(name for name in plugins().frameworks if name in set(map(_framework, asked))),
        machine=machine(),
        workers=workers,
    )
    folder = RunFolder(into)
    into.mkdir(parents=True, exist_ok=True)
    with folder.locked():
        contents = _look(folder, protocols, resume=resume, fresh=fresh)
        _Run(began, asked, used, folder, protocols, tell or (lambda *_: None)).carry_out(contents)
    return Survey.read(into)


def _restricted(evaluator: Evaluator, metrics: Collection[str]) -> Evaluator:
    """The evaluator with only those measures that are taken for one of the metrics; all where there are none."""
    measures = {
        measure: meant
        for measure, meant in evaluator.measures.items()
        if not metrics or metric_named(meant.partition("@")[0]).name in metrics
    }
    return replace(evaluator, measures=measures)


def _framework(evaluator: Evaluator) -> str:
    return evaluator.name.partition("/")[0]


def _entry(evaluator: Evaluator) -> audit_events.EvaluatorEntry:
    name, known = _framework(evaluator), plugins().frameworks
    return audit_events.EvaluatorEntry(
        name=evaluator.name,
        framework_version=known[name].version if name in known else "",
        where=JOURNALLED[plugins().location(name) if name in known else "in-process"],
        measures=dict(evaluator.measures),
    )


def _look(folder: RunFolder, protocols: Path, *, resume: bool, fresh: bool) -> Contents | None:
    """The journal that is to be continued; refuse to replace one unasked."""
    if not folder.journal.is_file():
        return None
    if fresh and not resume:
        _clear(folder, protocols)
        return None
    contents = read_journal(folder.journal)
    if not resume:
        state = "a finished audit" if contents.events("audit.finished") else "an audit that was cut off"
        raise StudyError(
            f"{folder.path} holds {state}; --resume finishes it, --fresh replaces it, --into takes another folder"
        )
    return contents if contents.lines else None


def _clear(folder: RunFolder, protocols: Path) -> None:
    """Remove the files of an audit, and its protocols; what people wrote beside them stays."""
    with contextlib.suppress(JournalError):  # whatever it says, it is replaced
        for event in read_journal(folder.journal).events("measure.inferred"):
            if event.protocol is not None:
                (protocols / event.protocol).unlink(missing_ok=True)
    shutil.rmtree(folder.path / PAGES, ignore_errors=True)
    for name in (REPORT, TABLE, JOURNAL):
        (folder.path / name).unlink(missing_ok=True)


class _Run:
    """One audit: who is asked, its journal, and what is known."""

    def __init__(
        self,
        began: audit_events.AuditStarted,
        evaluators: Sequence[Evaluator],
        pipelines: Sequence[Pipeline],
        folder: RunFolder,
        protocols: Path,
        tell: Tell,
    ) -> None:
        self._began = began
        self._evaluators = evaluators
        self._pipelines = pipelines
        self._folder = folder
        self._protocols = protocols
        self._tell = tell
        self._known: dict[str, audit_events.MeasureInferred] = {}
        self._failed = 0

    def carry_out(self, contents: Contents | None) -> None:
        started = time.perf_counter()
        names = measures_of(self._began)
        _refuse_same_files(names)
        if contents is None:
            self._journal = Journal(self._folder.journal, None, self._observe)
            self._journal.write(self._began)
        else:
            self._check_same(contents)
            self._known = self._unharmed(Survey.of(self._folder.path, contents))
            if contents.events("audit.finished") and self._is_whole(contents):
                return
            self._journal = Journal(self._folder.journal, contents, self._observe)
            self._journal.write(self._resumed(contents))
        left = [InferMeasure(name, self._began.seed) for name in names if name not in self._known]
        done = set() if contents is None else self._done(contents, [task.name for task in left])
        self._carry_out("measures", left, len(self._known))
        policies = self._policies()
        for stage, tasks in (("comparisons", self._comparisons(policies)), ("pipelines", self._audits(policies))):
            undone = [task for task in tasks if task.name not in done]
            self._carry_out(stage, undone, len(tasks) - len(undone))
        self._finish(names, time.perf_counter() - started)

    def _observe(self, line: Mapping[str, Any]) -> None:
        plugins().observe(self._folder.path, line)

    def _carry_out(self, stage: str, tasks: Sequence[Task], kept: int) -> None:
        self._tell(stage, kept, kept + len(tasks))
        for done, one in enumerate(run_tasks(tasks, self._began.workers) if tasks else (), start=kept + 1):
            self._record(one)
            self._tell(stage, done, kept + len(tasks))

    def _record(self, done: Done) -> None:
        """What came of a task goes into the journal at once."""
        name = done.task.name
        match done.found:
            case Inference() as found:
                self._known[name] = self._inferred(found, done.seconds)
                self._journal.write(self._known[name])
            case Agreement() as found:
                self._journal.write(audit_events.MetricCompared(**found.to_dict(), seconds=done.seconds))
            case PipelineAudit() as found:
                self._journal.write(audit_events.PipelineAudited(**found.to_dict(), seconds=done.seconds))
            case None:
                self._failed += 1
                failure = (
                    audit_events.MeasureFailed if isinstance(done.task, InferMeasure) else audit_events.ComparisonFailed
                )
                self._journal.write(failure(name=name, error=brief(done.error, 500)))

    def _inferred(self, found: Inference, seconds: float) -> audit_events.MeasureInferred:
        """Write the page and the protocol of a measure; the event."""
        page = f"{PAGES}/{file_stem(found.name)}.txt"
        protocol = write_policy(found, self._protocols)
        told = found.to_dict() | {"evidence": len(found.evidence), "unidentifiable": _open_decisions(found)}
        told = {key: value for key, value in told.items() if key not in ("undetermined", "verdict")}
        return audit_events.MeasureInferred(
            **told,
            page=page,
            page_digest=self._folder.write(page, found.to_text().encode()),
            protocol=None if protocol is None else protocol.name,
            protocol_digest=None if protocol is None else sha256(protocol.read_bytes()),
            seconds=seconds,
        )

    def _policies(self) -> dict[str, RecordedPolicy]:
        """The policies as they were written, so that an audit that was cut off goes on with the same."""
        return {name: self._recorded(event) for name, event in self._known.items()}

    def _recorded(self, event: audit_events.MeasureInferred) -> RecordedPolicy:
        protocol = None if event.protocol is None else read_protocol(self._protocols / event.protocol)
        return RecordedPolicy(protocol, event.summary, event.decimals, doubtful(event))

    def _comparisons(self, policies: Mapping[str, RecordedPolicy]) -> list[Task]:
        """A task for each metric; measures whose audit failed would only spoil it for the others."""
        groups = {
            label: [box.name for box in boxes if box.name in policies]
            for label, boxes in by_metric(self._evaluators).items()
        }
        return [
            CompareMeasures(label, tuple(names), self._began.seed, {name: policies[name] for name in names})
            for label, names in sorted(groups.items(), key=lambda group: -len(group[1]))  # what takes longest first
            if len(names) > 1
        ]

    def _audits(self, policies: Mapping[str, RecordedPolicy]) -> list[Task]:
        return [
            AuditPipeline(
                one.name,
                self._began.data,
                self._measures_of(one),
                self._began.seed,
                {name: policies[name] for name in self._measures_of(one) if name in policies},
            )
            for one in self._pipelines
        ]

    def _finish(self, names: Collection[str], seconds: float) -> None:
        table = policy_table(Survey.read(self._folder.path)).encode()
        self._journal.write(ResultsWritten(files={TABLE: self._folder.write(TABLE, table)}))
        self._journal.write(audit_events.AuditFinished(measures=len(names), failed=self._failed, seconds=seconds))
        self._journal.close()

    def _check_same(self, contents: Contents) -> None:
        began = Survey.of(self._folder.path, contents).began
        for what in ("seed", "evaluators", "pipelines", "data"):
            if getattr(began, what) != getattr(self._began, what):
                raise StudyError(
                    f"{self._folder.path} holds another audit (its {what} are not those asked for now); audit into "
                    "another folder with --into, or replace that one with --fresh"
                )

    def _unharmed(self, survey: Survey) -> dict[str, audit_events.MeasureInferred]:
        """The measures whose page and protocol are there as they were written."""
        beside = RunFolder(self._protocols)
        return {
            name: event
            for name, event in survey.inferred.items()
            if self._folder.holds(event.page, event.page_digest)
            and (event.protocol is None or beside.holds(event.protocol, event.protocol_digest or ""))
        }

    def _is_whole(self, contents: Contents) -> bool:
        """Whether nothing failed, and every file is there as it was written."""
        files = contents.events("results.written")[-1].files
        unharmed = all(self._folder.holds(name, digest) for name, digest in files.items())
        last = contents.events("audit.finished")[-1]
        return unharmed and not last.failed and self._known.keys() == measures_of(self._began).keys()

    def _done(self, contents: Contents, left: Collection[str]) -> set[str]:
        """The metrics that were compared, and the whole evaluations that were audited, after all of their measures were
        known, none of which is ``left`` to be inferred."""
        measures = {label: {box.name for box in boxes} for label, boxes in by_metric(self._evaluators).items()}
        measures |= {one.name: set(self._measures_of(one)) for one in self._pipelines}
        found: set[str] = set()
        for line in contents.lines:
            match line.event:
                case audit_events.MeasureInferred() as event:
                    found = {name for name in found if event.name not in measures[name]}
                case audit_events.MetricCompared() as event:
                    found.add(event.metric)
                case audit_events.PipelineAudited() as event:
                    found.add(event.name)
        return {name for name in found if measures[name].isdisjoint(left)}

    def _measures_of(self, pipeline: Pipeline) -> tuple[str, ...]:
        return tuple(name for name in measures_of(self._began) if name.partition(" ")[0] == pipeline.evaluator)

    def _resumed(self, contents: Contents) -> audit_events.AuditResumed:
        return audit_events.AuditResumed(
            measures_kept=sorted(self._known),
            torn_bytes_dropped=contents.torn,
            versions=self._began.versions,
            machine=self._began.machine,
            workers=self._began.workers,
        )


def _open_decisions(found: Inference) -> list[audit_events.UnidentifiableEntry]:
    """The decisions that are not determined, one by one."""
    return [
        audit_events.UnidentifiableEntry(decision=key, options=list(one.of(key)), why=one.to_text())
        for one in found.undetermined
        for key in one.decisions
    ]


def _refuse_same_files(names: Collection[str]) -> None:
    """Files are called after measures; two of one name would overwrite each other."""
    taken: dict[str, str] = {}
    for name in names:
        other = taken.setdefault(file_stem(name), name)
        if other != name:
            raise PluginError(f"'{name}' and '{other}' would be written to one file; audit them one at a time (--only)")
