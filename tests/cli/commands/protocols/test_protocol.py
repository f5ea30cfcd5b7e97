"""`repro protocol`."""

import json
from dataclasses import replace

import jsonschema
import pytest
from click.testing import CliRunner

from repro import Study
from repro.cli.commands.protocols.protocol import protocol
from repro.errors import ProtocolError
from repro.protocol import protocol_names, read_protocol, reader, table_text


def invoke(*arguments):
    result = CliRunner().invoke(protocol, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_list_names_every_protocol_of_the_literature():
    names = {name for name in protocol_names() if "/" not in name}
    assert {entry["name"] for entry in json.loads(invoke("list", "--json"))} == names
    shown = invoke("list")
    assert "random-5fold" in names and all(name in shown for name in names)


@pytest.fixture
def with_inferred(tmp_path, monkeypatch):
    """The suite has two protocols: one of the literature, and one in a table."""
    of_literature = read_protocol("random-5fold")
    inferred = replace(of_literature, source="a/b ndcg")
    (tmp_path / "tables").mkdir()
    (tmp_path / "random-5fold.toml").write_text(of_literature.to_toml())
    table = table_text({"a-b-ndcg@k": inferred}, "random-5fold", "What {source} computes")
    (tmp_path / "tables" / "inferred.toml").write_text(table)
    monkeypatch.setattr(reader, "protocol_folder", lambda: tmp_path)


def test_protocols_in_a_table_are_a_group_of_their_own(with_inferred):
    assert reader.protocol_names() == ["random-5fold", "inferred/a-b-ndcg@k"]
    shown = invoke("list")
    assert "random-5fold" in shown and "a-b-ndcg" not in shown
    assert "inferred/...: 1 more (`repro protocol list inferred`)" in shown
    shown = invoke("list", "inferred")
    assert "random-5fold" not in shown
    assert "inferred/a-b-ndcg@k" in shown and "What a/b ndcg computes" in shown
    assert [item["name"] for item in json.loads(invoke("list", "inferred", "--json"))] == ["inferred/a-b-ndcg@k"]
    with pytest.raises(ProtocolError, match="no group of protocols 'infered'; did you mean 'inferred'"):
        invoke("list", "infered")


def test_a_study_takes_a_protocol_of_a_group_by_its_name(with_inferred, tmp_path):
    study = tmp_path / "study.toml"
    base = (
        'metrics = ["ndcg@5"]\n[data]\nname = "synthetic"\n[[algorithms]]\nuse = "reference/popularity"\n[protocol]\n'
    )
    study.write_text(base + 'base = "inferred/a-b-ndcg@k"\nsplit.folds = 3\n')
    protocol = Study.load(study).protocol
    assert (protocol.name, protocol["split.folds"]) == ("inferred/a-b-ndcg@k, changed", 3)
    assert invoke("show", "inferred/a-b-ndcg@k").startswith("inferred/a-b-ndcg@k: What a/b ndcg computes")
    study.write_text(base + 'base = "inferred/a-c-ndcg@k"\n')
    with pytest.raises(ProtocolError, match="no protocol 'inferred/a-c-ndcg@k'; did you mean 'inferred/a-b-ndcg@k'"):
        Study.load(study)


def test_show_states_every_decision_with_its_origin():
    shown = json.loads(invoke("show", "cremonesi-2010-1r", "--json"))
    assert shown["decisions"]["candidates.sample_size"] == 1000
    assert shown["origins"]["ties.break"] == "default"
    assert "Cremonesi" in shown["source"]
    assert "our choice: the source leaves it open" in invoke("show", "cremonesi-2010-1r")


def test_validate(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('[split]\nstrategy = "kfold"\n[relevance]\nrule = "any"\n[candidates]\nbase = "all-items"\n')
    assert "is valid: 3 decisions stated" in invoke("validate", str(file))
    file.write_text('[split]\nstrategy = "kfild"\n')
    result = CliRunner().invoke(protocol, ["validate", str(file), "--json"])
    assert result.exit_code == 1
    assert any("did you mean 'kfold'" in problem for problem in json.loads(result.output)["problems"])


def test_diff_shows_what_differs_and_nothing_else():
    differing = json.loads(invoke("diff", "bellogin-ti-an", "bellogin-ai-an", "--json"))
    assert differing == {"candidates.base": {"first": "test-items", "second": "all-items"}}
    assert "mean the same" in invoke("diff", "bellogin-ti-an", "bellogin-ti-an")


def test_explain_a_decision_a_family_and_all():
    assert "McSherry & Najork" in invoke("explain", "ties.break")
    assert {d["id"] for d in json.loads(invoke("explain", "ties", "--json"))} == {
        "ties.break",
        "ties.file_relevant",
        "ties.id_order",
        "ties.precision",
        "ties.decimals",
    }
    assert "metric.ndcg.gain" in invoke("explain")


def test_schema_is_a_json_schema():
    jsonschema.Draft202012Validator.check_schema(json.loads(invoke("schema")))
