"""The journal: what is written reads back, what is tampered with is named, what is torn is dropped."""

import gzip
import json
from pathlib import Path

import jsonschema
import pytest

from repro.errors import JournalError
from repro.runs.journal import Journal, events, has_journal, journal_schema, read_journal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    journal.write(events.CellFailed(cell="a/fold-1", error="no luck"))
    journal.write(events.ResultsWritten(files={"results.csv": "0" * 64}))
    journal.write(events.RunFinished(cells=1, failed=1, seconds=0.5))
    journal.close()
    return path


def test_what_is_written_reads_back_in_order(path):
    contents = read_journal(path)
    assert [line.number for line in contents.lines] == [1, 2, 3]
    assert contents.lines[1].previous == contents.lines[0].hash
    assert contents.events("cell.failed")[0].error == "no luck"
    assert contents.torn == 0


def test_every_line_fits_the_published_schema(path):
    validator = jsonschema.Draft202012Validator(journal_schema())
    for line in path.read_text().splitlines():
        validator.validate(json.loads(line))
    assert not validator.is_valid({"number": 1})


@pytest.mark.parametrize("cut", [1, 10, 50])
def test_a_torn_end_is_not_part_of_the_journal_and_is_cut_off_when_it_goes_on(path, cut):
    path.write_bytes(path.read_bytes()[:-cut])
    contents = read_journal(path)
    assert len(contents.lines) == 2
    assert contents.torn > 0
    journal = Journal(path, contents)
    journal.write(events.RunFinished(cells=1, failed=0, seconds=1))
    journal.close()
    again = read_journal(path)
    assert len(again.lines) == 3
    assert again.torn == 0


def test_an_empty_journal_is_valid(tmp_path):
    (tmp_path / "journal.jsonl").touch()
    assert read_journal(tmp_path / "journal.jsonl").lines == ()


def edit(path, change):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(change(lines)))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda lines: lines[1:], "line 1: the chain is broken"),
        (lambda lines: [lines[0], lines[2]], "line 2: the chain is broken"),
        (lambda lines: [lines[1], lines[0], lines[2]], "line 1: the chain is broken"),
        (lambda lines: [lines[0].replace(b"no luck", b"mo luck"), *lines[1:]], "line 1: the hash does not fit"),
        (lambda lines: [lines[0], b"{}\n", lines[2]], "line 2 is not a journal line"),
        (lambda lines: [lines[0], b"\x00\xff\n"], "line 2 is not a journal line"),
    ],
)
def test_tampering_is_named_with_its_line(path, change, sentence):
    edit(path, change)
    with pytest.raises(JournalError, match=sentence):
        read_journal(path)


def test_a_journal_is_never_overwritten(path):
    with pytest.raises(FileExistsError):
        Journal(path)


def test_a_journal_that_is_not_there(tmp_path):
    with pytest.raises(JournalError, match="cannot read the journal"):
        read_journal(tmp_path / "journal.jsonl")


def test_a_compressed_journal_reads_the_same_and_is_unpacked_to_be_continued(path):
    plain, contents, packed = path.read_bytes(), read_journal(path), path.with_name("journal.jsonl.gz")
    packed.write_bytes(gzip.compress(plain))
    path.unlink()
    assert has_journal(path) and read_journal(path) == contents
    journal = Journal(path, contents)
    journal.write(events.RunFinished(cells=2, failed=0, seconds=1.0))
    journal.close()
    assert not packed.exists() and path.read_bytes().startswith(plain)
    assert len(read_journal(path).lines) == len(contents.lines) + 1


@pytest.mark.parametrize("place", [1, 2, 30, -5, -1])
def test_a_compressed_journal_that_is_damaged_or_cut_off_is_rejected(path, place):
    packed = bytearray(gzip.compress(path.read_bytes()))
    path.unlink()
    damaged = packed[:place] + bytes([packed[place] ^ 4]) + packed[place:][1:]
    for content in (damaged, packed[:place]):
        path.with_name("journal.jsonl.gz").write_bytes(content)
        with pytest.raises(JournalError, match=r"cannot read the journal .*journal\.jsonl"):
            read_journal(path)
