"""The forms that a run can be written in, those of plug-ins among them, and how one is written whole or not at all."""

from __future__ import annotations

import pkgutil
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from repro.errors import StudyError, nearest
from repro.plugin import Exporter, plugins
from repro.runs.run import Run
from repro.runs.written_files import keep_written

TESTED = ("baseline", "test", "correct", "level")


def _later(name: str) -> Callable[..., None]:
    """The function of that name in this package, imported when it is called: not every form is wanted at once."""

    def export(folder: Path, target: Path, **settings: Any) -> None:
        pkgutil.resolve_name(f"repro.export.{name}")(folder, target, **settings)

    return export


BUILT_IN = (
    Exporter(
        "ro-crate",
        "the run folder as an RO-Crate (Process Run Crate), for archives",
        _later("ro_crate:write_crate"),
        takes=("license", "author"),
    ),
    Exporter("prov", "who made what from what, as W3C PROV-JSON", _later("provenance:write_prov"), suffix=".json"),
    Exporter("trec", "TREC run files and qrels", _later("trec:write_trec")),
    Exporter(
        "ir-metadata", "TREC run files with ir_metadata (PRIMAD) headers", _later("ir_metadata:write_ir_metadata")
    ),
    Exporter(
        "latex",
        "a table for a paper: booktabs, best in bold, significance marks",
        _later("latex:write_latex"),
        takes=TESTED,
    ),
    Exporter(
        "methods",
        "the methods section with every decision, citations as BibTeX, and the checklist",
        _later("methods:write_methods"),
        takes=TESTED,
    ),
    Exporter(
        "checklist",
        "what guidelines on reproducibility ask for, with the evidence",
        _later("checklist:write_checklist"),
        suffix=".md",
    ),
    Exporter("csv", "results, per-user values, impacts and decisions as CSV files", _later("tables:write_tables")),
)


def exporters() -> dict[str, Exporter]:
    """All forms by name: those of the core, then those of plug-ins."""
    own = {exporter.name: exporter for exporter in BUILT_IN}
    return own | plugins().exporters(own)


def find_exporter(form: str) -> Exporter:
    """The exporter called ``form``."""
    known = exporters()
    if form not in known:
        raise StudyError(f"there is no form '{form}'{nearest(form, known)} Forms: {', '.join(known)}")
    return known[form]


def export_run(
    run: Run | str | Path,
    form: str,
    target: str | Path,
    *,
    replace: bool = False,
    as_zip: bool = False,
    **settings: Any,
) -> Path:
    """Write a run, or the run in a folder, to ``target`` in another format; `repro export --list` lists all formats.

    >>> repro.export_run("run", "latex", "table", baseline="popularity")
    PosixPath('table')

    ``target`` is written whole or not at all. What is there already is left alone, unless ``replace`` is true. With
    ``as_zip`` a folder becomes one file. ``settings`` are those of the format.
    """
    folder, target = run.folder if isinstance(run, Run) else Path(run), Path(target)
    exporter = find_exporter(form)
    if unknown := [name for name in settings if name not in exporter.takes]:
        takes = f"it takes: {', '.join(exporter.takes)}" if exporter.takes else "it takes none"
        raise StudyError(f"the form '{form}' has no setting '{unknown[0]}'; {takes}")
    _refuse(target, folder, replace)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".export-") as aside:
        made = Path(aside) / "made"
        exporter.export(folder, made, **settings)
        if as_zip and made.is_dir():
            _zip(made, Path(aside) / "zipped")
            made = Path(aside) / "zipped"
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        made.replace(target)
    return target


def export_forms(
    folder: Path,
    forms: Sequence[str],
    into: Path,
    *,
    replace: bool = False,
    as_zip: bool = False,
    tell: Callable[[str, int, int], None] = lambda stage, done, total: None,
    **settings: Any,
) -> dict[str, Path]:
    """Write several forms into the folder ``into``, each under its own name, and each with the settings that it takes.

    The journal in ``into`` is that of the run, continued: it has the digest of each file that was written. What cannot
    be done is said before anything is written. ``tell`` is called with each form before and after it.
    """
    chosen = {form: find_exporter(form) for form in forms}
    taken = {name for exporter in chosen.values() for name in exporter.takes}
    if unused := [name for name in settings if name not in taken]:
        raise StudyError(f"none of the forms {', '.join(chosen)} has a setting '{unused[0]}'; leave it out")
    targets = {form: into / f"{form}{exporter.suffix}" for form, exporter in chosen.items()}
    if as_zip:
        targets = {form: path if path.suffix else path.with_suffix(".zip") for form, path in targets.items()}
    for target in targets.values():
        _refuse(target, folder, replace)
    written = {}
    for form, target in targets.items():
        own = {name: value for name, value in settings.items() if name in chosen[form].takes}
        zipped = as_zip and not chosen[form].suffix
        tell(form, 0, 1)
        before = _files(target, into)
        written[form] = export_run(folder, form, target, replace=replace, as_zip=zipped, **own)
        made = _files(target, into)
        keep_written(into, made, run=folder, removed=[name for name in before if name not in made])
        tell(form, 1, 1)
    return written


def _files(target: Path, into: Path) -> list[str]:
    """The files of an export, by their names in the folder of exports."""
    found = sorted(path for path in target.rglob("*") if path.is_file()) if target.is_dir() else [target]
    return [path.relative_to(into).as_posix() for path in found if path.is_file()]


def _refuse(target: Path, folder: Path, replace: bool) -> None:
    """Refuse a target inside of the run, or one where something would be lost."""
    if target.resolve().is_relative_to(folder.resolve()):
        raise StudyError(f"{target} is inside the run {folder}, whose files the journal names; write it elsewhere")
    if not replace and _is_taken(target):
        raise StudyError(f"{target} is there already; --fresh (replace=True) replaces it, or choose another place")


def _zip(folder: Path, target: Path) -> None:
    """Pack a folder; the same files give the same bytes, whenever they are packed."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix())
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, path.read_bytes())


def _is_taken(target: Path) -> bool:
    """Whether there is something at ``target`` that would be lost; an empty folder is not."""
    return target.exists() and not (target.is_dir() and not any(target.iterdir()))
