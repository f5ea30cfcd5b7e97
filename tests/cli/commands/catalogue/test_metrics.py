"""`repro metrics`."""

import json

import pytest
from click.testing import CliRunner

from repro.cli import cli
from repro.cli.options.protocol_options import complete_change, complete_metric, complete_protocol
from repro.errors import ProtocolError
from repro.evaluation.metrics import metrics


def invoke(*arguments):
    result = CliRunner().invoke(cli, ["metrics", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_list_has_every_metric_with_its_variants():
    printed = {entry["name"]: entry for entry in json.loads(invoke("list", "--json"))}
    assert set(printed) == set(metrics())
    assert printed["ndcg"]["variants"]["gain"]["default"] == "binary"
    assert (printed["mae"]["kind"], printed["mae"]["better"]) == ("prediction", "lower")
    table = invoke("list")
    assert all(f"\n{name}" in table for name in metrics())
    assert "hit@k" in table and "ndcg[@k]" in table
    assert table.index("Of each list") < table.index("Of all lists together") < table.index("Of predicted ratings")


def test_show_says_what_a_metric_means():
    shown = invoke("show", "ndcg")
    assert "nDCG@k = DCG@k / DCG@k of the ideal list" in shown
    assert "An empty list counts 0" in shown
    assert "gain=binary (default): 1 where it is relevant [used by lenskit" in shown
    assert 'applies when metric.ndcg.discount is "log-base"' in shown
    assert "ndcg[discount=log2,gain=binary,ideal=min]@10" in shown
    assert "repro evaluate --run run.tsv --truth test.tsv -m ndcg@10" in shown
    printed = json.loads(invoke("show", "ndcg@5", "--json"))
    assert printed["full_name"] == "ndcg[discount=log2,gain=binary,ideal=min]@10"
    assert printed["variants"]["gain"]["options"][2]["used_by"] == ["rival"]


@pytest.mark.parametrize("name", metrics())
def test_every_metric_can_be_shown(name):
    printed = json.loads(invoke("show", name, "--json"))
    assert printed["explanation"] and printed["example"].split()[-1].startswith(name)
    assert metrics()[name].title in invoke("show", name)


def test_show_says_range_and_direction():
    shown = invoke("show", "rbp")  # 1 - 0.5^10 = 0.999023, of grades there is no bound
    assert "with p=0.5, 0 to 0.999023" in shown and "with gain=linear, 0 and above" in shown
    assert "higher is better" in shown
    shown = invoke("show", "spearman")
    assert "Range     -1 to 1\n" in shown
    assert "lower is better" in invoke("show", "mpr") and "Range     0 to 100\n" in invoke("show", "mpr")
    assert json.loads(invoke("show", "rmse", "--json"))["range"] == [0.0, None]
    assert json.loads(invoke("show", "ndpm", "--json"))["range"] == [0.0, 1.0]


def test_show_says_whether_ties_have_a_best_order():
    assert 'Ties      exact under ties.break = "best" and "worst"' in invoke("show", "ndcg")
    assert 'Ties      gini@10 has no ties.break = "best" or "worst": the value depends on' in invoke("show", "gini")
    assert "Ties      the order of tied items has no effect" in invoke("show", "kendall")
    assert "Ties" not in invoke("show", "rmse")


def test_other_names_and_needs():
    assert invoke("show", "map").startswith("ap: ")
    assert "umae (average=users)" in invoke("show", "mae")
    shown = invoke("show", "time-novelty")
    assert "Needs     the training rows" in shown and "--train train.tsv -m time-novelty@10" in shown


def test_an_unknown_metric_gets_the_nearest():
    with pytest.raises(ProtocolError, match="there is no metric 'ndgc'; did you mean 'ndcg'"):
        CliRunner().invoke(cli, ["metrics", "show", "ndgc"], catch_exceptions=False)


def test_completion():
    def offered(complete, text):
        return [item.value for item in complete(None, None, text)]

    assert offered(complete_metric, "ndc") == ["ndcg"]
    assert offered(complete_metric, "ndcg@1") == ["ndcg@1", "ndcg@10", "ndcg@100"]
    assert "map" in offered(complete_metric, "ma")
    assert offered(complete_protocol, "valcarce") == ["valcarce-2018-allitems"]
    assert offered(complete_change, "ties.b") == ["ties.break="]
    assert offered(complete_change, "ties.break=item-") == ["ties.break=item-asc", "ties.break=item-desc"]
