"""Verify a run: file integrity, recomputed metrics, or full retraining."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.errors import StudyError, nearest
from repro.progress import Shown, progress_reporter
from repro.verification.finding import LEVELS, TOLERANCE, Failure, Level, Verification
from repro.verification.integrity import check_head, check_integrity
from repro.verification.sealing import Sealed, seal

if TYPE_CHECKING:
    from repro.verification.freezes import Say
    from repro.verification.replay_run import Replay

__all__ = ["LEVELS", "Failure", "Level", "Sealed", "Verification", "replay", "seal", "verify"]


def verify(
    folder: str | Path,
    level: Level = "integrity",
    *,
    head: str | None = None,
    data: object = None,
    algorithms: Sequence[str] | None = None,
    tolerance: float = TOLERANCE,
    baseline: str | None = None,
    workers: int = 1,
    time_limit: float | None = None,
    models: Mapping[str, Any] | None = None,
    progress: Shown = True,
) -> Verification:
    """Check the run in ``folder``; each level includes those before it.

    level       "integrity": every file is the one that the journal names, and the journal is complete; also for a
                folder with some files of a run, and for an audit. "rescore": the numbers follow, to the last bit, from
                the stored scores, lists and predictions. "retrain": the numbers are the same when everything is fitted
                again
    head        the hash of a line of the journal that was published elsewhere: it must be in the journal, since any
                change up to that line changes the hash
    data        where the data of the run is now, if it has moved, or the data itself
    algorithms, tolerance, baseline, workers, time_limit, models
                for "retrain", as in :func:`repro.replay`
    progress    whether to show the progress, or a function that receives it (:mod:`repro.progress`)

    Returns a :class:`repro.verification.Verification`: ``holds`` says whether all checks passed, ``failures`` which did
    not; printed, it is a page.

    >>> repro.verify("run").holds
    True
    """
    if level not in LEVELS:
        raise StudyError(f"there is no level '{level}'{nearest(level, LEVELS)} Levels: {', '.join(LEVELS)}")
    path = Path(folder)
    verification = Verification(path, level)
    with progress_reporter(progress) as report_progress:
        record = check_integrity(path, verification, report_progress)
        if head is not None and record is not None:
            check_head(record, head, verification)
        if record is None or level == "integrity":
            return verification
        from repro.verification.rescore import check_rescore

        check_rescore(path, record, verification, data, report_progress)
        if level == "retrain":
            from repro.study.progress import watching
            from repro.verification.compare import RefitOptions
            from repro.verification.retrain import check_retrain

            refit = RefitOptions(
                data, algorithms, tolerance, baseline, workers, time_limit, watching(report_progress), models
            )
            check_retrain(path, record, verification, refit)
    return verification


def replay(
    folder: str | Path,
    into: str | Path,
    *,
    here: bool = False,
    data: object = None,
    algorithms: Sequence[str] | None = None,
    tolerance: float = TOLERANCE,
    baseline: str | None = None,
    workers: int = 1,
    time_limit: float | None = None,
    models: Mapping[str, Any] | None = None,
    say: Say = lambda line: None,
    progress: Shown = True,
) -> Replay:
    """Run the study of the run in ``folder`` again into ``into``, and compare; nothing but the folder is needed.

    here        run frameworks in the installed versions; otherwise in those that the run kept a freeze of, each in an
                environment of its own where the installed ones differ
    data        where the data of the run is now, if it has moved, or the data itself
    algorithms  the labels of those that are run again; all of them by default
    tolerance   the share of the original by which a number may be off
    baseline    the algorithm that effect ratios are about; the first one by default
    workers     the number of processes that run cells
    time_limit  how many seconds a framework in a process of its own may take to fit, or to score a block
    models      the models that were given in Python, by label: no folder has their code; those not given are left out
    say         is called with a line whenever something happens, such as when an environment is built
    progress    whether to show the progress, or a function that receives it (:mod:`repro.progress`)

    Returns a :class:`repro.verification.replay_run.Replay`: ``reproduced`` says whether no number differs, and
    ``comparison`` has all numbers, then and now.

    >>> repro.replay("run", "again", here=True).reproduced
    True
    """
    from repro.study.progress import watching
    from repro.verification.compare import RefitOptions
    from repro.verification.replay_run import replay_run

    with progress_reporter(progress) as report_progress:
        refit = RefitOptions(
            data, algorithms, tolerance, baseline, workers, time_limit, watching(report_progress), models
        )
        return replay_run(folder, into, refit, here=here, say=say, report_progress=report_progress)
