"""The study of a finished run once more, from its folder: its data and files, and whether they are the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from repro.data import datasets
from repro.data.registry import SYNTHETIC
from repro.errors import JournalError, StudyError
from repro.protocol import Protocol
from repro.study.model import Study

if TYPE_CHECKING:
    from repro.runs.run import Run
    from repro.study.plan import Plan


def study_again(run: Run, data: object = None) -> Study:
    """The study of a run, with its data and files: where the run found them, or beside the run or its folder.

    ``data`` is where the data is, if it is in none of these places.
    """
    study = Study.load(run.folder / "study.toml")
    study.measures = run.measures
    places = (run.folder, run.folder.resolve().parent, Path())
    study.protocol = _with_files(study.protocol, places, run)
    if data is not None:
        study.data = data
    elif study.data_name == "given in code":
        raise StudyError(f"the data of the run in {run.folder} was given in code; give it again, with data= or --data")
    elif study.data_name not in (*datasets(), SYNTHETIC):
        found = next((place / study.data_name for place in places if (place / study.data_name).exists()), None)
        if found is None:
            raise StudyError(
                f"the data of the run in {run.folder}, {study.data_name}, is not there; give it with --data"
            )
        study.data = found
    return study


def require_same(run: Run, plan: Plan) -> None:
    """Refuse data, files or folds that are not those of the run."""
    loaded = run.journal.events("data.loaded")[0]
    if loaded.digest != plan.source.digest:
        raise JournalError(
            f"the data changed since the run in {run.folder} (digest {loaded.digest[:12]} then, "
            f"{plan.source.digest[:12]} now); give the data of that time with --data"
        )
    for decision, digest in loaded.files.items():
        if plan.files.get(decision) != digest:
            raise JournalError(f"the file of {decision} changed since the run in {run.folder}; run the study again")
    made = {event.fold: event for event in run.journal.events("fold.made")}
    for fold in plan.split.folds:
        event, rows = made.get(fold.name), plan.interactions
        digests = [rows.select(part).digest for part in (fold.train, fold.test)]
        if event is None or digests != [event.train_digest, event.test_digest]:
            raise JournalError(
                f"the folds of the run in {run.folder} cannot be made again: {fold.name} is another one now (another "
                "version of repro, or of what it splits with?); run the study again"
            )


def _with_files(protocol: Protocol, places: Sequence[Path], run: Run) -> Protocol:
    """The protocol, with the files that it names found in the first of the places that has them."""
    found = {
        key: place for key in protocol.files for place in reversed(places) if (place / protocol.text(key)).is_file()
    }
    for key in protocol.files:
        if key not in found:
            loaded = run.journal.events("data.loaded")
            digest = loaded[0].files.get(key, "") if loaded else ""
            raise StudyError(
                f"{key} names {protocol.text(key)}, which is not there; put the file of that time (SHA-256 "
                f"{digest or 'unknown'}) beside the folder {run.folder}, under that name"
            )
    return replace(protocol, folders={**protocol.folders, **found})
