"""Integrity: whatever is changed, removed, added or cut off in a run folder is found, and named."""

import json
import random
import shutil

import pytest

from repro import Study
from repro.errors import JournalError, StudyError
from repro.protocol import Protocol
from repro.runs.journal import read_journal
from repro.runs.written_files import keep_files
from repro.verification import seal, verify


def only_failure(folder):
    verification = verify(folder)
    assert len(verification.failures) == 1, str(verification)
    return verification.failures[0]


def test_a_run_holds(run):
    verification = verify(run)
    assert verification.holds and verification.kind == "run"
    # 7 events before the cells, 2 of each of 6 cells, 4 after; 2 test parts, lists, values and values of tied lists of
    # 6 cells, predictions of the 4 that predict, study, protocol, 2 tables, a freeze and the report.
    assert verification.summary == "run holds: integrity: 23 events, 30 files"
    assert verification.unchecked == []


@pytest.mark.parametrize("what", ["removed", "moved", "edited"])
def test_an_event_that_is_not_what_it_was_is_named_by_its_line(run, what):
    lines = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
    match what:
        case "removed":
            del lines[9]
        case "moved":
            lines[9], lines[10] = lines[10], lines[9]
        case "edited":
            lines[9] = lines[9].replace(b"popularity", b"popularitx")
    (run / "journal.jsonl").write_bytes(b"".join(lines))
    failure = only_failure(run)
    assert (failure.artefact, failure.line) == ("journal.jsonl", 10)


def test_the_same_number_written_in_another_way_is_another_line(run):
    path = run / "journal.jsonl"
    text = path.read_bytes()
    assert text.count(b'"seed":3,') == 1
    path.write_bytes(text.replace(b'"seed":3,', b'"seed": 3,'))
    failure = only_failure(run)
    assert failure.line == 1 and "not written as a journal writes it" in failure.what


def test_no_event_can_be_taken_out_even_by_who_hashes_the_chain_anew(run, forge):
    for number in range(len(forge(run).lines)):
        copy = shutil.copytree(run, run.with_name(f"without-{number}"))
        forger = forge(copy)
        gone = forger.lines.pop(number)
        forger.finish()
        assert not verify(copy).holds, gone["event"]["event"]


def test_a_journal_that_ends_too_early_is_found_at_every_line_and_within_the_last(run):
    path = run / "journal.jsonl"
    whole = path.read_bytes()
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    for end in [0, *ends[:-1], *range(ends[-2] + 1, len(whole), 16), len(whole) - 1]:
        path.write_bytes(whole[:end])
        assert not verify(run).holds, end


def test_files_that_are_lost_added_or_changed_are_named_with_their_event(run):
    lines = [json.loads(line) for line in (run / "journal.jsonl").read_bytes().splitlines()]
    cell = next(line for line in lines if line["event"]["event"] == "cell.finished")
    lists = f"artifacts/{cell['event']['artifacts']['lists']}.parquet"
    before = (run / lists).read_bytes()
    (run / lists).unlink()
    failure = only_failure(run)
    assert (failure.artefact, failure.line, failure.cell) == (lists, cell["number"], cell["event"]["cell"])
    assert failure.what.startswith("the lists of reference popularity/1: it is missing")
    (run / lists).write_bytes(before)

    (run / "artifacts" / "more.parquet").write_bytes(b"")
    assert "not in the journal" in only_failure(run).what
    (run / "artifacts" / "more.parquet").unlink()

    (run / ".lock").write_bytes(b"x")
    assert only_failure(run).artefact == ".lock"
    (run / ".lock").write_bytes(b"")

    (run / "study.toml").write_bytes((run / "study.toml").read_bytes() + b"#")
    assert only_failure(run).artefact == "study.toml"


@pytest.mark.parametrize("flips", [150, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_flipped_bit_goes_undetected(run, flips):
    """Half of them in any byte of the folder, half in any file, so that small files have their share."""
    draw = random.Random(flips)
    files = sorted(path for path in run.rglob("*") if path.is_file() and path.stat().st_size)
    sizes = [path.stat().st_size for path in files]
    undetected = []
    for number in range(flips):
        path = draw.choices(files, sizes)[0] if number % 2 else draw.choice(files)
        whole = path.read_bytes()
        place, bit = draw.randrange(len(whole)), draw.randrange(8)
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
        if verify(run).holds:
            undetected.append((path.name, place, bit))
        path.write_bytes(whole)
    assert undetected == []
    assert verify(run).holds


def test_files_without_a_digest_do_not_hold_until_they_are_sealed(run, forge):
    """An older journal has no digests of the study, the protocol and the report; and people put notes beside a run."""
    forger = forge(run)
    forger.lines.pop()
    written = forger.events("results.written")[0]["files"]
    del written["study.toml"], written["protocol.toml"]
    forger.finish()
    (run / "notes").mkdir()
    (run / "notes" / "README.md").write_text("What came out.")
    open_ = ["notes/README.md", "protocol.toml", "report.html", "study.toml"]
    assert [failure.artefact for failure in verify(run).failures] == open_
    sealed = seal(run)
    assert sorted(sealed.files) == open_
    verification = verify(run)
    assert verification.holds
    assert verification.notes == [f"recorded as they were found, not as a command wrote them: {', '.join(open_)}"]
    last = read_journal(run / "journal.jsonl").lines[-1]
    assert "recorded when this line was written" in last.event.note and last.hash == sealed.head
    assert seal(run).files == {} and read_journal(run / "journal.jsonl").last_hash == sealed.head


def test_people_may_change_their_own_files_and_no_others(run):
    (run / "README.md").write_text("What came out.")
    (run / "later.md").write_text("More.")
    seal(run)
    (run / "README.md").write_text("What really came out.")
    (run / "later.md").unlink()
    reasons = {failure.artefact: failure.what for failure in verify(run).failures}
    assert (
        sorted(reasons) == ["README.md", "later.md"] and "if the change is yours, `repro seal" in reasons["README.md"]
    )
    sealed = seal(run)
    assert (list(sealed.files), sealed.removed) == (["README.md"], ["later.md"])
    assert verify(run).holds
    head = read_journal(run / "journal.jsonl").last_hash
    (run / "README.md").write_text("And again.")
    for spoil in ("results.csv", "study.toml", "report.html", "journal.jsonl"):
        before = (run / spoil).read_bytes()
        (run / spoil).write_bytes(before[:-2] + b"x" + before[-1:])
        with pytest.raises(JournalError):
            seal(run)
        (run / spoil).write_bytes(before)
        assert read_journal(run / "journal.jsonl").last_hash == head


def test_a_link_is_no_file_of_the_folder(run, tmp_path):
    before = (run / "results.csv").read_bytes()
    (tmp_path / "outside.csv").write_bytes(before)
    (run / "results.csv").unlink()
    (run / "results.csv").symlink_to(tmp_path / "outside.csv")
    assert only_failure(run).what == "it is a symbolic link, not a file of the folder"
    with pytest.raises(JournalError, match="cannot be sealed"):
        seal(run)


def test_a_folder_without_a_journal_gets_one(tmp_path):
    (tmp_path / "table.csv").write_text("a,b")
    seal(tmp_path)
    verification = verify(tmp_path)
    assert verification.holds and verification.summary == f"{tmp_path.name} (files) holds: integrity: 1 events, 1 files"
    (tmp_path / "more.csv").write_text("a,b")
    assert only_failure(tmp_path).artefact == "more.csv"
    (tmp_path / "more.csv").unlink()
    (tmp_path / "table.csv").write_text("a,c")
    assert only_failure(tmp_path).artefact == "table.csv"


def test_the_events_of_a_run_cannot_be_left_out_of_a_sealed_folder(run):
    (run / "journal.jsonl").unlink()
    seal(run)
    assert "the events of the run were removed" in only_failure(run).what


def test_a_part_of_a_run_is_checked_for_what_it_has_and_no_more(run):
    shutil.rmtree(run / "artifacts")
    for name in ("results.parquet", "protocol.toml"):
        (run / name).unlink()
    (run / "README.md").write_text("What came out.")
    (run / "study.toml").write_text('question = "As it was asked"')
    verification = verify(run)
    assert verification.kind == "part of a run"
    assert [failure.artefact for failure in verification.failures] == ["README.md", "study.toml"]
    seal(run)
    verification = verify(run)
    assert verification.holds
    # The table, a freeze and the report of the run, and what was sealed; the rest of its 30 files is elsewhere.
    assert verification.checked["integrity"] == "24 events, 5 files"
    assert verification.unchecked == ["26 files of the run that were not kept here"]
    with pytest.raises(StudyError, match="it has no lists to compute from"):
        verify(run, "rescore")
    (run / "results.csv").write_text("algorithm,value")
    assert only_failure(run).artefact == "results.csv"


def test_what_is_made_of_a_run_must_stay_and_what_is_nested_is_named(run):
    folder = run.parent / "made"
    keep_files(folder, {"table.csv": b"a,b", "pages/one.html": b"<p>"}, run=run)
    assert verify(folder).holds
    (folder / "table.csv").unlink()
    failure = only_failure(folder)
    assert (failure.artefact, failure.what) == ("table.csv", "it is missing")
    keep_files(folder, {"table.csv": b"a,b"}, run=run)
    shutil.copytree(run, folder / "run")
    verification = verify(folder)
    assert verification.holds and "run: with a journal of its own, to be verified by itself" in verification.unchecked


def test_what_was_made_earlier_and_notes_stay_covered_when_the_run_went_on(run):
    """The folder's journal begins anew with that of the run; what is there as it was recorded is carried over."""
    folder = run.parent / "made"
    keep_files(folder, {"table.csv": b"a,b"}, run=run)
    (folder / "README.md").write_text("What came out.")
    seal(folder)
    keep_files(run, {"more.html": b"<p>"})
    keep_files(folder, {"page.html": b"<p>"}, run=run)
    lines = read_journal(folder / "journal.jsonl").lines
    run_lines = read_journal(run / "journal.jsonl").lines
    assert lines[: len(run_lines)] == run_lines
    assert verify(folder).holds
    keep_files(folder, {"page.html": b"<p>"}, run=run)
    assert read_journal(folder / "journal.jsonl").lines == lines


def test_a_run_with_a_failed_cell_and_one_that_was_resumed_hold(tmp_path):
    protocol = Protocol.load("random-5fold", split__folds=2, missing__rank="fail")
    options = {"users": 20, "items": 15, "ratings": 150, "seed": 1}
    metrics, algorithms = ["hit@3"], ["reference/random", "reference/item-knn"]
    study = Study("synthetic", protocol, algorithms, metrics, seed=1, data_options=options)
    for resume in (False, True):
        with pytest.raises(StudyError, match="cells failed"):
            study.run(tmp_path / "run", resume=resume)
        verification = verify(tmp_path / "run", "rescore")
        assert verification.holds, str(verification)
        assert "2 of 4 cells failed when it ran" in verification.summary


def test_what_a_killed_run_leaves_is_gone_when_it_was_resumed(run):
    """The journal ends before the last cell does, and there are an artefact and half a file that nobody names."""
    path = run / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    (run / "report.html").unlink()
    path.write_bytes(b"".join(lines[:-4]) + lines[-4][:50])
    (run / "artifacts" / f"{'0' * 64}.parquet").write_bytes(b"stray")
    (run / "artifacts" / ".half.part").write_bytes(b"half")
    assert {failure.artefact for failure in verify(run).failures} > {"journal.jsonl", "artifacts/.half.part"}
    study = Study.load(run / "study.toml")
    study.folder = run.parent
    study.run(run, resume=True)
    verification = verify(run, "rescore")
    assert verification.holds, str(verification)


def test_what_is_no_run_is_told(tmp_path):
    with pytest.raises(JournalError, match=r"has no journal\.jsonl; give the folder of a run"):
        verify(tmp_path)
    with pytest.raises(StudyError, match="there is no level 'rescored'; did you mean 'rescore'"):
        verify(tmp_path, "rescored")
    (tmp_path / "journal.jsonl").touch()
    assert "it has no events" in str(verify(tmp_path))
