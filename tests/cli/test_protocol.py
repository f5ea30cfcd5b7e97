"""`repro protocol`."""

import json

import jsonschema
from click.testing import CliRunner

from repro.cli.protocol import protocol
from repro.protocol import protocol_names


def invoke(*arguments):
    result = CliRunner().invoke(protocol, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_list_names_every_protocol():
    assert {entry["name"] for entry in json.loads(invoke("list", "--json"))} == set(protocol_names())
    assert all(name in invoke("list") for name in protocol_names())


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
        "ties.id_order",
        "ties.precision",
        "ties.decimals",
    }
    assert "metric.ndcg.gain" in invoke("explain")


def test_schema_is_a_json_schema():
    jsonschema.Draft202012Validator.check_schema(json.loads(invoke("schema")))
