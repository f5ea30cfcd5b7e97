"""The reports that are kept: journals hold, tables are those of the journals, and nothing of the machine is in them."""

import csv
import json
import re
import shutil
import tomllib
from itertools import takewhile
from pathlib import Path

import pytest

from repro.audits.campaign.audit_results import AuditResults
from repro.audits.policies import file_stem
from repro.protocol import protocol_names, read_protocol
from repro.reports.audit.audit_page import audit_page
from repro.runs.folder import JOURNAL
from repro.runs.journal import journal_bytes, read_journal
from repro.verification import verify
from repro.verification.record import FolderRecord

REPORTS = Path(__file__).parents[2] / "reports"
AUDIT = REPORTS / "evaluator-audit"
KEPT = sorted(
    path.parent
    for path in REPORTS.rglob(f"{JOURNAL}*")
    if path.parent not in (AUDIT,) and "run" not in path.relative_to(REPORTS).parts
)
# Reports that are made of a run, and keep its journal but not its table.
MADE_OF_RUNS = [REPORTS / name for name in ("candidate-selection-ml100k", "multiverse-ml100k")]
CROSS = REPORTS / "cross-framework-ml100k"
# The columns of the table in the README after algorithm and framework: which study, which metric, times what.
COLUMNS = (
    (CROSS, "rmse", 1),
    (CROSS, "ndcg@10", 1),
    (CROSS / "ut", "ndcg@10", 1),
    (CROSS, "user-coverage@10", 100),
    (CROSS / "ut", "user-coverage@10", 100),
    (CROSS, "catalogue-coverage@10", 100),
    (CROSS / "ut", "catalogue-coverage@10", 100),
)


def means(folder):
    """Each algorithm's value of each metric, all folds together, as results.csv has it."""
    with (folder / "results.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["fold"] == "all"]
    return {(row["algorithm"], row["metric"]): float(row["value"] or "nan") for row in rows}


@pytest.mark.parametrize("folder", [*KEPT, AUDIT], ids=lambda folder: str(folder.relative_to(REPORTS)))
def test_what_is_kept_is_what_the_journal_tells_of_and_the_report_is_one_of_it(folder):
    actual = verify(folder)
    assert actual.holds, str(actual)
    journal = read_journal(folder / JOURNAL)
    record = FolderRecord(journal)
    assert journal.cell_ends.keys() == journal.finished_cells.keys(), "no cell failed"
    if record.has_cells and folder not in MADE_OF_RUNS:
        tables = [name for name in record.files if "/" not in name and name.endswith(".csv")]
        assert tables and all((folder / name).is_file() for name in tables)


def test_every_folder_has_a_journal_and_one_flipped_bit_in_any_file_is_found(tmp_path):
    """A study alone, which says what is asked, has none. Where the journal is large, every file must be named in it."""
    with_files = {path.parent for path in REPORTS.rglob("*.csv") if "run" not in path.relative_to(REPORTS).parts}
    assert {*KEPT, AUDIT} >= {folder for folder in with_files if "pages" not in folder.parts}
    for number, folder in enumerate((*KEPT, AUDIT)):
        nested = {path.parent.name for path in folder.glob(f"*/{JOURNAL}*")}
        copy = shutil.copytree(folder, tmp_path / str(number), ignore=lambda _, names, nested=nested: {*names} & nested)
        files = sorted(path for path in copy.rglob("*") if path.is_file() and path.stat().st_size)
        if len(journal_bytes(folder / JOURNAL)) > 200_000:
            journals = [path for path in files if path.name.startswith(JOURNAL)]
            named = FolderRecord(read_journal(folder / JOURNAL)).files
            assert {path.relative_to(copy).as_posix() for path in files if path not in journals} <= {*named}
            files = journals
        for path in files:
            complete = path.read_bytes()
            path.write_bytes(complete[:-1] + bytes([complete[-1] ^ 4]))
            assert not verify(copy).holds, path
            path.write_bytes(complete)


def test_what_is_kept_is_small_and_has_no_pages():
    files = [path for path in REPORTS.rglob("*") if path.is_file() and "run" not in path.relative_to(REPORTS).parts]
    assert sum(path.stat().st_size for path in files) < 6_000_000
    assert not [path for path in files if path.suffix == ".html"], "`reports/keep.sh FOLDER` takes pages away"


def test_readmes_link_to_files_that_are_kept():
    for readme in REPORTS.rglob("README.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", readme.read_text(encoding="utf-8")):
            assert (readme.parent / target).exists(), (readme, target)


def test_the_page_of_the_audit_is_made_from_its_journal():
    results = AuditResults.read(AUDIT)
    page = audit_page(results)
    links = set(re.findall(r'href="(pages/[^"]+)"', page))
    assert links and all((AUDIT / link).is_file() for link in links)
    assert len(results.measures) == len(list((AUDIT / "pages").iterdir()))


def test_the_inferred_protocols_are_those_of_the_audit():
    results = AuditResults.read(AUDIT)
    policies = {f"inferred/{file_stem(name)}": event for name, event in results.inferred.items() if event.protocol_hash}
    assert {name for name in protocol_names() if name.startswith("inferred/")} == policies.keys()
    for name, event in policies.items():
        protocol = read_protocol(name)
        assert (protocol.source, protocol.hash) == (event.name, event.protocol_hash)
        undecided = [key for key in protocol.open if not key.startswith(("data.", "split."))]
        assert event.policy.items() <= dict(protocol).items() and event.policy.keys().isdisjoint(undecided), name


@pytest.mark.parametrize("folder", KEPT, ids=lambda folder: str(folder.relative_to(REPORTS)))
def test_nothing_of_the_machine_is_kept_but_what_it_is(folder):
    for path in folder.iterdir():
        if path.suffix in (".jsonl", ".gz", ".csv", ".json", ".md"):
            content = journal_bytes(folder / JOURNAL) if path.suffix == ".gz" else path.read_bytes()
            assert not re.search(r"(?<![\w<.])/(home|root|tmp|usr|opt|var|work|Users)/", content.decode()), path.name


def readme_rows(folder):
    """The cells of the first table of a README, without its head."""
    lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("| ---"))
    rows = takewhile(lambda line: line.startswith("|"), lines[first + 1 :])
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in rows]


def test_candidate_sets_are_told_as_they_were_measured():
    folder = REPORTS / "candidate-selection-ml100k"
    actual = json.loads((folder / "explanation.json").read_text(encoding="utf-8"))
    rows = readme_rows(folder)
    ends = [("before", actual[0]), *(("after", entry) for entry in actual)]
    assert len(rows) == len(ends)
    for (_, _, _, *cells), (end, explained) in zip(rows, ends, strict=True):
        assert cells == [f"{entry[end]:.4f}" for entry in explained["algorithms"]]
    for explained in actual:
        assert explained["orders"] == "all"
        for entry in explained["algorithms"]:
            assert sum(part["part"] for part in entry["parts"]) == pytest.approx(entry["gap"], abs=1e-12)


def test_both_protocols_are_asked_the_same():
    studies = [tomllib.loads((folder / "study.toml").read_text()) for folder in (CROSS, CROSS / "ut")]
    for key in ("seed", "data", "algorithms"):
        assert studies[0][key] == studies[1][key]
    assert all(entry["use"].startswith("*/") for entry in studies[0]["algorithms"])


def test_the_table_in_the_readme_is_that_of_the_results():
    values = {folder: means(folder) for folder in (CROSS, CROSS / "ut")}
    rows = readme_rows(CROSS)
    assert len(rows) == len({label for label, _ in values[CROSS]})
    for algorithm, framework, _, _, *cells in rows:
        for cell, (folder, metric, factor) in zip(cells, COLUMNS, strict=True):
            value = values[folder][f"{framework} {algorithm}", metric] * factor
            digits = len(cell.partition(".")[2])
            assert cell == ("–" if value != value else f"{value:.{digits}f}"), (framework, algorithm, metric)
