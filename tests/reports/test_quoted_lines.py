"""Every output that quotes a journal line names its number, its event and its hash, and all three are right."""

import hashlib
import json
import re
import shutil

import pytest

import repro
from repro.data import synthetic_interactions
from repro.explanations import ScoredRun, explain, multiverse
from repro.exports.forms import BUILT_IN, export_forms
from repro.protocol import Protocol
from repro.reports import write_report
from repro.reports.explain import write_explanation, write_multiverse
from repro.runs.run import Run
from repro.runs.written_files import keep_files

DATA = synthetic_interactions(users=30, items=20, ratings=300, alpha=1.0, seed=4)
QUOTED = re.compile(r"line (\d+) \(([a-z.]+)\), SHA-256 ([0-9a-f]{16,64})")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    study = repro.Study(
        DATA,
        Protocol.load("random-5fold", split__folds=2),
        ["reference/popularity", "reference/bias"],
        ["ndcg@5", "rmse"],
        seed=3,
    )
    return study.run(tmp_path_factory.mktemp("quoted") / "run", keep_scores=True).folder


def hashed_lines(folder):
    """Of each line of the journal: its event, and the SHA-256 of its other fields, computed here."""
    result = []
    for text in (folder / "journal.jsonl").read_text(encoding="utf-8").splitlines():
        body = json.loads(text)
        stated = body.pop("hash")
        plain = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        assert hashlib.sha256(plain).hexdigest() == stated
        result.append((body["event"]["event"], stated))
    return result


def check(path, lines):
    """The number of lines that a file quotes. Each is quoted rightly, and no hash stands there without its number."""
    text = path.read_text(encoding="utf-8", errors="replace")
    quoted = QUOTED.findall(text)
    for number, event, digest in quoted:
        kind, full = lines[int(number) - 1]
        assert (event, digest) == (kind, full[: len(digest)]), path
    for kind, full in lines:
        if full[:16] in text:
            assert any(full.startswith(digest) for _, _, digest in quoted), (path, kind)
    return len(quoted)


def test_every_quoted_line_is_the_one_that_the_text_names(run, tmp_path):
    forms = [exporter.name for exporter in BUILT_IN]
    for attempt in ("first", "second"):  # the journal grows in between
        page = write_report(Run(run))
        export_forms(run, forms, tmp_path / attempt)
        other = Protocol.load("random-5fold", split__folds=2, ties__break="item-desc")
        write_explanation([explain(ScoredRun.open(run, DATA), other, "ndcg@5")], tmp_path / attempt / "explain", "Gap")
        write_multiverse(multiverse(ScoredRun.open(run, DATA), ["ties"]), tmp_path / attempt / "multiverse")
        keep_files(run, {f"notes-{attempt}.txt": attempt.encode()})
        lines = hashed_lines(run)
        assert lines[-1][0] != "run.finished"
        paths = [page, *(path for path in (tmp_path / attempt).rglob("*") if path.is_file())]
        counts = {path: check(path, lines) for path in paths if path.name != "journal.jsonl"}
        quoting = {path.name for path, count in counts.items() if count}
        assert quoting >= {"report.html", "table.tex", "methods.tex", "methods.md", "README.txt", "checklist.md"}
        assert quoting >= {"prov.json", "ro-crate-metadata.json"}


def test_a_report_written_again_is_the_same(run, tmp_path):
    copy = shutil.copytree(run, tmp_path / "run")
    first = write_report(Run(copy)).read_bytes()
    keep_files(copy, {"notes.txt": b"more"})
    assert write_report(Run(copy)).read_bytes() == first
