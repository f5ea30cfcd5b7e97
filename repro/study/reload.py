"""The study of a finished run, loaded from its folder so that it can be run or evaluated again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from repro.data import datasets
from repro.data.registry import SYNTHETIC
from repro.errors import JournalError, StudyError, nearest
from repro.protocol import Protocol
from repro.protocol.paths import named_files
from repro.runs.journal import events
from repro.runs.run import Run
from repro.study.model import GIVEN_IN_CODE, Study, read_study, read_toml
from repro.study.plan import Plan, make_plan


def reload_study(
    run: Run,
    data: object = None,
    models: Mapping[str, Any] | None = None,
    algorithms: Collection[str] | None = None,
) -> Study:
    """The study of a run. Its data and files are searched where the run had them, in its folder, and next to it.

    ``data`` is the path of the data, or the data, where it is in none of these places; ``models`` are those that were
    given in Python, by label. With ``algorithms``, their labels, it has these alone, and nothing is needed of others.
    """
    file = run.folder / "study.toml"
    text, document = read_toml(file, "study")
    study = read_study(document if not algorithms else document_of(document, algorithms), text, file, models)
    study.measures = run.measures
    folders = (run.folder, run.folder.resolve().parent, Path())
    study.protocol = _with_files(study.protocol, folders, run)
    if data is not None:
        study.data = data
    elif study.data_name == GIVEN_IN_CODE:
        raise StudyError(f"the data of the run in {run.folder} was given in code; give it again, with data= or --data")
    elif study.data_name not in (*datasets(), SYNTHETIC):
        path = next((folder / study.data_name for folder in folders if (folder / study.data_name).exists()), None)
        if path is None:
            raise StudyError(
                f"the data of the run in {run.folder}, {study.data_name}, is not there; give it with --data"
            )
        study.data = path
    return study


def document_of(document: Mapping[str, Any], labels: Collection[str]) -> dict[str, Any]:
    """The document of a study with these algorithms alone."""
    known = [str(entry["label"]) for entry in document["algorithms"]]
    for label in labels:
        if label not in known:
            raise StudyError(f"there is no algorithm '{label}'{nearest(label, known)} There are: {', '.join(known)}")
    entries = [entry for entry in document["algorithms"] if entry["label"] in labels]
    changed = {**document, "algorithms": entries}
    if document.get("baseline") not in labels:
        changed.pop("baseline", None)
    if "tune" in document:
        names = {name for entry in entries for name in (entry["use"], entry["use"].partition("/")[2])}
        space = {name: space for name, space in document["tune"].get("space", {}).items() if name in names}
        changed["tune"] = {**document["tune"], "space": space}
        if not space and document["tune"].get("refit", "train") == "train":
            del changed["tune"]
    return changed


def reload_plan(run: Run, data: object = None, models: Mapping[str, Any] | None = None) -> Plan:
    """The data and the folds of a run, made again and checked against its journal; missing frameworks are allowed,
    because nothing is fitted."""
    plan = make_plan(reload_study(run, data, models), to_fit=False)
    require_same_data(run, plan)
    return plan


def changed_input(loaded: events.DataLoaded, plan: Plan, folder: Path) -> str:
    """A clause about the input of the run in ``folder`` that differs from that of the plan; empty where none does."""
    if loaded.digest != plan.source.digest:
        digests = f"digest {loaded.digest[:12]} then, {plan.source.digest[:12]} now"
        return f"the data changed since the run in {folder} ({digests})"
    changed = [decision for decision, digest in loaded.files.items() if plan.files.get(decision) != digest]
    return f"the file of {changed[0]} changed since the run in {folder}" if changed else ""


def require_same_data(run: Run, plan: Plan) -> None:
    """Refuse data, files or folds that differ from those of the run."""
    if change := changed_input(run.loaded, plan, run.folder):
        raise JournalError(f"{change}; give the original data with --data, or run the study again")
    rows = plan.interactions
    for fold in plan.split.folds:
        recorded = run.journal.folds.get(fold.name)
        digests = [rows.select(part).digest for part in (fold.train, fold.test)]
        if recorded is None or digests != [recorded.train_digest, recorded.test_digest]:
            raise JournalError(
                f"the folds of the run in {run.folder} cannot be made again: {fold.name} differs now (another version "
                "of repro, or of a library that it splits with?); run the study again"
            )


def _are_in(folder: Path, text: str) -> bool:
    """Whether the folder has all files that the text of a decision names."""
    files = named_files(text, folder)
    return bool(files) and all(path.is_file() for path in files.values())


def _with_files(protocol: Protocol, folders: Sequence[Path], run: Run) -> Protocol:
    """The protocol, with each file that it names taken from the first folder that has it."""
    places = {
        key: folder for key in protocol.files for folder in reversed(folders) if _are_in(folder, protocol.text(key))
    }
    for key in protocol.files:
        if key not in places:
            loaded = run.journal.events("data.loaded")
            digest = loaded[0].files.get(key, "") if loaded else ""
            raise StudyError(
                f"{key} names {protocol.text(key)}, which does not exist; put the original file (SHA-256 "
                f"{digest or 'unknown'}) next to the folder {run.folder}, under that name"
            )
    return replace(protocol, folders={**protocol.folders, **places})
