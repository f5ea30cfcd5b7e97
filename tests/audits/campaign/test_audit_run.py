"""An audit of several evaluators: complete, the same however it came about, and not ended by one that crashes."""

import csv
import gzip
import shutil
import sys
from pathlib import Path

import pytest

from repro.audits.campaign.audit_results import AuditResults
from repro.audits.campaign.audit_run import AuditOptions, run_audit, tables_from_journal
from repro.audits.campaign.tasks import DIED, AuditPipeline, InferMeasure, attempt
from repro.audits.policies import read_policies, recorded_protocol
from repro.current import reset
from repro.errors import PluginError, StudyError
from repro.plugin import plugins
from repro.reports.audit import write_audit_report
from repro.runs.journal import read_journal
from repro.verification import seal, verify

FINE = ("tiny/plain", "tiny/clipped")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory, install_plugin):
    """The tiny plug-in, installed for this process and those that it starts, and alone; a data set for its pipeline."""
    site = tmp_path_factory.mktemp("site")
    install_plugin(site, "tiny", Path(__file__).with_name("tiny_plugin.py").read_text(encoding="utf-8"))
    (site / "ratings.csv").write_text("user,item,rating\n1,1,5\n1,2,3\n2,1,4\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        patch.setenv("REPRO_PLUGINS", "tiny")
        reset()
        yield site
    sys.modules.pop("plugin_tiny", None)
    reset()


def survey(site, folder, names=FINE, **options):
    known = plugins().evaluators()
    pipelines = plugins().pipelines().values()
    results = run_audit(
        [known[name] for name in names],
        folder / "report",
        folder / "protocols.toml",
        AuditOptions(pipelines=pipelines, data=str(site / "ratings.csv"), **options),
    )
    write_audit_report(results)
    return results


def files(folder):
    """All files but the journal, which has times in it."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("journal.jsonl", ".lock")
    }


@pytest.fixture(scope="module")
def undisturbed(tiny, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    survey(tiny, folder)
    return folder


def test_everything_is_in_the_folder_and_in_the_journal(undisturbed):
    names = ["tiny-clipped-mae", "tiny-plain-mae", "tiny-plain-mse"]
    assert list(files(undisturbed)) == [
        "protocols.toml",
        *(f"report/pages/{name}.txt" for name in names),
        "report/policies.csv",
        "report/report.html",
    ]
    journal = read_journal(undisturbed / "report" / "journal.jsonl")
    assert [line.event.event for line in journal.lines] == [
        "audit.started",
        *3 * ["measure.inferred"],
        "metric.compared",
        "pipeline.audited",
        "results.written",
        "audit.finished",
        "report.written",
    ]
    results = AuditResults.read(undisturbed / "report")
    assert {name: event.status for name, event in results.inferred.items()} == {
        "tiny/plain mae": "explained",
        "tiny/plain mse": "explained",
        "tiny/clipped mae": "explained",
    }
    page = (undisturbed / "report" / "pages" / "tiny-plain-mae.txt").read_text()
    assert page.startswith("tiny/plain mae is mae[average=ratings]\nstatus: explained; the policy predicted 200 of 200")


def test_protocols_read_back_from_the_table_and_from_the_journal(undisturbed):
    policies = read_policies(undisturbed / "protocols.toml")
    for name, event in AuditResults.read(undisturbed / "report").inferred.items():
        earlier = event.model_copy(update={"decisions": None})  # audits did not record all decisions
        for protocol in (policies[name], recorded_protocol(event), recorded_protocol(earlier)):
            assert (protocol.hash, protocol.source) == (event.protocol_hash, name)
            assert protocol["predict.clip"] == ("scale" if "clipped" in name else "none")
            assert protocol.open == policies[name].open
        for recorded in (event, earlier):
            assert recorded_protocol(recorded.model_copy(update={"protocol_hash": "0" * 64})) is None


def test_tables_and_report_are_made_again_from_the_journal_alone(undisturbed, tmp_path):
    """Also from a compressed one, as people keep it; no evaluator is installed here."""
    folder = shutil.copytree(undisturbed / "report", tmp_path / "report")
    before = files(folder)
    (folder / "report.html").unlink()
    (folder / "journal.jsonl.gz").write_bytes(gzip.compress((folder / "journal.jsonl").read_bytes()))
    (folder / "journal.jsonl").unlink()
    assert seal(folder).removed == ["report.html"]
    (folder / "policies.csv").unlink()
    results, lacking = tables_from_journal(folder, tmp_path / "protocols.toml")
    write_audit_report(results)
    assert not lacking and files(folder) == before
    assert (tmp_path / "protocols.toml").read_bytes() == (undisturbed / "protocols.toml").read_bytes()
    assert verify(folder).holds


def test_who_agrees_and_the_whole_evaluation(undisturbed):
    results = AuditResults.read(undisturbed / "report")
    [mae] = results.compared  # mse is measured by one of them only
    assert (mae.metric, mae.agreeing, mae.compared, mae.names) == ("mae", 0, 1, ["tiny/plain mae", "tiny/clipped mae"])
    [choice] = mae.pairs[0].choices
    assert (choice.decision, choice.first, choice.second) == ("predict.clip", "none", "scale")
    [pipeline] = results.pipelines
    numbers = {measure.measure: (measure.folds[0].reported, measure.folds[0].measured) for measure in pipeline.measures}
    assert numbers == {"mae": (2.0, 2.0), "mse": (4.0, 4.0)}  # 5 is held out, and 3 predicted


def test_the_table_of_policies(undisturbed):
    with (undisturbed / "report" / "policies.csv").open() as file:
        rows = list(csv.DictReader(file))
    summaries = [
        (row["evaluator"], row["measure"], row["metric"], row["confirmed"], row["predict.clip"]) for row in rows
    ]
    assert summaries == [
        ("tiny/plain", "mae", "mae", "200", "none"),
        ("tiny/plain", "mse", "mse", "200", "none"),
        ("tiny/clipped", "mae", "mae", "200", "scale"),
    ]


def test_an_audit_that_was_cut_off_goes_on_to_the_same_files_with_any_number_of_processes(tiny, undisturbed, tmp_path):
    shutil.copytree(undisturbed, tmp_path, dirs_exist_ok=True)
    report = tmp_path / "report"
    lines = (report / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (report / "journal.jsonl").write_bytes(b"".join(lines[:3]) + lines[3][:50])  # two measures and part of a third
    second = read_journal(undisturbed / "report" / "journal.jsonl").lines[2].event
    (report / second.page).write_text("not what was written")
    survey(tiny, tmp_path, resume=True, workers=2)
    assert files(tmp_path) == files(undisturbed)
    journal = read_journal(report / "journal.jsonl")
    [resumed] = journal.events("audit.resumed")
    assert resumed.torn_bytes_dropped == 50 and len(resumed.measures_kept) == 1
    assert len(journal.events("measure.inferred")) == 4


def test_comparisons_that_are_done_are_kept_too(tiny, undisturbed, tmp_path):
    shutil.copytree(undisturbed, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "report" / "journal.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:5]))  # up to the metric that is compared
    survey(tiny, tmp_path, resume=True)
    assert files(tmp_path) == files(undisturbed)
    assert [line.event.event for line in read_journal(path).lines[4:]] == [
        "metric.compared",
        "audit.resumed",
        "pipeline.audited",
        "results.written",
        "audit.finished",
        "report.written",
    ]


def test_of_comparisons_those_are_kept_that_a_measure_is_not_in_which_is_asked_again(tiny, undisturbed, tmp_path):
    shutil.copytree(undisturbed, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "report" / "journal.jsonl"
    before = len(read_journal(path).lines)
    (tmp_path / "report" / "pages" / "tiny-plain-mse.txt").unlink()  # the metric that is compared is another one
    survey(tiny, tmp_path, resume=True)
    assert files(tmp_path) == files(undisturbed)
    assert [line.event.event for line in read_journal(path).lines[before:]] == [
        "audit.resumed",
        "measure.inferred",
        "pipeline.audited",
        "results.written",
        "audit.finished",
    ]


def test_a_flipped_bit_in_any_file_of_an_audit_is_found(undisturbed):
    folder = undisturbed / "report"
    assert verify(folder).holds
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size):
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 4]))
        assert not verify(folder).holds, path
        path.write_bytes(whole)
    page = folder / "pages" / "tiny-plain-mae.txt"
    whole = page.read_bytes()
    page.unlink()
    assert [failure.artefact for failure in verify(folder).failures] == ["pages/tiny-plain-mae.txt"]
    page.write_bytes(whole)


def test_a_table_of_protocols_in_the_folder_of_the_audit_is_verified(undisturbed, tmp_path):
    folder = shutil.copytree(undisturbed / "report", tmp_path / "audit")
    tables_from_journal(folder, folder / "protocols.toml")
    assert verify(folder).holds
    table = folder / "protocols.toml"
    assert table.read_bytes() == (undisturbed / "protocols.toml").read_bytes()
    table.write_bytes(table.read_bytes() + b"\n")
    assert [failure.artefact for failure in verify(folder).failures] == ["protocols.toml"]


def test_what_is_finished_is_not_done_again(tiny, undisturbed, tmp_path):
    shutil.copytree(undisturbed, tmp_path, dirs_exist_ok=True)
    before = (tmp_path / "report" / "journal.jsonl").read_bytes()
    survey(tiny, tmp_path, resume=True)
    assert (tmp_path / "report" / "journal.jsonl").read_bytes() == before


def test_a_process_that_dies_is_told_and_ends_nothing_else(tiny, tmp_path):
    results = survey(tiny, tmp_path, ("tiny/dying", "tiny/plain"), workers=2, metrics=["mae"])
    assert results.failed == {"tiny/dying mae": DIED}
    assert list(results.inferred) == ["tiny/plain mae"]
    journal = read_journal(tmp_path / "report" / "journal.jsonl")
    assert journal.events("audit.finished")[0].failed == 1
    assert "tiny/dying,mae,mae,failed" in (tmp_path / "report" / "policies.csv").read_text()
    assert DIED in (tmp_path / "report" / "report.html").read_text()


def test_whatever_a_task_raises_is_told(tiny):
    done = attempt(InferMeasure("tiny/plain rmse", 0))
    assert done.value is None
    assert done.error.startswith("PluginError: tiny/plain has no measure 'rmse'")
    assert attempt(AuditPipeline("tiny/middle", "nowhere.csv", (), 0, {})).error.startswith("DataError: ")


def test_nothing_is_replaced_unasked(tiny, undisturbed, tmp_path):
    shutil.copytree(undisturbed, tmp_path, dirs_exist_ok=True)
    with pytest.raises(StudyError, match="holds a finished audit; --resume finishes it, --fresh replaces it"):
        survey(tiny, tmp_path)
    with pytest.raises(StudyError, match="holds another audit \\(different seed"):
        survey(tiny, tmp_path, resume=True, seed=1)
    with pytest.raises(StudyError, match="holds another audit \\(different evaluators"):
        survey(tiny, tmp_path, FINE[:1], resume=True)
    assert files(tmp_path) == files(undisturbed)


def test_a_fresh_audit_leaves_nothing_of_the_old_one_but_what_people_wrote(tiny, undisturbed, tmp_path):
    shutil.copytree(undisturbed, tmp_path, dirs_exist_ok=True)
    (tmp_path / "report" / "README.md").write_text("What came out")
    survey(tiny, tmp_path, FINE[:1], metrics=["mse"], fresh=True)
    assert list(files(tmp_path)) == [
        "protocols.toml",
        "report/README.md",
        "report/pages/tiny-plain-mse.txt",
        "report/policies.csv",
        "report/report.html",
    ]
    # A measure is asked the same questions, whoever else is audited.
    page = "report/pages/tiny-plain-mse.txt"
    assert (tmp_path / page).read_bytes() == (undisturbed / page).read_bytes()


def test_a_metric_that_nobody_measures(tiny, tmp_path):
    with pytest.raises(PluginError, match="no evaluator measures ndcg; nothing to audit"):
        survey(tiny, tmp_path, metrics=["ndcg"])
