"""Replay: a run made again from its folder alone, perhaps on another machine, and compared number by number."""

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
from repro.runs.run import Run
from repro.runs.written_files import keep_files
from repro.study import Study, make_plan
from repro.study.environment import versions
from repro.study.reload import reload_study, require_same_data
from repro.verify.compare import Comparison, compare_runs
from repro.verify.finding import Verification
from repro.verify.freezes import Say, Surroundings, build, surroundings
from repro.verify.integrity import Tell, check_integrity
from repro.verify.refit import RefitOptions
from repro.verify.retrain import changed_software, keep_algorithms, run_again

VERDICTS = "replay.json"


@dataclass(frozen=True)
class Replay:
    """A run that was made again.

    folder   where the new run is
    frameworks  where each of them ran
    changed  software and machine: then and now
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
        return all(one.as_then for one in self.frameworks)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for scripts; ``original`` quotes the journal line with which the original run finished."""
        return {
            "original": self.original,
            "frameworks": {one.framework: one.sentence for one in self.frameworks},
            "versions_of_then": self.versions_of_then,
            "not_installed": {one.framework: list(one.lacking) for one in self.frameworks if one.lacking},
            "changed": {name: {"then": then, "now": now} for name, (then, now) in self.changed.items()},
            **self.comparison.to_dict(),
        }


def replay_run(
    folder: str | Path, into: str | Path, options: RefitOptions, *, here: bool, say: Say, tell: Tell | None
) -> Replay:
    """Run the study of the run in ``folder`` again into ``into``, and compare; see :func:`repro.verify.replay`.

    A named data set is downloaded; data other than that of the run is refused. The verdicts are in ``replay.json`` of
    the new run, with its digest in the journal.
    """
    path, target = Path(folder), Path(into)
    if target.is_dir() and any(target.iterdir()):
        what = "holds a run already" if (target / JOURNAL).exists() else "is not empty"
        raise StudyError(f"{target} {what}; replay into another folder")
    run = _checked(path)
    study = reload_study(run, options.data)
    keep_algorithms(study, options.algorithms)
    _require_data(run, study, tell)
    wanted = surroundings(run, here=here)
    wanted = [one for one in wanted if any(entry.framework == one.framework for entry in study.entries)]
    with contextlib.ExitStack() as stack:
        if pins := {one.framework: one.pins for one in wanted if one.pins}:
            stack.enter_context(pinned(pins))
        for one in wanted:
            if one.pins or one.lacking:
                say(one.sentence)
            build(one, say)
        require_same_data(run, make_plan(study))
        changed = changed_software(run, versions(study))
        kept = any("scores" in event.artifacts for event in run.journal.finished_cells.values())
        failed = run_again(study, target, options, keep_scores=kept)
    labels = [entry.label for entry in study.entries]
    found = compare_runs(run, Run(target), options.tolerance, options.baseline, labels)
    found.notes += failed
    done = Replay(run.journal.end.cited(), target, found, tuple(wanted), changed)
    told = json.dumps(_plain(done.to_dict()), indent=1, ensure_ascii=False, allow_nan=False)
    keep_files(target, {VERDICTS: (told + "\n").encode()})
    return done


def _checked(path: Path) -> Run:
    """The run, if it is whole: what does not hold cannot be replayed."""
    found = Verification(path, "integrity")
    check_integrity(path, found)
    if found.kind != "run":
        raise StudyError(
            f"{path} is {found.kind if found.kind != 'audit' else 'an audit'}, not the folder of a run; its study and "
            "protocol, as they were resolved, are needed to replay it"
        )
    if not found.holds:
        raise JournalError(f"{found.summary}; `repro verify {path}` shows what is wrong with it: {found.failures[0]}")
    return Run(path)


def _require_data(run: Run, study: Study, tell: Tell | None) -> None:
    """Get the data, and refuse any other than that of the run, before anything is built or fitted."""
    if isinstance(study.data, str) and study.data in datasets():
        stage = f"getting {study.data}"
        get_dataset(study.data, tell and (lambda done, total: tell(stage, done, total or done + 1)))
    wanted, digest = run.loaded, study.interactions().digest
    if digest != wanted.digest:
        raise JournalError(
            f"{study.data_name} is not the data of the run in {run.folder}: its content has the digest {digest[:12]}, "
            f"and that of {wanted.data} was {wanted.digest[:12]} ({wanted.rows:,} rows, {wanted.users:,} users); give "
            "the data of that time with --data"
        )


def _plain(value: Any) -> Any:
    """Without what JSON has no word for."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
