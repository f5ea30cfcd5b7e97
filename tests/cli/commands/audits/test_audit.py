"""`repro audit`."""

import json
import sys

import pytest
from click.testing import CliRunner

from repro.audits.policies import read_policies
from repro.audits.targets import metric_in_name
from repro.cli import cli
from repro.cli.options.evaluator_options import (
    complete_cannot,
    complete_data,
    complete_evaluator,
    complete_only,
    complete_pipeline,
)
from repro.data import synthetic_interactions
from repro.errors import PluginError, ProtocolError, ReproError, StudyError
from repro.protocol import Protocol, read_protocol

ERROR = '''
def mae(scores, truth, train, k):
    """Of each user the mean absolute error, then the mean of the users; what has no prediction counts as 3."""
    both = truth.merge(scores, on=["user", "item"], how="left").fillna({"score": 3})
    return (both.score - both.rating).abs().groupby(both.user).mean().mean()
'''


def call(*arguments):
    return CliRunner().invoke(cli, ["audit", *arguments], catch_exceptions=False)


def invoke(*arguments):
    result = call(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def functions(tmp_path, monkeypatch):
    """A folder with a module of evaluation functions, which is the current one."""
    (tmp_path / "their_errors.py").write_text(ERROR)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    sys.modules.pop("their_errors", None)


@pytest.fixture
def nothing_built(tmp_path, monkeypatch):
    """No environment of a framework is built."""
    monkeypatch.setenv("REPRO_ENVIRONMENTS", str(tmp_path / "none"))


def test_evaluators_that_agree_and_those_that_do_not():
    # Both of scikit-learn's nDCGs are the same but for ties.
    arguments = ("evaluators", "--only", "sklearn", "-m", "ndcg")
    shown = invoke(*arguments)
    assert "ndcg@k: 0 of 1 pairs agree (0%)" in shown
    assert "sklearn/ndcg_score ndcg_at_k" in shown and "a: ties" in shown
    assert shown.strip().endswith("In all 0 of 2 pairs agree (0%).")
    printed = json.loads(invoke(*arguments, "--json"))
    assert (printed["share"], printed["left_out"]) == (0.0, {})
    assert [item["metric"] for item in printed["metrics"]] == ["ndcg", "ndcg@k"]
    [pair] = printed["metrics"][1]["pairs"]
    case = printed["metrics"][1]["cases"][pair["case"]]
    assert case["kind"] == "ties" and set(case["answers"]) == {pair["first"], pair["second"]}


def test_frameworks_that_are_not_installed_are_named_and_left_out(nothing_built):
    result = call("evaluators", "--only", "cornac", "-m", "rmse")
    assert result.exit_code == 0
    assert "left out: cornac is not installed; `repro plugins install cornac` builds its environment" in result.stderr
    assert result.stdout == "no metric is implemented by two evaluators\n"
    printed = json.loads(invoke("evaluators", "--only", "cornac", "--json"))
    assert printed["metrics"] == [] and list(printed["left_out"]) == ["cornac"]
    for arguments in (("infer", "cornac/rating_eval"), ("pipeline", "cornac/Experiment")):
        with pytest.raises(PluginError, match="cornac is not installed; `repro plugins install cornac`"):
            call(*arguments)


def test_a_function_is_inferred_and_its_policy_written(functions):
    shown = invoke("infer", "their_errors:mae", "--cannot", "duplicates", "--no-evidence", "--into", "found")
    first, *page = shown.splitlines()
    assert first == "their_errors:mae is mae[average=users]"
    assert "status: explained; the policy predicted 200 of 200 new answers" in "\n".join(page)
    assert page[-1] == "written  found/their_errors-mae.toml"
    assert [file.name for file in (functions / "found").iterdir()] == ["their_errors-mae.toml"]
    protocol = read_protocol(functions / "found" / "their_errors-mae.toml")
    assert (protocol["predict.average"], protocol["predict.clip"]) == ("users", "none")
    assert (protocol["predict.missing"], protocol["predict.constant"]) == ("constant", 3.0)
    assert protocol.source == "their_errors:mae"


def test_json_of_an_inference():
    printed = json.loads(invoke("infer", "sklearn/regression", "-m", "MAE", "--no-evidence", "--json"))
    [result] = printed["inferences"]
    assert result["name"] == "sklearn/regression mean_absolute_error"
    assert result["policy"]["predict.average"] == "ratings"
    assert printed["written"] == []


def test_a_report_of_evaluators(tmp_path):
    arguments = ["report", "--only", "sklearn/regression", "-m", "mse", "--no-pipelines", "--workers", "1", "--quiet"]
    arguments += ["--into", str(tmp_path / "audit")]
    shown = invoke(*arguments)
    assert shown.startswith("1 measure of 1 evaluator: ")
    assert f"report     {tmp_path}/audit/report.html" in shown
    written = read_policies(tmp_path / "audit" / "protocols.toml")["sklearn/regression mean_squared_error"]
    assert (written["predict.average"], written["predict.clip"]) == ("ratings", "none")
    with pytest.raises(StudyError, match="holds a finished audit; --resume finishes it, --fresh replaces it"):
        call(*arguments)
    table = (tmp_path / "audit" / "protocols.toml").read_bytes()
    for how in (["--resume"], ["--from-journal"]):
        (tmp_path / "audit" / "protocols.toml").unlink()
        printed = json.loads(invoke(*arguments, *how, "--json"))
        assert (printed["evaluators"], printed["measures"], printed["pairs"]) == (1, 1, 0)
        assert (printed["failures"], printed["left_out"]) == ({}, {})
        assert (tmp_path / "audit" / "protocols.toml").read_bytes() == table


def test_the_metric_that_a_function_is_metric_in_name():
    assert metric_in_name("my_package.metrics:ndcg_at_k") == "ndcg"
    assert metric_in_name("metrics:Evaluator.mean_average_precision") == "ap"
    assert metric_in_name("m:catalogue_coverage") == "catalogue-coverage"


@pytest.mark.parametrize(
    ("command_line", "message"),
    [
        (("infer", "sklearn/ndcg"), r"there is no evaluator 'sklearn/ndcg'; did you mean .*package\.module:function"),
        (("infer", "sklearn/ndcg_score", "-m", "map"), r"has no measure 'map'.* It has: ndcg_at_k \(ndcg@k\), ndcg"),
        (("infer", "no_such_module:ndcg"), "cannot import no_such_module"),
        (("infer", "math:fabs", "-m", "mae", "--cannot", "tie"), "no word 'tie'; did you mean 'ties'"),
        (("infer", "math:fabs"), "name the metric of math:fabs, such as -m ndcg"),
        (("infer", "math:fabs", "-m", "maee"), "there is no metric 'maee'; did you mean"),
        (("evaluators", "--only", "sklern"), "there is no framework or evaluator 'sklern'; did you mean 'sklearn'"),
        (("evaluators", "-m", "ndgc"), "there is no metric 'ndgc'; did you mean 'ndcg'"),
        (
            ("evaluators", "--policies", "nowhere"),
            "there is no table or folder nowhere; `repro audit report --protocols nowhere`",
        ),
        (("pipeline", "surprise/crossvalidate"), "no pipeline 'surprise/crossvalidate'; did you mean 'surprise/cross_"),
    ],
)
def test_errors_are_sentences(command_line, message):
    with pytest.raises(ReproError, match=message):
        call(*command_line)


@pytest.mark.parametrize(
    ("command_line", "message"),
    [
        (("infer", "sklearn/regression", "--k", "3"), "--k and --cannot are for functions"),
        (("infer", "math:fabs", "-m", "ndcg", "-m", "ap"), "declared as one metric"),
        (("infer", "math:fabs", "-m", "ndcg", "--k", "x"), "'x': write a whole number from 1, several with commas"),
        (("infer", "math:fabs", "-m", "mae", "--k", "5"), "mae takes no cut-off"),
        (("pipeline", "surprise/cross_validate", "--protocol", "a", "--policies", "b"), "exclude each other"),
    ],
)
def test_options_that_make_no_sense(command_line, message):
    result = call(*command_line)
    assert result.exit_code == 2 and message in result.output


@pytest.fixture
def ratings(tmp_path):
    """A small data set in a file, and the protocol of Surprise's errors in another."""
    synthetic_interactions(users=60, items=40, ratings=900).to_frame().to_csv(tmp_path / "ratings.csv", index=False)
    policy = Protocol.load("random-5fold").replace({"predict.clip": "scale", "predict.fallback": "accept"})
    (tmp_path / "surprise.toml").write_text(policy.to_toml())
    return str(tmp_path / "ratings.csv"), str(tmp_path / "surprise.toml")


def test_a_pipeline_has_the_numbers_of_the_core(ratings):
    data, protocol = ratings
    arguments = ("pipeline", "surprise/cross_validate", "--data", data, "--protocol", protocol, "-m", "rmse")
    shown = invoke(*arguments)
    assert "1 of 1 measures have the numbers" in shown
    assert shown.count("equal") == 6 and "rmse: equal on 5 folds, as rmse[average=ratings]" in shown
    printed = json.loads(invoke(*arguments, "--json"))
    assert printed["equal"] is True and len(printed["measures"][0]["folds"]) == 5


def test_a_pipeline_under_policies_that_were_written(ratings, tmp_path):
    data, protocol = ratings
    text = read_protocol(protocol).to_toml()
    (tmp_path / "known").mkdir()
    for measure in ("rmse", "mae"):
        (tmp_path / "known" / f"{measure}.toml").write_text(
            f'source = "surprise/test {measure}"\n{text[text.index("[") :]}'
        )
    shown = invoke("pipeline", "surprise/cross_validate", "--data", data, "--policies", str(tmp_path / "known"))
    assert "2 of 4 measures have the numbers" in shown
    assert "mse: no policy is known for it" in shown


def test_a_pipeline_under_what_is_inferred(ratings):
    shown = invoke("pipeline", "surprise/cross_validate", "--data", ratings[0], "-m", "mae")
    assert "mae: equal on 5 folds, as mae[average=ratings]" in shown


def test_completion():
    def offered(complete, text):
        return [item.value for item in complete(None, None, text)]

    assert offered(complete_evaluator, "sklearn/ndcg") == ["sklearn/ndcg_score", "sklearn/ndcg_score_ignore_ties"]
    assert offered(complete_only, "lenskit,skl")[0] == "lenskit,sklearn"
    assert offered(complete_pipeline, "implicit/") == ["implicit/train_test_split"]
    assert "ml-100k" in offered(complete_data, "ml-1")
    assert "ties" in offered(complete_cannot, "t")


def test_a_protocol_that_is_none_is_refused(ratings):
    with pytest.raises(ProtocolError, match="there is no protocol 'nothing'"):
        call("pipeline", "surprise/cross_validate", "--data", ratings[0], "--protocol", "nothing")
