"""A run checked: is it whole, do its numbers follow from what it kept, and do they come again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.errors import StudyError, nearest
from repro.verify.finding import LEVELS, Failure, Level, Verification
from repro.verify.integrity import Tell, check_head, check_integrity
from repro.verify.seal import Sealed, seal

if TYPE_CHECKING:
    from repro.verify.replayed import Replay

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

    integrity  every file is the one that the journal tells of, and the journal is whole; also of a folder that keeps
               only some files of a run, and of an audit
    rescore    the numbers follow, to the last bit, from the scores, lists and predictions that were stored
    retrain    they come again when everything is fitted again; ``refit`` are settings of
               :func:`repro.verify.retrain.check_retrain`

    ``head`` is the hash of a line of the journal that was published elsewhere: it must be in the journal, which cannot
    be changed up to that line without another hash. ``data`` is where the data of the run is, if it is no longer where
    the run found it.
    """
    if level not in LEVELS:
        raise StudyError(f"there is no level '{level}'{nearest(level, LEVELS)} Levels: {', '.join(LEVELS)}")
    path = Path(folder)
    found = Verification(path, level)
    record = check_integrity(path, found, tell)
    if head is not None and record is not None:
        check_head(record, head, found)
    if record is None or level == "integrity":
        return found
    from repro.verify.rescore import check_rescore

    check_rescore(path, record, found, data, tell)
    if level == "retrain":
        from repro.verify.retrain import check_retrain

        check_retrain(path, record, found, data=data, tell=tell, **refit)
    return found


def replay(folder: str | Path, into: str | Path, **settings: Any) -> Replay:
    """Make a run again from its folder alone, and compare; with the settings of :mod:`repro.verify.replayed`."""
    from repro.verify.replayed import replay as run_again

    return run_again(folder, into, **settings)
