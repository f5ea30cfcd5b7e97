"""Whatever file a command writes into a folder, a change of one bit in it is found; and so in the folders kept here."""

import random
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from repro.cli import cli
from repro.data import synthetic_interactions
from repro.exports import exporters
from repro.testing import study_toml
from repro.verification import verify

STUDY = study_toml("reference/popularity", "reference/item-mean")
CLAIM = """
title = "A tiny table"
source = "Table 1"
seeds = [3]
data = { name = "ratings.csv" }
protocol = { base = "random-5fold", split.folds = 2 }
algorithms = [{ use = "reference/item-mean", label = "Mean" }]
table = { metrics = ["rmse"], Mean = ["0.11"] }
"""
LACKING = CLAIM.replace("ratings.csv", "absent.csv")  # a claim that cannot be run
REPORTS = Path(__file__).parents[2] / "reports"
# Commands that write no folder: they print, or write one file, or files that people then edit.
WITHOUT_FOLDER = {
    *("algorithms", "claim", "compare", "curve", "data", "diff", "doctor", "evaluate", "metrics", "plugins"),
    *("protocol", "study"),
    *("verify", "audit"),  # an audit takes longer: tests/audits flips the bits of one
}


def invoke(*arguments):
    return CliRunner().invoke(cli, list(map(str, arguments)))


def call(*arguments):
    done = invoke(*arguments)
    assert done.exit_code == 0, (arguments, done.output, done.exception)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folders that each command writes, by the command."""
    place = tmp_path_factory.mktemp("written")
    rows = synthetic_interactions(users=30, items=40, ratings=400, alpha=1.0, seed=5).to_frame()
    rows.to_csv(place / "ratings.csv", index=False)
    (place / "study.toml").write_text(STUDY)
    run = place / "run"
    call("run", place / "study.toml", "--into", run, "--keep-scores", "--workers", 1, "--quiet")
    by_command = {"run": [run], "report": [run]}
    call("report", run)
    call("replay", run, "--into", place / "again", "--here", "--workers", 1, "--quiet")
    by_command["replay"] = [place / "again"]
    to = ("--to-protocol", "said-bellogin-ut", "--into", place / "explanation", "--workers", 1, "--quiet")
    call("explain", run, "-m", "ndcg@10", *to)
    by_command["explain"] = [place / "explanation"]
    shutil.copytree(run, place / "asked" / "run")
    shutil.copy(place / "ratings.csv", place / "asked")
    shutil.copy(place / "study.toml", place / "asked")
    vary = ("--vary", "ties.break=item-asc|item-desc", "--workers", 1, "--quiet")
    call("multiverse", place / "asked" / "study.toml", *vary, "--into", place / "asked")
    (place / "asked" / "ratings.csv").unlink()
    by_command["multiverse"] = [place / "asked"]
    small = ("--cutoffs", "3,5", "--samples", 2, "--randomisations", 50, "--workers", 1, "--quiet")
    call("study-metrics", run, "-m", "ndcg", "-m", "precision", *small, "--into", place / "metrics")
    by_command["study-metrics"] = [place / "metrics"]
    by_command["export"] = [place / "export"]
    forms = [part for form in exporters() for part in ("--to", form)]
    call("export", run, *forms, "--into", place / "export", "--quiet")
    claims = place / "claims"
    for name, text in (("tiny", CLAIM), ("lacking", LACKING)):
        (claims / name).mkdir(parents=True)
        (claims / name / "claim.toml").write_text(text)
    shutil.copy(place / "ratings.csv", claims / "tiny")
    worked = REPORTS / "replications" / "lecture-worked-example"
    (claims / "worked").mkdir()
    for path in worked.iterdir():
        if path.name in ("claim.toml", "truth.csv", "lists.csv"):
            shutil.copy(path, claims / "worked")
    invoke("replicate", claims, "--workers", 1, "--budget", 2, "--refits", 1, "--quiet")
    by_command["replicate"] = [claims, *(claims / name for name in ("tiny", "worked", "lacking"))]
    (place / "artefact").mkdir()
    (place / "artefact" / "train.txt").write_text("1 10\n1 11\n2 10\n2 12\n")
    (place / "artefact" / "test.txt").write_text("1 12\n2 11\n")
    call("review", place / "artefact", "--into", place / "review", "--quiet")
    by_command["review"] = [place / "review"]
    notes = place / "notes"
    notes.mkdir()
    (notes / "README.md").write_text("What came out.")
    call("seal", notes)
    by_command["seal"] = [notes]
    return by_command


def test_every_command_is_here(written):
    assert tuple(sorted(written)) == tuple(sorted(COMMANDS))
    assert written.keys() | WITHOUT_FOLDER == set(cli.list_commands(None))


def own_files(folder):
    """The files of a folder, without those of folders with a journal of their own that it does not name."""
    nested = [journal.parent for journal in folder.glob("*/**/journal.jsonl") if "export" not in folder.name]
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and path.stat().st_size and not any(other in path.parents for other in nested)
    )


COMMANDS = (
    "run",
    "report",
    "replay",
    "explain",
    "multiverse",
    "study-metrics",
    "export",
    "replicate",
    "review",
    "seal",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_one_flipped_bit_in_any_file_is_found(written, command):
    draw = random.Random(command)
    for folder in written[command]:
        verification = verify(folder)
        assert verification.holds, str(verification)
        files = own_files(folder)
        assert len(files) > 1
        for path in files:
            whole = path.read_bytes()
            at, bit = draw.randrange(len(whole)), draw.randrange(8)
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
            assert not verify(folder).holds, (path, at, bit)
            path.write_bytes(whole)
            if path.name != "journal.jsonl":
                path.unlink()
                assert not verify(folder).holds, path
                path.write_bytes(whole)
        assert verify(folder).holds


def test_a_file_put_into_any_folder_is_named(written):
    for folder in (folder for folders in written.values() for folder in folders):
        (folder / "more.csv").write_text("a,b")
        assert [failure.artefact for failure in verify(folder).failures] == ["more.csv"]
        (folder / "more.csv").unlink()
