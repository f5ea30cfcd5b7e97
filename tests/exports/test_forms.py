"""Properties of every form: whole or not at all, never into the run, nothing of value lost."""

import json
import shutil
import zipfile

import pytest

import repro
from repro import Protocol, Study
from repro.errors import JournalError, StudyError
from repro.exports import export, export_forms, exporters
from repro.plugin import Exporter, plugins
from repro.runs.run import Run

FORMS = list(exporters())


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("latex", "methods")])
def test_the_same_run_gives_the_same_bytes(run, tmp_path, form):
    for name in ("one", "two"):
        export(run, form, tmp_path / name)
    assert contents(tmp_path / "one") == contents(tmp_path / "two") != {}


def contents(path):
    files = [path] if path.is_file() else [item for item in path.rglob("*") if item.is_file()]
    return {str(item.relative_to(path)): item.read_bytes() for item in files}


def test_a_zip_has_the_files_of_the_folder(run, tmp_path):
    export(run, "csv", tmp_path / "folder")
    first = export_forms(run, ["csv"], tmp_path / "into", as_zip=True)["csv"]
    with zipfile.ZipFile(first) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == contents(tmp_path / "folder")
    again = export_forms(run, ["csv"], tmp_path / "again", as_zip=True)["csv"]
    assert first.read_bytes() == again.read_bytes()


def test_what_is_there_is_left_alone_unless_told_to_replace_it(run, tmp_path):
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "mine.txt").write_text("precious")
    with pytest.raises(StudyError, match="is there already; --fresh"):
        repro.export(run, "csv", tmp_path / "csv")
    with pytest.raises(StudyError, match="is there already"):
        export_forms(run, ["prov", "csv"], tmp_path)
    assert (tmp_path / "csv" / "mine.txt").read_text() == "precious" and not (tmp_path / "prov.json").exists()
    assert repro.export(Run(run), "csv", tmp_path / "csv", replace=True) == tmp_path / "csv"
    assert not (tmp_path / "csv" / "mine.txt").exists() and (tmp_path / "csv" / "results.csv").exists()


def test_nothing_is_written_into_the_run(run):
    with pytest.raises(StudyError, match="is inside the run"):
        export(run, "csv", run / "csv")


def test_a_form_or_setting_that_is_not_there_is_refused(run, tmp_path):
    with pytest.raises(StudyError, match="there is no form 'latx'; did you mean 'latex'"):
        export(run, "latx", tmp_path / "x")
    with pytest.raises(StudyError, match="the form 'csv' has no setting 'baseline'; it takes none"):
        export(run, "csv", tmp_path / "x", baseline="random")
    with pytest.raises(StudyError, match="none of the forms csv has a setting 'author'"):
        export_forms(run, ["csv"], tmp_path / "x", author="me")
    assert not (tmp_path / "x").exists()


def test_one_that_fails_leaves_nothing_behind(run, tmp_path, monkeypatch):
    def breaks(folder, target):
        target.mkdir()
        (target / "half").write_text("")
        raise OSError("the disk is full")

    monkeypatch.setattr(type(plugins()), "exporters", lambda self, taken=(): {"breaks": Exporter("breaks", "", breaks)})
    with pytest.raises(OSError, match="full"):
        export(run, "breaks", tmp_path / "there")
    assert list(tmp_path.iterdir()) == []


def test_a_run_with_failed_cells_is_exported_and_says_so(data, tmp_path):
    protocol = Protocol.load("random-5fold").replace({"split.folds": 2, "missing.rank": "fail"})
    algorithms = ["reference/popularity", "reference/random", "reference/item-knn"]
    with pytest.raises(StudyError, match="1 of 6 cells failed"):  # the last one leaves an item of fold 2 unscored
        Study(data, protocol, algorithms, ["hit@5"]).run(tmp_path / "run")
    written = export_forms(tmp_path / "run", FORMS, tmp_path / "out")
    graph = json.loads((written["ro-crate"] / "ro-crate-metadata.json").read_text())["@graph"]
    (action,) = [item for item in graph if item["@type"] == "CreateAction"]
    assert action["actionStatus"] == "http://schema.org/FailedActionStatus"
    assert action["error"].startswith("reference item-knn/2: the score of user")
    methods = (written["methods"] / "methods.md").read_text()
    assert "1 of 6 fits failed: reference item-knn/2." in methods
    checklist = written["checklist"].read_text()
    assert "| Did all algorithms run on all folds? | no | reference item-knn/2 failed |" in checklist
    assert "Cells that failed: 1." in (written["latex"] / "table.tex").read_text()
    assert "repro:failed" in written["prov"].read_text()
    assert len(list((written["trec"] / "runs").iterdir())) == 5


def test_a_damaged_or_unfinished_run_is_refused(run, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    victim = next((copy / "artifacts").iterdir())
    victim.write_bytes(victim.read_bytes()[:-1] + b"x")
    with pytest.raises(JournalError, match="does not match the journal"):
        export(copy, "ro-crate", tmp_path / "crate")
    protocol = copy / "protocol.toml"
    protocol.write_text(protocol.read_text().replace('break = "item-asc"', 'break = "item-desc"'))
    with pytest.raises(JournalError, match=r"ties\.break was 'item-asc' when the run was made, and is 'item-desc' now"):
        export(copy, "csv", tmp_path / "csv")
    (copy / "results.parquet").unlink()
    with pytest.raises(StudyError, match="is not finished"):
        export(copy, "csv", tmp_path / "csv")
    with pytest.raises(StudyError, match="not a run folder"):
        export(tmp_path / "nowhere", "csv", tmp_path / "csv")
