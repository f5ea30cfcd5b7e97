"""The study of a finished run, loaded from its folder so that it can be run or evaluated again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from repro.data import datasets
from repro.data.registry import SYNTHETIC
from repro.errors import JournalError, StudyError
from repro.protocol import Protocol
from repro.runs.run import Run
from repro.study.model import Study
from repro.study.plan import Plan, make_plan


def reload_study(run: Run, data: object = None) -> Study:
    """The study of a run. Its data and files are looked for where the run found them, and in and beside its folder.

    ``data`` is where the data is, if it is in none of these places.
    """
    study = Study.load(run.folder / "study.toml")
    study.measures = run.measures
    folders = (run.folder, run.folder.resolve().parent, Path())
    study.protocol = _with_files(study.protocol, folders, run)
    if data is not None:
        study.data = data
    elif study.data_name == "given in code":
        raise StudyError(f"the data of the run in {run.folder} was given in code; give it again, with data= or --data")
    elif study.data_name not in (*datasets(), SYNTHETIC):
        path = next((folder / study.data_name for folder in folders if (folder / study.data_name).exists()), None)
        if path is None:
            raise StudyError(
                f"the data of the run in {run.folder}, {study.data_name}, is not there; give it with --data"
            )
        study.data = path
    return study


def reload_plan(run: Run, data: object = None) -> Plan:
    """The data and the folds of a run, made again and checked against its journal; nothing can be fitted with it where
    a framework is missing."""
    plan = make_plan(reload_study(run, data), to_fit=False)
    require_same_data(run, plan)
    return plan


def require_same_data(run: Run, plan: Plan) -> None:
    """Refuse data, files or folds that are not those of the run."""
    loaded = run.loaded
    if loaded.digest != plan.source.digest:
        raise JournalError(
            f"the data changed since the run in {run.folder} (digest {loaded.digest[:12]} then, "
            f"{plan.source.digest[:12]} now); give the data of that time with --data"
        )
    for decision, digest in loaded.files.items():
        if plan.files.get(decision) != digest:
            raise JournalError(f"the file of {decision} changed since the run in {run.folder}; run the study again")
    rows = plan.interactions
    for fold in plan.split.folds:
        recorded = run.journal.folds.get(fold.name)
        digests = [rows.select(part).digest for part in (fold.train, fold.test)]
        if recorded is None or digests != [recorded.train_digest, recorded.test_digest]:
            raise JournalError(
                f"the folds of the run in {run.folder} cannot be made again: {fold.name} is another one now (another "
                "version of repro, or of a library that it splits with?); run the study again"
            )


def _with_files(protocol: Protocol, folders: Sequence[Path], run: Run) -> Protocol:
    """The protocol, with each file that it names taken from the first of the folders that has it."""
    places = {
        key: folder for key in protocol.files for folder in reversed(folders) if (folder / protocol.text(key)).is_file()
    }
    for key in protocol.files:
        if key not in places:
            loaded = run.journal.events("data.loaded")
            digest = loaded[0].files.get(key, "") if loaded else ""
            raise StudyError(
                f"{key} names {protocol.text(key)}, which is not there; put the file of that time (SHA-256 "
                f"{digest or 'unknown'}) beside the folder {run.folder}, under that name"
            )
    return replace(protocol, folders={**protocol.folders, **places})
