"""Data, software and machine: what a run is known by."""

from __future__ import annotations

from html import escape
from typing import Any

from repro.report.pages import table
from repro.report.run.figures import section, wide
from repro.report.run.material import Material


def identity_section(run: Material) -> str:
    """Digests of the data and its parts, versions, the machine, and all packages of each framework."""
    return section(
        "identity",
        "Data, software, machine",
        [
            wide(table(["fact", "value"], _facts(run), caption="The run and its data"), "The run and its data"),
            f"<details><summary>Parts of the data</summary>{wide(_folds(run), 'Parts of the data')}</details>",
            *_environments(run),
        ],
    )


def _facts(run: Material) -> list[tuple[str, Any]]:
    began, journal = run.began, run.journal
    loaded, prepared = journal.events("data.loaded")[0], journal.events("data.prepared")[0]
    sizes = (f"{one.rows:,} rows, {one.users:,} users, {one.items:,} items" for one in (loaded, prepared))
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


def _folds(run: Material) -> str:
    rows = (
        [f.fold, f"{f.train_rows:,}", f"{f.validation_rows:,}", f"{f.test_rows:,}", f.train_digest, f.test_digest]
        for f in run.journal.events("fold.made")
    )
    header = ["fold", "train", "validation", "test", "digest of train", "digest of test"]
    return table(header, rows, header[1:4], "Rows of each part, and their digests")


def _environments(run: Material) -> list[str]:
    """The packages of each framework, as the run folder has them."""
    found = []
    for path in sorted((run.run.folder / "environments").glob("*.txt")):
        name, packages = f"Packages of {escape(path.stem)}", escape(path.read_text(encoding="utf-8"))
        boxed = f'<pre tabindex="0" role="region" aria-label="{name}">{packages}</pre>'
        found.append(f"<details><summary>{name}</summary>{boxed}</details>")
    return found
