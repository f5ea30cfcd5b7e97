"""Runs: the same numbers whatever the workers, blocks and row order; nothing lost when something breaks."""

import filecmp
import gzip
import hashlib
import json
import shutil
import statistics
import subprocess
import sys

import numpy as np
import pytest

from repro import Study
from repro.errors import JournalError, ProtocolError, StudyError
from repro.protocol import Protocol
from repro.runs.folder import RunFolder
from repro.runs.journal import read_journal
from repro.verification import verify

FILES = ("results.parquet", "results.csv")


def same_results(first, second):
    _, differing, missing = filecmp.cmpfiles(first, second, FILES, shallow=False)
    return not differing and not missing


def artifacts(folder):
    return {event.cell: event.artifacts for event in read_journal(folder / "journal.jsonl").events("cell.finished")}


@pytest.fixture(scope="module")
def finished(study, tmp_path_factory):
    return study.run(tmp_path_factory.mktemp("finished") / "run")


def test_a_run_leaves_tables_protocol_study_and_journal(finished, study):
    assert {path.name for path in finished.folder.iterdir()} >= {
        "artifacts",
        "environments",
        "journal.jsonl",
        "protocol.toml",
        "results.csv",
        "results.parquet",
        "study.toml",
    }
    table = finished.table()
    assert list(table.columns) == [measure.name for measure in study.measures]
    assert list(table.index) == [entry.label for entry in study.entries]
    assert table["rmse"].notna().sum() >= 1
    assert np.isnan(table.loc["reference popularity", "rmse"])


def test_files_are_for_whoever_may_read_new_files(finished):
    plain = finished.folder / "new"
    plain.touch()
    modes = {path.stat().st_mode for path in finished.folder.rglob("*") if path.is_file()}
    plain.unlink()
    assert len(modes) == 1


def recorded(study):
    """The decisions of a study, without the variants of metrics that it does not ask for."""
    measured = {measure.metric.name for measure in study.measures}
    return {
        key: value
        for key, value in study.protocol.items()
        if not key.startswith("metric.") or key.split(".")[1] in measured
    }


def test_the_journal_says_who_decided_what_and_what_it_touched(finished, study):
    journal = read_journal(finished.folder / "journal.jsonl")
    decisions = journal.events("decisions.resolved")[0].decisions
    assert {d.decision: d.value for d in decisions} == recorded(study)
    impacts = finished.impacts()
    assert {"ties.break", "missing.rank", "relevance.rule"} <= set(impacts["decision"])
    assert impacts["sentence"].str.len().min() > 10


def test_all_folds_together_are_the_mean_of_the_folds(finished):
    long = finished.results
    folds = long[long["fold"] != "all"].groupby(["algorithm", "metric"], sort=False)["value"].mean()
    together = long[long["fold"] == "all"].set_index(["algorithm", "metric"])["value"]
    np.testing.assert_allclose(together, folds.loc[together.index], rtol=1e-15, equal_nan=True)


def test_times_are_the_median_of_the_folds_in_the_journal(finished):
    lines = map(json.loads, (finished.folder / "journal.jsonl").read_text().splitlines())
    ended = [line["event"] for line in lines if line["event"]["event"] == "cell.finished"]
    seconds = finished.seconds()
    assert list(seconds.index) == list(finished.table().index)
    for label in seconds.index:
        took = [event["seconds"] for event in ended if event["cell"].rpartition("/")[0] == label]
        assert len(took) == 2 and all(cell["fit"] > 0 and cell["score"] > 0 and cell["rank"] > 0 for cell in took)
        assert all((cell["predict"] > 0) == (label in ("reference item-mean", "reference item-knn")) for cell in took)
        assert seconds.loc[label, "fit"] == statistics.median(cell["fit"] for cell in took)
        assert seconds.loc[label, "score"] == statistics.median(cell["score"] + cell["predict"] for cell in took)


@pytest.mark.parametrize("block_users", [1, 7, 100_000])
def test_the_size_of_blocks_changes_nothing(study, finished, tmp_path, block_users):
    other = study.run(tmp_path / "run", block_users=block_users)
    assert same_results(other.folder, finished.folder)
    assert artifacts(other.folder) == artifacts(finished.folder)


def test_blocks_add_up_when_not_all_items_are_candidates(data, tmp_path):
    study = Study(data, "bellogin-1r-ti-nn", ["reference/item-mean"], ["catalogue-coverage@3", "hit@5"], seed=2)
    small, several = (study.run(tmp_path / str(size), block_users=size) for size in (64, 100_000))
    assert same_results(small.folder, several.folder)


def test_the_number_of_workers_changes_nothing(study, finished, tmp_path):
    other = study.run(tmp_path / "run", workers=2)
    assert same_results(other.folder, finished.folder)
    assert artifacts(other.folder) == artifacts(finished.folder)


def test_the_order_of_rows_changes_nothing(study, finished, data, tmp_path):
    shuffled = data.select(np.random.default_rng(5).permutation(len(data)))
    other = Study(
        shuffled,
        study.protocol,
        [entry.use for entry in study.entries],
        [measure.name for measure in study.measures],
        seed=study.seed,
        question=study.question,
    ).run(tmp_path / "run")
    assert same_results(other.folder, finished.folder)
    assert artifacts(other.folder) == artifacts(finished.folder)


def test_another_seed_gives_other_folds(study, finished, data, tmp_path):
    other = Study(data, study.protocol, ["reference/random"], ["ndcg@10"], seed=12).run(tmp_path / "run")
    first = read_journal(finished.folder / "journal.jsonl").events("fold.made")[0].test_digest
    assert read_journal(other.folder / "journal.jsonl").events("fold.made")[0].test_digest != first


def test_a_folder_that_holds_a_run_is_not_overwritten_unasked(study, finished, tmp_path):
    with pytest.raises(StudyError, match="holds a finished run; --resume finishes it, --fresh replaces it"):
        study.run(finished.folder)
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(StudyError, match="is not empty and not a run"):
        study.run(tmp_path, fresh=True)
    assert (tmp_path / "thesis.tex").exists()


def test_a_run_whose_journal_cannot_be_read_can_be_replaced(study, finished, tmp_path):
    old = tmp_path / "run"
    shutil.copytree(finished.folder, old)
    (old / "journal.jsonl").write_text('{"written": "by another version"}\n')
    for options in ({}, {"resume": True}):
        with pytest.raises(JournalError, match="line 1 is not a journal line"):
            study.run(old, **options)
    study.run(old, fresh=True)
    assert same_results(old, finished.folder)


def test_a_second_run_into_the_same_folder_is_refused(study, tmp_path):
    (tmp_path / "run").mkdir()
    folder = RunFolder(tmp_path / "run")
    with folder.locked(), pytest.raises(StudyError, match="another run is writing"), folder.locked():
        pass


def test_resuming_a_finished_run_changes_nothing(study, finished):
    before = (finished.folder / "journal.jsonl").read_bytes()
    study.run(finished.folder, resume=True)
    assert (finished.folder / "journal.jsonl").read_bytes() == before


def test_resuming_a_finished_run_of_another_study_is_refused(study, finished, data):
    expected = study.with_protocol(study.protocol.replace({"ties.break": "item-desc"}))
    with pytest.raises(StudyError, match="the study is not the one in"):
        expected.run(finished.folder, resume=True)
    fewer = Study(
        data.select(np.arange(len(data) - 1)),
        study.protocol,
        [{"use": e.use, "label": e.label, "parameters": e.parameters} for e in study.entries],
        study.metric_names,
        seed=study.seed,
        question=study.question,
    )
    with pytest.raises(StudyError, match="the data changed since"):
        fewer.run(finished.folder, resume=True)


def test_resuming_a_finished_run_makes_lost_tables_again(study, finished, tmp_path):
    lost = tmp_path / "run"
    shutil.copytree(finished.folder, lost)
    (lost / "results.parquet").unlink()
    (lost / "results.csv").write_text("algorithm,value\n")
    study.run(lost, resume=True)
    assert same_results(lost, finished.folder)


def test_a_run_that_is_under_way_is_not_called_cut_off(study, finished, tmp_path):
    cut = tmp_path / "run"
    shutil.copytree(finished.folder, cut)
    for options in ({}, {"resume": True}, {"fresh": True}):
        with RunFolder(cut).locked(), pytest.raises(StudyError, match="another run is writing"):
            study.run(cut, **options)


def test_a_run_killed_before_its_decisions_were_written_states_them(study, finished, tmp_path):
    cut = tmp_path / "run"
    shutil.copytree(finished.folder, cut)
    journal = cut / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])
    study.run(cut, resume=True)
    (resolved,) = read_journal(journal).events("decisions.resolved")
    assert {entry.decision for entry in resolved.decisions} == set(recorded(study))


def test_a_run_with_a_compressed_journal_is_resumed(study, finished, tmp_path):
    """People compress the journals that they keep; such a run is read, finished and replaced as any other."""
    run = tmp_path / "run"
    shutil.copytree(finished.folder, run)
    journal, packed = run / "journal.jsonl", run / "journal.jsonl.gz"
    packed.write_bytes(gzip.compress(b"".join(journal.read_bytes().splitlines(keepends=True)[:8])))
    journal.unlink()
    with pytest.raises(StudyError, match="--resume"):
        study.run(run)
    assert packed.is_file()
    study.run(run, resume=True)
    assert not packed.exists() and verify(run).holds
    assert read_journal(journal).finished_cells.keys() == finished.journal.finished_cells.keys()


def test_resuming_another_study_is_refused(finished, data):
    other = Study(data, "random-5fold", ["reference/random"], ["ndcg@10"])
    journal = finished.folder / "journal.jsonl"
    cut = journal.read_bytes()
    journal.write_bytes(b"\n".join(cut.splitlines()[:8]) + b"\n")
    try:
        with pytest.raises(StudyError, match="the study is not the one in"):
            other.run(finished.folder, resume=True)
    finally:
        journal.write_bytes(cut)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.8, 0.99])
def test_a_run_cut_off_anywhere_is_finished_with_the_same_digests(study, finished, tmp_path, share):
    cut = tmp_path / "run"
    shutil.copytree(finished.folder, cut)
    journal = cut / "journal.jsonl"
    content = journal.read_bytes()
    journal.write_bytes(content[: int(len(content) * share)])
    for name in FILES:
        (cut / name).unlink()
    study.run(cut, resume=True)
    assert same_results(cut, finished.folder)
    assert artifacts(cut) == artifacts(finished.folder)
    read_journal(journal)


def test_a_damaged_artefact_is_made_again(study, finished, tmp_path):
    damaged = tmp_path / "run"
    shutil.copytree(finished.folder, damaged)
    journal = damaged / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))
    victim = next(iter(artifacts(damaged).values()))["values"]
    path = damaged / "artifacts" / f"{victim}.parquet"
    path.write_bytes(b"PAR1 but not really")
    study.run(damaged, resume=True)
    assert same_results(damaged, finished.folder)
    assert RunFolder(damaged).has(victim)


def test_the_study_file_of_a_run_reads_back_as_the_same_study(finished, study):
    again = Study.load(finished.folder / "study.toml")
    assert [e.parameters for e in again.entries] == [e.parameters for e in study.entries]
    assert again.protocol == study.protocol
    assert [m.full_name for m in again.measures] == [m.full_name for m in study.measures]


def test_every_line_of_the_journal_is_json(finished):
    for line in (finished.folder / "journal.jsonl").read_text().splitlines():
        json.loads(line)


def test_data_without_ratings_is_refused_where_ratings_are_compared(data, tmp_path):
    chosen = data.to_frame()[["user", "item"]]
    with pytest.raises(
        ProtocolError, match=r'relevance.rule = "threshold" compares ratings, and this data set has none'
    ):
        Study(chosen, "random-5fold", ["reference/popularity"], ["hit@10"]).run(tmp_path / "run")
    implicit = Protocol.load("random-5fold", relevance__rule="any")
    with pytest.raises(ProtocolError, match="metric rmse compares predictions with ratings"):
        Study(chosen, implicit, ["reference/item-mean"], ["hit@10", "rmse"]).run(tmp_path / "run")
    assert not (tmp_path / "run" / "journal.jsonl").exists()
    Study(chosen, implicit, ["reference/popularity"], ["hit@10"]).run(tmp_path / "run")


@pytest.fixture
def study_of_files(data, tmp_path):
    """A study whose file names its split and its negatives, all in one folder."""
    rows = data.to_frame()
    rows[::2].to_csv(tmp_path / "train.csv", index=False)
    rows[1::2].to_csv(tmp_path / "test.csv", index=False)
    items = " ".join(str(item) for item in rows["item"].unique()[:30])
    (tmp_path / "negatives.txt").write_text("".join(f"{user} {items}\n" for user in rows["user"].unique()))
    path = tmp_path / "study.toml"
    path.write_text(
        'data = "train.csv"\nmetrics = ["hit@5"]\n'
        '[protocol]\nbase = "random-5fold"\n'
        'split = { strategy = "files", train_file = "train.csv", test_file = "test.csv" }\n'
        'candidates = { base = "file", file = "negatives.txt" }\n'
        '[[algorithms]]\nuse = "reference/popularity"\n'
    )
    return path


def test_files_named_in_a_study_are_found_beside_it_and_journaled(study_of_files, tmp_path):
    Study.load(study_of_files).run(tmp_path / "run")
    (loaded,) = read_journal(tmp_path / "run" / "journal.jsonl").events("data.loaded")
    assert loaded.files == {
        decision: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        for decision, name in (
            ("split.train_file", "train.csv"),
            ("split.test_file", "test.csv"),
            ("candidates.file", "negatives.txt"),
        )
    }


def test_files_named_in_code_are_found_from_the_current_folder(study_of_files, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.txt").write_text((tmp_path / "negatives.txt").read_text())
    monkeypatch.chdir(elsewhere)
    study = Study.load(study_of_files)
    changed = study.with_protocol(study.protocol.replace({"candidates.file": "mine.txt"}, "command line"))
    assert changed.protocol.path("candidates.file").resolve() == elsewhere / "mine.txt"
    assert changed.run(tmp_path / "run").results.equals(study.run(tmp_path / "other").results)


def test_resuming_with_another_file_of_negatives_is_refused(study_of_files, tmp_path):
    Study.load(study_of_files).run(tmp_path / "run")
    negatives = tmp_path / "negatives.txt"
    negatives.write_text(negatives.read_text().replace(" 1 ", " "))
    with pytest.raises(StudyError, match=r"the file of candidates\.file changed since"):
        Study.load(study_of_files).run(tmp_path / "run", resume=True)


def test_notebooks_show_tables(finished, study, data):
    for shown in (finished, study.protocol, data):
        assert "<table" in shown._repr_html_()
    assert "reference popularity" in finished._repr_html_()
    assert "split.folds" in study.protocol._repr_html_()  # which differs from the base


def test_a_script_needs_no_guard_to_use_workers(tmp_path):
    """Workers do not import the script that asks for them, which would run it again in each of them."""
    script = tmp_path / "script.py"
    script.write_text(
        "import repro\n"
        'data = repro.load_dataset("synthetic", users=40, items=30, ratings=400)\n'
        'study = repro.Study(data, "random-5fold", ["reference/popularity"], ["hit@5"])\n'
        "print('once', study.run(workers=2).table().shape)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
    assert done.stdout.split("\n")[0] == "once (1, 1)", done.stderr
