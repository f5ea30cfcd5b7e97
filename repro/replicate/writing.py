"""What a replication leaves beside its claim: verdicts, the table of results, and the journal they come from."""

from __future__ import annotations

import csv
import io
import json
import time
from dataclasses import replace
from pathlib import Path

from repro.errors import JournalError
from repro.journal import Journal, events, read_journal
from repro.replicate.claim import Claim
from repro.replicate.verdict import Judged, Replication
from repro.study.environment import machine, software
from repro.study.folder import JOURNAL, sha256

VERDICTS_CSV, VERDICTS_JSON, RESULTS = "verdicts.csv", "verdicts.json", "results.csv"
COLUMNS = (
    *("what", "algorithm", "metric", "under", "set", "user", "printed", "measured", "least", "most", "seeds"),
    *("verdict", "settings", "settings_giving", "newer", "why"),
)


def write_replication(claim: Claim, found: Replication, run: Path | None) -> Replication:
    """Write the verdicts, and the results and the journal of ``run``, or of what was measured without one.

    A claim of which nothing could be run leaves no journal, and takes none away.
    """
    if any(one.verdict != "not run" for one in found.judged):
        if run is not None:
            for name in (RESULTS, JOURNAL):
                (claim.folder / name).write_bytes((run / name).read_bytes())
        else:
            _journal(claim, found)
        found = replace(found, journal=read_journal(claim.folder / JOURNAL).end.cited())
    (claim.folder / VERDICTS_CSV).write_text(_table(found.judged), encoding="utf-8")
    plain = json.dumps(found.to_dict(), indent=1, ensure_ascii=False, default=str)
    (claim.folder / VERDICTS_JSON).write_text(plain + "\n", encoding="utf-8")
    return found


def _table(judged: tuple[Judged, ...]) -> str:
    sink = io.StringIO()
    writer = csv.DictWriter(sink, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for one in judged:
        row = one.to_dict()
        changed = ", ".join(f"{key}={value}" for key, value in one.changes)
        writer.writerow({**row, "set": changed})
    return sink.getvalue()


def _results(found: Replication) -> bytes:
    """The measured numbers of a claim without a study."""
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(["algorithm", "metric", "set", "user", "value"])
    for one in found.judged:
        if one.values:
            changed = ", ".join(f"{key}={value}" for key, value in one.changes)
            writer.writerow([one.algorithm, one.metric, changed, one.user, repr(one.value)])
    return sink.getvalue().encode()


def _journal(claim: Claim, found: Replication) -> None:
    """A small journal: what was asked, with which software, and the digest of the results.

    One that says the same of the same results is left as it is.
    """
    started = time.perf_counter()
    table = _results(found)
    if _is_written(claim, table):
        return
    (claim.folder / JOURNAL).unlink(missing_ok=True)
    (claim.folder / RESULTS).write_bytes(table)
    protocols = [setting.protocol.hash for setting in claim.settings.values()]
    journal = Journal(claim.folder / JOURNAL)
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
