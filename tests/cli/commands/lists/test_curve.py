"""`repro curve`."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

from repro.cli import cli
from repro.errors import ReproError

RUN = "user\titem\tscore\nann\tw\t9\nann\tx\t7\nann\ty\t5\nann\tz\t3\nbob\tw\t8\nbob\tx\t6\nbob\ty\t4\n"
TRUTH = "user\titem\nann\tx\nbob\tw\nbob\ty\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "run.tsv").write_text(RUN)
    (tmp_path / "test.tsv").write_text(TRUTH)
    return tmp_path


def invoke(files, *arguments, code=0):
    stated = ["curve", "--run", str(files / "run.tsv"), "--truth", str(files / "test.tsv"), *map(str, arguments)]
    result = CliRunner().invoke(cli, stated, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


def test_a_table_and_the_area(files):
    output = invoke(files, "--kind", "roc", "--join", "lengths", "--rates", "totals")
    assert output.splitlines()[1].split() == ["n", "fpr", "tpr", "users"]
    assert output.splitlines()[3].split() == ["1", "0.2500", "0.3333", "2"]
    assert "croc[rates=totals] = 0.625000" in output


def test_json_for_scripts(files):
    result = json.loads(invoke(files, "--json"))
    assert (result["kind"], result["join"]) == ("precision-recall", "pooled")
    (curve,) = result["curves"]
    assert curve["areas"] == {"pr-auc[join=pooled]": pytest.approx((1 / 2 + 2 / 3 + 3 / 6) / 3)}
    assert curve["points"][1] == {"threshold": 8.0, "recall": 1 / 3, "precision": 0.5, "users": 2}
    points = json.loads(invoke(files, "--kind", "roc", "--json"))["curves"][0]["points"]
    assert points[0] == {"threshold": None, "fpr": 0.0, "tpr": 0.0, "users": 2}


def test_files_of_points_and_plots(files):
    output = invoke(
        files, "--kind", "roc", "--join", "lengths", "--perfect", "--into", files / "a.csv", "--plot", files / "a.svg"
    )
    assert "croc[normalised=perfect,rates=means] = " in output
    assert str(files / "a.csv") in output and str(files / "a.svg") in output
    table = pd.read_csv(files / "a.csv")
    assert table["tpr"].tolist() == [0, 0.25, 0.75, 1, 1]
    assert table["curve"].unique().tolist() == ["run"]
    drawn = (files / "a.svg").read_text()
    assert "perfect" in drawn and "true positive rate" in drawn
    invoke(files, "--into", files / "a.parquet")
    assert pd.read_parquet(files / "a.parquet")["precision"].iloc[1] == 0.5


def test_several_runs_are_compared(files):
    (files / "other.tsv").write_text(RUN.replace("9", "1"))
    output = invoke(files, "--run", files / "other.tsv", "--join", "users", "--plot", files / "two.html")
    assert "run" in output and "other" in output and output.count("ap = ") == 2
    assert "other" in (files / "two.html").read_text()


def test_other_names_of_columns(files):
    (files / "run.tsv").write_text(RUN.replace("score", "how good"))
    assert "pr-auc" in invoke(files, "--columns", "score=how good")
    assert "write it like user=userId" in invoke(files, "--columns", "score", code=2)


def test_labels_decisions_and_formats(files):
    (files / "b.txt").write_text("ann Q0 x 1 1 t\nann Q0 w 2 1 t\nbob Q0 w 1 1 t\n")
    arguments = ["--run", f"trec={files / 'b.txt'}", "--format", "run=text", "--join", "users", "--json"]
    with pytest.raises(ReproError, match="column"):
        invoke(files, *arguments)
    arguments.remove("--format"), arguments.remove("run=text")
    for order, first in (("trec", 1.0), ("item-asc", 0.5)):  # trec_eval: of w and x with one score, x is first
        trec = json.loads(invoke(files, *arguments, "--set", f"ties.break={order}"))["curves"][1]
        assert (trec["run"], trec["file"]) == ("trec", str(files / "b.txt"))
        of_bob = 1 / 2  # one of two found, at rank 1
        assert trec["areas"] == {"ap": pytest.approx((first + of_bob) / 2)}


def test_rates_are_those_of_list_lengths(files):
    assert "with --join lengths, not users" in invoke(files, "--join", "users", "--rates", "totals", code=2)


def test_endings_are_checked_before_anything_is_read(files):
    (files / "run.tsv").unlink()
    assert "must end in .parquet, .csv, .tsv" in invoke(files, "--into", "a.xls", code=2)
    with pytest.raises(ReproError, match=r"ends in '\.pdf'"):
        invoke(files, "--plot", "a.pdf")


def test_help_has_an_example(files):
    assert "repro curve --run run.tsv --truth test.tsv" in " ".join(invoke(files, "--help").split())
