"""The files of a replication, next to its claim: verdicts, results, and the journal of the run."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from repro.data.spreadsheet import csv_text
from repro.errors import JournalError
from repro.replications.claims.claim import Claim
from repro.replications.verdicts.judgement import Judgement, Replication
from repro.runs.folder import JOURNAL, sha256
from repro.runs.journal import Journal, events, read_journal
from repro.runs.written_files import keep_files
from repro.study.environment import machine, software

VERDICTS_CSV, VERDICTS_JSON, RESULTS = "verdicts.csv", "verdicts.json", "results.csv"
COLUMNS = (
    *("what", "algorithm", "metric", "data", "under", "set", "user", "printed", "measured", "least", "most", "seeds"),
    *("verdict", "settings", "settings_giving", "setting_meets", "setting_by_chance", "cause", "by_cause"),
    *("ties_lowest", "ties_highest", "newer", "why"),
)


def write_replication(claim: Claim, replication: Replication, run: Path | None) -> Replication:
    """Write the verdicts, and the results of ``run``, or of measurements without a run.

    The journal is that of ``run``, or a short one, with the digests of all files, including the claim. Existing results
    stay in place if nothing could be run.
    """
    files: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory(prefix="repro-claim-") as scratch:
        if any(judgement.verdict != "not run" for judgement in replication.judgements):
            if run is None and not _is_written(claim, _results(replication)):
                run = _small_run(Path(scratch), claim, replication)
            folder = run or claim.folder
            files[RESULTS] = (folder / RESULTS).read_bytes()
            replication = replace(replication, journal=read_journal(folder / JOURNAL).end.cited())
        plain = json.dumps(replication.to_dict(), indent=1, ensure_ascii=False, default=str)
        files |= {VERDICTS_CSV: _table(replication.judgements).encode(), VERDICTS_JSON: (plain + "\n").encode()}
        keep_files(claim.folder, files, run=run, used=_input_files(claim))
    return replication


def _input_files(claim: Claim) -> list[str]:
    """The files next to the claim from which its numbers come."""
    names = [claim.path.name, *(data.name for data in (claim.data, *claim.further.values()) if data)]
    if claim.examples:
        names += [claim.examples.truth, claim.examples.train, *(system.file for system in claim.examples.systems)]
    return [name for name in dict.fromkeys(names) if name and (claim.folder / name).is_file()]


def _table(judgements: tuple[Judgement, ...]) -> str:
    rows = [{**judgement.to_dict(), "set": _changes(judgement)} for judgement in judgements]
    return csv_text([COLUMNS, *([row.get(name, "") for name in COLUMNS] for row in rows)])


def _changes(judgement: Judgement) -> str:
    return ", ".join(f"{key}={value}" for key, value in judgement.changes)


def _results(replication: Replication) -> bytes:
    """The measured numbers of a claim without a study."""
    header = ["algorithm", "metric", "set", "user", "value"]
    measured = [judgement for judgement in replication.judgements if judgement.values]
    rows = [
        [judgement.algorithm, judgement.metric, _changes(judgement), judgement.user, repr(judgement.value)]
        for judgement in measured
    ]
    return csv_text([header, *rows]).encode()


def _small_run(folder: Path, claim: Claim, replication: Replication) -> Path:
    """Write the results and a short journal of measurements without a run."""
    started = time.perf_counter()
    table = _results(replication)
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
    measured = sum(bool(judgement.values) for judgement in replication.judgements)
    journal.write(events.RunFinished(cells=measured, failed=0, seconds=time.perf_counter() - started))
    journal.close()
    return folder


def _is_written(claim: Claim, table: bytes) -> bool:
    """Whether the journal next to the claim belongs to this claim, these results and this software."""
    path, results = claim.folder / JOURNAL, claim.folder / RESULTS
    if not path.is_file() or not results.is_file() or results.read_bytes() != table:
        return False
    try:
        journal = read_journal(path)
    except JournalError:
        return False
    started, written = journal.events("run.started"), journal.events("results.written")
    same = started and (started[0].study_digest, started[0].versions) == (claim.digest, software(()))
    return bool(same and written and written[-1].files.get(RESULTS) == sha256(table))
