"""Replay: run a study again from the folder of a run, perhaps on another machine, and compare every number."""

from __future__ import annotations

import contextlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro.data import datasets, get_dataset
from repro.errors import JournalError, StudyError
from repro.plugin import pinned
from repro.runs.folder import JOURNAL
from repro.runs.journal import has_journal
from repro.runs.run import Run
from repro.runs.written_files import keep_files
from repro.study import Study, make_plan
from repro.study.environment import versions
from repro.study.reload import reload_study, require_same_data
from repro.text import as_page
from repro.types import Progress
from repro.verification.compare import Comparison, RefitOptions, compare_runs
from repro.verification.finding import Verification
from repro.verification.freezes import Say, Surroundings, build, surroundings
from repro.verification.integrity import check_integrity
from repro.verification.retrain import changed_software, keep_available, run_again

VERDICTS = "replay.json"


@dataclass(frozen=True)
class Replay:
    """A run that was run again.

    folder      of the new run
    frameworks  the environment of each of them
    changed     software and machine: then and now
    """

    original: str
    folder: Path
    comparison: Comparison
    frameworks: tuple[Surroundings, ...]
    changed: dict[str, tuple[str, str]]

    @property
    def reproduced(self) -> bool:
        return self.comparison.reproduced

    @property
    def versions_of_then(self) -> bool:
        """Whether every framework ran with the versions that the run kept a freeze of, and with all of them."""
        return all(framework.as_then for framework in self.frameworks)

    def __repr__(self) -> str:
        changed = [f"{name}: {then} then, {now} now" for name, (then, now) in self.changed.items()]
        sentences = [framework.sentence for framework in self.frameworks]
        return "\n".join([f"{self.folder}: {self.comparison}", *sentences, *changed])

    def _repr_html_(self) -> str:
        return as_page(repr(self))

    def to_dict(self) -> dict[str, Any]:
        """The replay as plain data, for scripts; ``original`` quotes the journal line that ended the original run."""
        return {
            "original": self.original,
            "frameworks": {framework.framework: framework.sentence for framework in self.frameworks},
            "versions_of_then": self.versions_of_then,
            "not_installed": {
                framework.framework: list(framework.lacking) for framework in self.frameworks if framework.lacking
            },
            "changed": {name: {"then": then, "now": now} for name, (then, now) in self.changed.items()},
            **self.comparison.to_dict(),
        }


def replay_run(
    folder: str | Path,
    into: str | Path,
    options: RefitOptions,
    *,
    here: bool,
    say: Say,
    report_progress: Progress | None,
) -> Replay:
    """Run the study of the run in ``folder`` again into ``into``, and compare; see :func:`repro.replay`.

    A named data set is downloaded; data other than that of the run is refused. The verdicts are in ``replay.json`` of
    the new run, with its digest in the journal.
    """
    path, target = Path(folder), Path(into)
    if target.is_dir() and any(target.iterdir()):
        reason = "holds a run already" if has_journal(target / JOURNAL) else "is not empty"
        raise StudyError(f"{target} {reason}; replay into another folder")
    run = _checked(path)
    study = reload_study(run, options.data, options.models, options.algorithms)
    absent = keep_available(run, study)
    for sentence in absent:
        say(sentence)
    _require_data(run, study, report_progress)
    used = {entry.framework for entry in study.entries}
    frameworks = surroundings(run, used, here=here)
    with contextlib.ExitStack() as stack:
        if pins := {framework.framework: framework.pins for framework in frameworks if framework.pins}:
            stack.enter_context(pinned(pins))
        for framework in frameworks:
            if framework.pins or framework.lacking:
                say(framework.sentence)
            build(framework, say)
        require_same_data(run, make_plan(study))
        changed = changed_software(run, versions(study))
        kept = any("scores" in event.artifacts for event in run.journal.finished_cells.values())
        failed = run_again(study, target, options, keep_scores=kept)
    labels = [entry.label for entry in study.entries]
    comparison = compare_runs(run, Run(target), options.tolerance, options.baseline, labels)
    comparison.notes += [*absent, *failed]
    done = Replay(run.journal.end.cited(), target, comparison, tuple(frameworks), changed)
    document = json.dumps(_plain(done.to_dict()), indent=1, ensure_ascii=False, allow_nan=False)
    keep_files(target, {VERDICTS: (document + "\n").encode()})
    return done


def _checked(path: Path) -> Run:
    """The run, if its files are intact: others cannot be replayed."""
    verification = Verification(path, "integrity")
    check_integrity(path, verification)
    if verification.kind != "run":
        kind = "an audit" if verification.kind == "audit" else verification.kind
        raise StudyError(
            f"{path} is {kind}, not the folder of a run; its study and protocol, as they were resolved, are needed to "
            "replay it"
        )
    if not verification.holds:
        raise JournalError(
            f"{verification.summary}; `repro verify {path}` shows what is wrong with it: {verification.failures[0]}"
        )
    return Run(path)


def _require_data(run: Run, study: Study, report_progress: Progress | None) -> None:
    """Download the data, and refuse data other than that of the run, before anything is built or fitted."""
    if isinstance(study.data, str) and study.data in datasets():
        stage = f"getting {study.data}"
        get_dataset(
            study.data, report_progress and (lambda done, total: report_progress(stage, done, total or done + 1))
        )
    loaded, digest = run.loaded, study.interactions().digest
    if digest != loaded.digest:
        raise JournalError(
            f"{study.data_name} is not the data of the run in {run.folder}: its content has the digest {digest[:12]}, "
            f"and that of {loaded.data} was {loaded.digest[:12]} ({loaded.rows:,} rows, {loaded.users:,} users); give "
            "the data of that time with --data"
        )


def _plain(value: Any) -> Any:
    """The value without infinite numbers and NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
