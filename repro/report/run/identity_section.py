"""Data, software and machine: what identifies a run."""

from __future__ import annotations

from typing import Any

from repro.report.html import Details, Table, render
from repro.report.run.material import Material
from repro.report.run.sections import Section


def identity_section(run: Material) -> Section:
    """Digests of the data and its parts, versions, the machine, and all packages of each framework."""
    about = "The run and its data"
    return Section(
        "identity",
        "Data, software, machine",
        [
            Table(["fact", "value"], _facts(run), caption=about, label=about),
            Details("Parts of the data", [_folds(run)]),
            *_environments(run),
        ],
    )


def _facts(run: Material) -> list[tuple[str, Any]]:
    began, journal = run.began, run.journal
    loaded, prepared = journal.events("data.loaded")[0], journal.events("data.prepared")[0]
    sizes = (f"{event.rows:,} rows, {event.users:,} users, {event.items:,} items" for event in (loaded, prepared))
    return [
        ("data", f"{loaded.data}: {next(sizes)}"),
        ("data digest", loaded.digest),
        ("data as used", next(sizes)),
        ("digest of the data as used", prepared.digest),
        *((f"file of {decision}", digest) for decision, digest in loaded.files.items()),
        ("study digest", began.study_digest),
        ("protocol hash", began.protocol_hash),
        ("seed", began.seed),
        *(("metric", measure.full_name) for measure in journal.events("decisions.resolved")[0].measures),
        *began.versions.items(),
        *began.machine.items(),
        ("the run finished in the journal", journal.end.cited()),
    ]


def _folds(run: Material) -> Table:
    rows = (
        [f.fold, f"{f.train_rows:,}", f"{f.validation_rows:,}", f"{f.test_rows:,}", f.train_digest, f.test_digest]
        for f in run.journal.events("fold.made")
    )
    header = ["fold", "train", "validation", "test", "digest of train", "digest of test"]
    return Table(header, rows, header[1:4], "Rows of each part, and their digests", "Parts of the data")


def _environments(run: Material) -> list[Details]:
    """The packages of each framework, as the run folder has them."""
    blocks = []
    for path in sorted((run.run.folder / "environments").glob("*.txt")):
        name = f"Packages of {path.stem}"
        text = render("run_text_box.html.j2", label=name, text=path.read_text(encoding="utf-8"))
        blocks.append(Details(name, [text]))
    return blocks
