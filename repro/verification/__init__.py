"""Verify a run: file integrity, recomputed metrics, or full retraining."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.errors import StudyError, nearest
from repro.verification.finding import LEVELS, Failure, Level, Verification
from repro.verification.integrity import Tell, check_head, check_integrity
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
    tell: Tell | None = None,
    **refit: Any,
) -> Verification:
    """Check the run in ``folder``; each level includes those before it.

    integrity  every file is the one that the journal names, and the journal is complete; also for a folder with
               some files of a run, and for an audit
    rescore    the numbers follow, to the last bit, from the stored scores, lists and predictions
    retrain    the numbers are the same when everything is fitted again; ``refit`` are fields of
               :class:`repro.verification.compare.RefitOptions`

    ``head`` is the hash of a line of the journal that was published elsewhere: it must be in the journal, since any
    change up to that line changes the hash. ``data`` is where the data of the run is now, if it has moved.
    """
    if level not in LEVELS:
        raise StudyError(f"there is no level '{level}'{nearest(level, LEVELS)} Levels: {', '.join(LEVELS)}")
    path = Path(folder)
    verification = Verification(path, level)
    record = check_integrity(path, verification, tell)
    if head is not None and record is not None:
        check_head(record, head, verification)
    if record is None or level == "integrity":
        return verification
    from repro.verification.rescore import check_rescore

    check_rescore(path, record, verification, data, tell)
    if level == "retrain":
        from repro.verification.compare import RefitOptions
        from repro.verification.retrain import check_retrain

        check_retrain(path, record, verification, RefitOptions(data=data, **refit))
    return verification


def replay(
    folder: str | Path,
    into: str | Path,
    *,
    here: bool = False,
    say: Say = lambda line: None,
    tell: Tell | None = None,
    **refit: Any,
) -> Replay:
    """Run the study of the run in ``folder`` again into ``into``, and compare; nothing but the folder is needed.

    Frameworks run in the versions that the run kept a freeze of, each in an environment of its own where the installed
    ones differ; with ``here``, in the installed versions. ``say`` is called with a line whenever something happens,
    ``tell`` with the progress of a stage. ``refit`` are fields of :class:`repro.verification.compare.RefitOptions`.
    """
    from repro.verification.compare import RefitOptions
    from repro.verification.replay_run import replay_run

    return replay_run(folder, into, RefitOptions(**refit), here=here, say=say, tell=tell)
