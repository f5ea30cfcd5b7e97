"""Compare what a run states more than once: seeds, versions, parameters and times.

Whoever edits one of them and hashes the chain of the journal again must also edit every place that depends on it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from repro.errors import ReproError
from repro.runs.folder import RunFolder
from repro.runs.journal import audit_events, events
from repro.runs.journal.events import Line
from repro.study.plan import fit_seed
from repro.study.tuning.loop import search_seed
from repro.verification.finding import Failure, failure_at
from repro.verification.record import FolderRecord

STUDY = "study.toml"
# Clocks are set right by a few seconds; a run counts its seconds from a little before its first line.
CLOCK_SLACK, START_SLACK = 5.0, 60.0
_FROZEN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==(\S+)")
_Started = events.RunStarted | events.RunResumed
Study = Mapping[str, Any]


def check_stated(path: Path, record: FolderRecord, *, whole: bool) -> Iterator[Failure]:
    """The contradictions within a journal and, of a ``whole`` run, between journal and files."""
    yield from _check_times(record)
    study = _read_study(path) if whole else None
    if whole and study is None:
        yield Failure("integrity", STUDY, "it cannot be read, and seeds and parameters of the cells follow from it")
    if study is not None:
        yield from _check_study(record, study)
    yield from _check_cells(record, study)
    if whole:
        yield from _check_freezes(path, record)


def _read_study(path: Path) -> Study | None:
    try:
        study = tomllib.loads(RunFolder(path).place(STUDY).read_text(encoding="utf-8"))
        return study if all(isinstance(entry, dict) for entry in study["algorithms"]) else None
    except (OSError, ValueError, LookupError, TypeError, ReproError):
        return None


def _check_times(record: FolderRecord) -> Iterator[Failure]:
    """No line is older than the line before it, and nothing took longer than the time between the lines."""
    before: datetime | None = None
    began: datetime | None = None
    cores = 1.0
    for line in record.journal.lines:
        try:
            now = datetime.fromisoformat(line.time)
            elapsed = 0.0 if began is None else (now - began).total_seconds()
            gone = 0.0 if before is None else (now - before).total_seconds()
        except (ValueError, TypeError):  # not a time, or one without its zone among others
            yield failure_at(f"its time, {line.time!r}, is not a time in UTC as a journal writes it", line)
            return
        if gone < -CLOCK_SLACK:
            yield failure_at(
                f"it is {-gone:,.0f} s older than the line before it: a time was edited, or the clock", line
            )
        before = now
        if isinstance(line.event, _Started | audit_events.AuditStarted | audit_events.AuditResumed):
            began, cores = now, _cores(line.event.machine)
        for what, seconds, at_once in _durations(line):
            most = elapsed * (cores if at_once else 1.0) * 1.01 + START_SLACK
            if not 0 <= seconds <= most:
                yield failure_at(f"{what} took {seconds:,.0f} s by this line, {elapsed:,.0f} s after the start", line)


def _cores(machine: Mapping[str, Any]) -> float:
    cores = machine.get("cores")
    return float(cores) if isinstance(cores, int) and cores > 0 else 1.0


def _durations(line: Line) -> Iterator[tuple[str, float, bool]]:
    """The durations that a line states, and whether a duration is a sum over cores."""
    match line.event:
        case events.RunFinished() | audit_events.AuditFinished() as event:
            yield "the run", event.seconds, False
        case events.TuningFinished() as event:
            yield "tuning", event.seconds, False
            for trial in event.trials:
                yield f"trial {trial.number}", trial.seconds, False
        case events.CellFinished() as event:
            for name, seconds in event.seconds.model_dump().items():
                yield f"to {name}", seconds, name != "fit"


def _check_study(record: FolderRecord, study: Study) -> Iterator[Failure]:
    first = record.journal.lines[0]
    if not isinstance(first.event, events.RunStarted):
        return
    recorded: dict[str, Any] = {"seed": first.event.seed, "question": first.event.question}
    for resolved in record.journal.events("decisions.resolved"):
        recorded["metrics"] = [measure.full_name for measure in resolved.measures]
    for name, value in recorded.items():
        if study.get(name) != value:
            yield Failure("integrity", STUDY, f"{name} is {study.get(name)!r}, and was {value!r}", first.number)


def _check_cells(record: FolderRecord, study: Study | None) -> Iterator[Failure]:
    """The seed, the parameters and the version of each cell follow from the run and its study."""
    entries = {entry.get("label"): entry for entry in study["algorithms"]} if study else {}
    seed, versions = 0, dict[str, str]()
    tuned: dict[str, events.TuningFinished] = {}
    seeds: dict[str, set[int]] = {}
    fitted_on = "train"
    for line in record.journal.lines:
        match line.event:
            case events.RunStarted() as event:
                seed, versions = event.seed, dict(event.versions)
            case events.RunResumed() as event:
                versions = dict(event.versions)
            case events.DecisionsResolved() as event:
                fitted_on = {d.decision: str(d.value) for d in event.decisions}.get("split.fitted_on", "train")
            case events.TuningFinished() as event:
                tuned[event.cell] = event
                yield from _check_tuning(event, seed, line)
            case events.CellStarted() as event:
                label = event.cell.rpartition("/")[0]
                seeds.setdefault(label, set()).add(event.seed)
                if study is not None:
                    yield from _check_cell_by_study(event, entries.get(label), seed, tuned.get(event.cell), line)
                elif event.seed != fit_seed(seed, event.algorithm, event.fold) and len(seeds[label]) > 1:
                    yield failure_at(
                        f"its seed, {event.seed}, is not drawn from that of the run, {seed}", line, event.cell
                    )
                yield from _check_cell_itself(event, versions, line)
                if event.fitted_on != fitted_on:
                    message = f"it was fitted on {event.fitted_on}, and split.fitted_on is {fitted_on}"
                    yield failure_at(message, line, event.cell)


def _check_cell_itself(event: events.CellStarted, versions: Mapping[str, str], line: Line) -> Iterator[Failure]:
    if event.cell.rpartition("/")[2] != event.fold:
        yield failure_at(f"its fold is {event.fold}, and its name says another one", line, event.cell)
    if event.framework != event.algorithm.partition("/")[0]:
        yield failure_at(f"its framework is {event.framework}, and its algorithm {event.algorithm}", line, event.cell)
    stated = versions.get(f"framework:{event.framework}")
    if stated != event.framework_version:
        message = f"{event.framework} has the version {event.framework_version}, and {stated} when the run started"
        yield failure_at(message, line, event.cell)


def _check_cell_by_study(
    event: events.CellStarted,
    entry: Mapping[str, Any] | None,
    seed: int,
    tuning: events.TuningFinished | None,
    line: Line,
) -> Iterator[Failure]:
    if entry is None or entry.get("use") != event.algorithm:
        use = None if entry is None else entry.get("use")
        yield failure_at(f"it is {event.algorithm}, and {STUDY} has {use}", line, event.cell)
        return
    expected_seed = entry.get("seed")
    if expected_seed is None:
        expected_seed = fit_seed(seed, event.algorithm, event.fold)
    elif expected_seed == "study":
        expected_seed = seed & 0x7FFFFFFF
    if event.seed != expected_seed:
        yield failure_at(f"its seed is {event.seed}, and {expected_seed} follows from {STUDY}", line, event.cell)
    chosen = (tuning.chosen or {}) if tuning is not None and event.tuned else {}
    expected = {name: value for name, value in entry.get("parameters", {}).items() if name not in event.unmapped}
    expected |= chosen
    if typed_text(event.parameters) != typed_text(expected):
        keys = sorted({*event.parameters, *expected})
        differing = [name for name in keys if event.parameters.get(name) != expected.get(name)]
        source = "tuning chose" if set(differing) & set(chosen) else f"{STUDY} says"
        differences = ", ".join(
            f"{name} = {event.parameters.get(name)!r} ({source} {expected.get(name)!r})" for name in differing
        )
        yield failure_at(f"its parameters are different: {differences}", line, event.cell)
    if event.tuned != (tuning is not None):
        message = (
            "it is recorded as tuned, and was not" if event.tuned else "it was tuned, and is recorded as not tuned"
        )
        yield failure_at(message, line, event.cell)


def typed_text(value: object) -> str:
    """A value as text that shows its type, in the order of keys: 1, 1.0 and true are different parameters."""
    return repr(dict(sorted(value.items())) if isinstance(value, Mapping) else value)


def _check_tuning(event: events.TuningFinished, seed: int, line: Line) -> Iterator[Failure]:
    expected = search_seed(seed, event.algorithm, event.fold)
    if event.seed != expected:
        yield failure_at(f"the seed of its search is {event.seed}, and the run gives {expected}", line, event.cell)
    sign = 1 if event.better == "higher" else -1
    complete = [trial for trial in event.trials if trial.state == "complete"]
    values = [(sign * trial.value, trial.parameters) for trial in complete if trial.value is not None]
    best = max((value for value, _ in values), default=None)
    if event.chosen is not None and event.chosen not in [parameters for value, parameters in values if value == best]:
        yield failure_at("the parameters that were chosen are not those of the best trial", line, event.cell)


def _check_freezes(path: Path, record: FolderRecord) -> Iterator[Failure]:
    """The versions that the journal states are those in the freezes that the run kept."""
    sessions = [line for line in record.journal.lines if isinstance(line.event, _Started)]
    if not sessions:
        return
    line = sessions[-1]  # freezes are written at the end
    assert isinstance(line.event, _Started)
    places = {event.framework: event.where for event in record.journal.events("cell.started")}
    for framework, where in sorted(places.items()):
        name = f"environments/{framework}.txt"
        frozen = _read_freeze(path, name)
        for package, version in line.event.versions.items():
            owner, colon, own = package.rpartition(":")
            if owner == "framework" or package == "python" or (where != "here" and owner != framework):
                continue
            if where == "here" and colon:
                continue
            known = frozen.get(_normal_name({"repro": "recsys-repro"}.get(own, own)))
            if known and version.partition("+")[0] not in known:
                message = f"it has {own} {' and '.join(sorted(known))}, and the journal says {version}"
                yield Failure("integrity", name, message, line.number)


def _read_freeze(path: Path, name: str) -> dict[str, set[str]]:
    """The versions in a freeze, without the labels of builds."""
    versions: dict[str, set[str]] = {}
    try:
        lines = RunFolder(path).place(name).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError, ReproError):  # a file that is missing is named where files are checked
        return versions
    for line in lines:
        if stated := _FROZEN.fullmatch(line.strip()):
            versions.setdefault(_normal_name(stated[1]), set()).add(stated[2].partition("+")[0])
    return versions


def _normal_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
