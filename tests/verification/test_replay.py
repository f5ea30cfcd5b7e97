"""Replay: from the folder alone, wherever it was moved, with the data and the versions of the run."""

import json
import shutil

import pytest
from click.testing import CliRunner

from repro import Study
from repro.cli import cli
from repro.errors import JournalError, StudyError
from repro.protocol import Protocol
from repro.runs.run import Run
from repro.verification import replay, verify
from repro.verification.freezes import read_freeze, surroundings


def test_a_run_that_was_moved_comes_again_with_its_data_given(run, tmp_path):
    moved = shutil.move(run, tmp_path / "elsewhere")
    with pytest.raises(StudyError, match=r"the data of the run in .*, ratings\.csv, is not there; give it with --data"):
        replay(moved, tmp_path / "again")
    assert not (tmp_path / "again").exists()
    done = replay(moved, tmp_path / "again", data=str(run.parent / "ratings.csv"), tolerance=0.5)
    assert done.reproduced and done.comparison.summary.startswith("18 numbers: 18 identical")
    assert [framework.sentence for framework in done.frameworks] == [
        "reference: as it is here, with the versions of the run"
    ]
    assert done.changed == {}
    assert verify(tmp_path / "again", "rescore").holds
    document = json.loads((tmp_path / "again" / "replay.json").read_text())
    assert document["tolerance"] == 0.5 and document["reproduced"] is True
    assert document["original"] == Run(moved).journal.end.cited()
    with pytest.raises(StudyError, match="holds a run already"):
        replay(moved, tmp_path / "again")


def test_scores_are_kept_again_where_they_were_kept(kept, tmp_path):
    done = replay(kept, tmp_path / "again", algorithms=["reference bias"])
    assert done.reproduced
    cells = Run(tmp_path / "again").journal.events("cell.finished")
    assert len(cells) == 2 and all("scores" in cell.artifacts for cell in cells)


def test_other_data_is_refused_before_anything_is_fitted(run, tmp_path):
    path = run.parent / "ratings.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    with pytest.raises(JournalError, match=r"is not the data of the run in .*give the data of that time with --data"):
        replay(run, tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_what_does_not_hold_is_not_replayed(run, tmp_path):
    (run / "protocol.toml").write_bytes(b"")
    with pytest.raises(JournalError, match=r"does not hold: 1 failure.*protocol\.toml"):
        replay(run, tmp_path / "again")
    shutil.rmtree(run / "artifacts")
    (run / "results.parquet").unlink()
    with pytest.raises(StudyError, match="is part of a run, not the folder of a run"):
        replay(run, tmp_path / "again")


def test_data_given_in_code_must_be_given_again(tmp_path):
    from repro.data import synthetic_interactions

    rows = synthetic_interactions(users=20, items=15, ratings=150, seed=1)
    study = Study(rows, Protocol.load("random-5fold", split__folds=2), ["reference/popularity"], ["hit@3"])
    study.run(tmp_path / "run")
    with pytest.raises(StudyError, match="was given in code; give it again"):
        replay(tmp_path / "run", tmp_path / "again")
    assert replay(tmp_path / "run", tmp_path / "again", data=rows).reproduced


def test_a_file_that_the_protocol_names_is_told_with_its_digest(tmp_path, make_run):
    (tmp_path / "made").mkdir()
    rows = "\n".join(f"{item},{'drama' if item % 2 else 'comedy'}" for item in range(30))
    (tmp_path / "made" / "features.csv").write_text("item,feature\n" + rows)
    metrics = ["intra-list-diversity[over=features]@5"]
    features = str(tmp_path / "made" / "features.csv")
    folder = make_run(tmp_path / "made", ["reference/popularity"], metrics, data__item_features=features)
    assert replay(folder, tmp_path / "again").reproduced
    digest = Run(folder).journal.events("data.loaded")[0].files["data.item_features"]
    (tmp_path / "made" / "features.csv").unlink()
    with pytest.raises(StudyError, match=rf"data\.item_features names .*features\.csv.*SHA-256 {digest}"):
        replay(folder, tmp_path / "once more")


def test_versions_that_are_not_here_ask_for_an_environment(run, forge, tmp_path, make_run):
    (tmp_path / "surprise").mkdir()
    folder = make_run(tmp_path / "surprise", ["surprise/bias"], ["rmse"])
    (here,) = surroundings(Run(folder))
    assert (here.where, here.pins, here.changed) == ("here", (), {})

    frozen = read_freeze(folder / "environments" / "surprise.txt").versions
    forger = forge(folder)
    forger.events("run.started")[0]["versions"]["numpy"] = "1.0.1"
    text = (folder / "environments" / "surprise.txt").read_text()
    older = text.replace(f"numpy=={frozen['numpy']}\n", "numpy==1.0.1\n") + "local-thing @ file:///gone\n"
    forger.replace_file("environments/surprise.txt", older.encode())
    forger.finish()
    assert verify(folder).holds
    (environment,) = surroundings(Run(folder))
    assert environment.where == "frozen environment" and "~numpy==1.0.1" in environment.pins
    assert f"~scikit-surprise=={frozen['scikit-surprise']}" in environment.pins
    assert environment.changed == {"numpy": ("1.0.1", frozen["numpy"])}
    assert environment.lacking == ("local-thing @ file:///gone",) and not environment.as_then
    assert (
        "but for what could not be installed, since no index has it: local-thing @ file:///gone" in environment.sentence
    )
    (as_it_is,) = surroundings(Run(folder), here=True)
    assert as_it_is.where == "here" and "numpy 1.0.1 then" in as_it_is.sentence and not as_it_is.as_then


def test_a_replay_says_what_it_could_not_install(forge, tmp_path, make_run):
    """The versions of the run are installed, and some lines of the freeze name no version at all."""
    (tmp_path / "surprise").mkdir()
    folder = make_run(tmp_path / "surprise", ["surprise/bias"], ["rmse"])
    unread = ("local-thing @ file:///gone", "-e git+https://example.org/x@abc#egg=edited", "-e /home/of/somebody")
    forger = forge(folder)
    text = (folder / "environments" / "surprise.txt").read_text() + "\n".join(unread) + "\n"
    forger.replace_file("environments/surprise.txt", text.encode())
    forger.finish()
    command = ["replay", str(folder), "--quiet", "--workers", "1", "--json", "--into"]
    done = CliRunner().invoke(cli, [*command, str(tmp_path / "again")])
    assert done.exit_code == 0, (done.output, done.exception)
    document = json.loads(done.stdout)
    assert document["versions_of_then"] is False and document["not_installed"] == {"surprise": list(unread)}
    assert document["frameworks"]["surprise"] == (
        "surprise: as it is here, with the versions of the run, but for what cannot be compared, since it names no "
        f"version: {', '.join(unread)}"
    )
    assert json.loads((tmp_path / "again" / "replay.json").read_text())["not_installed"] == document["not_installed"]
    strict = CliRunner().invoke(cli, [*command, str(tmp_path / "strict"), "--strict"])
    assert strict.exit_code == 1


def test_a_plug_in_of_another_version_is_not_that_of_then(run, forge):
    forger = forge(run)
    forger.events("run.started")[0]["versions"]["framework:reference"] = "0.0.1"
    for event in forger.events("cell.started"):
        event["framework_version"] = "0.0.1"
    forger.finish()
    (here,) = surroundings(Run(run))
    assert not here.as_then and here.sentence.startswith("reference: as it is here, reference 0.0.1 then, ")


def test_the_label_of_a_build_is_no_part_of_a_version_and_what_has_none_is_kept_apart(tmp_path):
    path = tmp_path / "freeze.txt"
    path.write_text("Torch==2.13.0+cpu\nrepro @ file:///somewhere\n-e git+https://x\nscikit_learn==1.7.1\n")
    frozen = read_freeze(path)
    assert frozen.versions == {"torch": "2.13.0", "scikit-learn": "1.7.1"}
    assert frozen.unread == ("repro @ file:///somewhere", "-e git+https://x") and frozen.builds == (
        "Torch==2.13.0+cpu",
    )
    with pytest.raises(StudyError, match="says which versions a framework had; --here"):
        read_freeze(tmp_path / "none.txt")
