"""The forms that a run can be exported to; an export is written completely or not at all."""

from __future__ import annotations

import pkgutil
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from repro.errors import StudyError, nearest
from repro.plugin import Exporter, plugins
from repro.runs.run import Run
from repro.runs.written_files import keep_written

TESTED = ("baseline", "test", "correct", "level")


def _built_in(name: str, summary: str, function: str, suffix: str = "", takes: tuple[str, ...] = ()) -> Exporter:
    """An exporter of this package; its ``function`` ("module:name") is imported when it is called."""

    def export(folder: Path, target: Path, **settings: Any) -> None:
        run = Run(folder)
        run.protocol  # noqa: B018  # raises an error if it is not the protocol of the journal
        pkgutil.resolve_name(f"repro.exports.{function}")(run, target, **settings)

    return Exporter(name, summary, export, suffix=suffix, takes=takes)


BUILT_IN = (
    _built_in(
        "ro-crate",
        "the run folder as an RO-Crate (Process Run Crate), for archives",
        "ro_crate:write_crate",
        takes=("license", "author"),
    ),
    _built_in("prov", "the origin of each file and number, as W3C PROV-JSON", "provenance:write_prov", ".json"),
    _built_in("trec", "TREC run files and qrels", "trec:write_trec"),
    _built_in("ir-metadata", "TREC run files with ir_metadata (PRIMAD) headers", "ir_metadata:write_ir_metadata"),
    _built_in(
        "latex", "a table for a paper: booktabs, best in bold, significance marks", "latex:write_latex", takes=TESTED
    ),
    _built_in(
        "methods",
        "the methods section with every decision, citations as BibTeX, and the checklist",
        "methods:write_methods",
        takes=TESTED,
    ),
    _built_in(
        "checklist", "the questions of reproducibility guidelines, with evidence", "checklist:write_checklist", ".md"
    ),
    _built_in("csv", "results, per-user values, impacts and decisions as CSV files", "tables:write_tables"),
)


def exporters() -> dict[str, Exporter]:
    """All forms by name: those of the core, then those of plug-ins."""
    own = {exporter.name: exporter for exporter in BUILT_IN}
    return own | plugins().exporters(own)


def find_exporter(form: str) -> Exporter:
    """The exporter called ``form``."""
    exporters_by_form = exporters()
    if form not in exporters_by_form:
        raise StudyError(
            f"there is no form '{form}'{nearest(form, exporters_by_form)} Forms: {', '.join(exporters_by_form)}"
        )
    return exporters_by_form[form]


def export(
    run: Run | str | Path,
    form: str,
    target: str | Path,
    *,
    replace: bool = False,
    as_zip: bool = False,
    baseline: str | None = None,
    test: str | None = None,
    correct: str | None = None,
    level: float | None = None,
    license: str | None = None,
    author: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Path:
    """Write a run, or the run in a folder, to ``target`` in another format; `repro export --list` lists all formats.

    run       the run, or its folder
    form      "ro-crate", "prov", "trec", "ir-metadata", "latex", "methods", "checklist", "csv", or one of a plug-in
    target    the file or folder, which is written completely or not at all
    replace   replace an existing file or folder, which is an error otherwise
    as_zip    write a folder as one .zip file
    baseline, test, correct, level
              of latex and methods: the significance tests, as in :func:`repro.compare`
    license, author
              of ro-crate: the address of the licence of the published crate, and who ran the study
    settings  further settings of a format of a plug-in

    >>> repro.export("run", "latex", "table", baseline="popularity")
    PosixPath('table')
    """
    stated = {"baseline": baseline, "test": test, "correct": correct, "level": level}
    stated |= {"license": license, "author": author, **(settings or {})}
    given = {name: value for name, value in stated.items() if value is not None}
    return _export(run, form, Path(target), replace, as_zip, given)


def _export(
    run: Run | str | Path, form: str, target: Path, replace: bool, as_zip: bool, settings: Mapping[str, Any]
) -> Path:
    folder = run.folder if isinstance(run, Run) else Path(run)
    exporter = find_exporter(form)
    if unknown := [name for name in settings if name not in exporter.takes]:
        takes = f"it takes: {', '.join(exporter.takes)}" if exporter.takes else "it takes none"
        raise StudyError(f"the form '{form}' has no setting '{unknown[0]}'; {takes}")
    _refuse(target, folder, replace)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".export-") as temporary:
        export, zipped = Path(temporary) / "export", Path(temporary) / "zipped"
        exporter.export(folder, export, **settings)
        if as_zip and export.is_dir():
            _zip(export, zipped)
            export = zipped
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        export.replace(target)
    return target


def export_forms(
    folder: Path,
    forms: Sequence[str],
    into: Path,
    *,
    replace: bool = False,
    as_zip: bool = False,
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
    **settings: Any,
) -> dict[str, Path]:
    """Write several forms into the folder ``into``, each under its own name, and each with the settings that it takes.

    The journal in ``into`` continues that of the run, with the digest of each file that was written. Errors in the
    arguments are raised before anything is written. ``progress`` is called with each form before and after it.
    """
    chosen = {form: find_exporter(form) for form in forms}
    known = {name for exporter in chosen.values() for name in exporter.takes}
    if unused := [name for name in settings if name not in known]:
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
        progress(form, 0, 1)
        before = _files(target, into)
        written[form] = _export(folder, form, target, replace, zipped, own)
        after = _files(target, into)
        keep_written(into, after, run=folder, removed=[name for name in before if name not in after])
        progress(form, 1, 1)
    return written


def _files(target: Path, into: Path) -> list[str]:
    """The files of an export, by their names in the folder of exports."""
    paths = sorted(target.rglob("*")) if target.is_dir() else [target]
    return [path.relative_to(into).as_posix() for path in paths if path.is_file()]


def _refuse(target: Path, folder: Path, replace: bool) -> None:
    """Raise an error if the target is inside the run, or exists and would be lost."""
    if target.resolve().is_relative_to(folder.resolve()):
        raise StudyError(f"{target} is inside the run {folder}, whose files the journal names; write it elsewhere")
    is_empty = target.is_dir() and not any(target.iterdir())
    if not replace and target.exists() and not is_empty:
        raise StudyError(f"{target} is there already; --fresh (replace=True) replaces it, or choose another place")


def _zip(folder: Path, target: Path) -> None:
    """Pack a folder; the same files give the same bytes, whenever they are packed."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix())
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, path.read_bytes())
