"""What a replication leaves beside its claim: verdicts, the table of results, and the journal they come from."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from repro.data.spreadsheet import csv_text
from repro.errors import JournalError
from repro.replicate.claim import Claim
from repro.replicate.verdict import Judged, Replication
from repro.runs.folder import JOURNAL, sha256
from repro.runs.journal import Journal, events, read_journal
from repro.runs.written_files import keep_files
from repro.study.environment import machine, software

VERDICTS_CSV, VERDICTS_JSON, RESULTS = "verdicts.csv", "verdicts.json", "results.csv"
COLUMNS = (
    *("what", "algorithm", "metric", "under", "set", "user", "printed", "measured", "least", "most", "seeds"),
    *("verdict", "settings", "settings_giving", "setting_meets", "setting_by_chance", "ties_lowest", "ties_highest"),
    *("newer", "why"),
)


def write_replication(claim: Claim, found: Replication, run: Path | None) -> Replication:
    """Write the verdicts, and the results of ``run``, or of what was measured without one.

    The journal beside them is that of ``run``, or a small one, with the digests of all files, the claim's among them. A
    claim of which nothing could be run takes no results away.
    """
    files: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory(prefix="repro-claim-") as aside:
        if any(one.verdict != "not run" for one in found.judged):
            if run is None and not _is_written(claim, _results(found)):
                run = _small_run(Path(aside), claim, found)
            of = run or claim.folder
            files[RESULTS] = (of / RESULTS).read_bytes()
            found = replace(found, journal=read_journal(of / JOURNAL).end.cited())
        plain = json.dumps(found.to_dict(), indent=1, ensure_ascii=False, default=str)
        files |= {VERDICTS_CSV: _table(found.judged).encode(), VERDICTS_JSON: (plain + "\n").encode()}
        keep_files(claim.folder, files, run=run, used=_given(claim))
    return found


def _given(claim: Claim) -> list[str]:
    """The files beside the claim that its numbers come from."""
    names = [claim.path.name, *([claim.data.name] if claim.data else [])]
    if claim.examples:
        names += [claim.examples.truth, claim.examples.train, *(one.file for one in claim.examples.systems)]
    return [name for name in dict.fromkeys(names) if name and (claim.folder / name).is_file()]


def _table(judged: tuple[Judged, ...]) -> str:
    rows = [{**one.to_dict(), "set": _changes(one)} for one in judged]
    return csv_text([COLUMNS, *([row.get(name, "") for name in COLUMNS] for row in rows)])


def _changes(one: Judged) -> str:
    return ", ".join(f"{key}={value}" for key, value in one.changes)


def _results(found: Replication) -> bytes:
    """The measured numbers of a claim without a study."""
    header = ["algorithm", "metric", "set", "user", "value"]
    measured = [one for one in found.judged if one.values]
    rows = [[one.algorithm, one.metric, _changes(one), one.user, repr(one.value)] for one in measured]
    return csv_text([header, *rows]).encode()


def _small_run(folder: Path, claim: Claim, found: Replication) -> Path:
    """The results and the journal of what was measured without a run: what was asked, and with which software."""
    started = time.perf_counter()
    table = _results(found)
    (folder / RESULTS).write_bytes(table)
    protocols = [setting.protocol.hash for setting in claim.settings.values()]
    journal = Journal(folder / JOURNAL)
    journal.write(
        events.RunStarted(
            question=claim.title,
            study_digest=claim.digest,
            protocol_hash=protocols[0] if protocols else "",
            seed=claim.seeds[0],
            versions=software(()),
            machine=machine(),
            workers=1,
            block_users=0,
        )
    )
    journal.write(events.ResultsWritten(files={RESULTS: sha256(table)}))
    measured = sum(bool(one.values) for one in found.judged)
    journal.write(events.RunFinished(cells=measured, failed=0, seconds=time.perf_counter() - started))
    journal.close()
    return folder


def _is_written(claim: Claim, table: bytes) -> bool:
    """Whether the journal beside the claim is of this claim, these results and this software."""
    path, results = claim.folder / JOURNAL, claim.folder / RESULTS
    if not path.is_file() or not results.is_file() or results.read_bytes() != table:
        return False
    try:
        journal = read_journal(path)
    except JournalError:
        return False
    began, written = journal.events("run.started"), journal.events("results.written")
    same = began and (began[0].study_digest, began[0].versions) == (claim.digest, software(()))
    return bool(same and written and written[-1].files.get(RESULTS) == sha256(table))
