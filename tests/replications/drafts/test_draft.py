"""Claims from printed tables, and by asking: what is written reads back."""

import json
import tomllib

import pytest
from click.testing import CliRunner

from repro.cli import cli
from repro.errors import ReproError
from repro.replications import Claim
from repro.replications.claims.unfilled import unfilled_places
from repro.replications.drafts.draft import algorithm_of
from repro.replications.drafts.layout import metric_of
from repro.replications.drafts.one_header import read_table

LATEX = r"""
\begin{table}
\caption{Results on MovieLens 100K.}
\begin{tabular}{@{}lrr@{}}  % a comment & more
\toprule
 & \multicolumn{2}{c}{\textbf{Accuracy}} \\
\cmidrule(lr){2-3}
Method & RMSE & NDCG@10 \\
\midrule
SVD~\cite{koren} & $0.934 \pm 0.002$ & \textbf{0.737} \\
Slope One & 0,946 & --- \\[2pt]
R\&D \emph{ours}$^{*}$ & \underline{0.951} & 12.5\% \\
\bottomrule
\end{tabular}
\end{table}
"""


def call(*arguments, **options):
    return CliRunner().invoke(cli, list(map(str, arguments)), **options)


def test_a_table_in_latex(tmp_path):
    (tmp_path / "table.tex").write_text(LATEX)
    table = read_table(tmp_path / "table.tex")
    assert table.columns == ("RMSE", "NDCG@10")
    assert table.rows == (
        ("SVD", ("0.934", "0.737")),
        ("Slope One", ("0.946", "-")),
        ("R&D ours", ("0.951", "12.5%")),
    )
    message = "\n".join(table.notes)
    assert "the spread in '0.934 ± 0.002' was dropped" in message
    assert "the comma in '0,946' was read as a decimal point" in message
    assert "'12.5%' is a percentage" in message and "Accuracy" in message


@pytest.mark.parametrize(
    "text",
    [
        "algorithm,RMSE,MAE\nSVD,0.934,0.737\nKNN,0.98,-\n",
        "algorithm;RMSE;MAE\nSVD;0,934;0,737\nKNN;0,98;\n",
        "algorithm\tRMSE\tMAE\nSVD\t0.934\t0.737\nKNN\t0.98\tn/a\n",
        "| algorithm | RMSE | MAE |\n| --- | ---: | ---: |\n| SVD | **0.934** | 0.737 |\n| KNN | 0.98 | - |\n",
    ],
)
def test_tables_with_marks_between_cells(tmp_path, text):
    (tmp_path / "table.csv").write_text(text)
    table = read_table(tmp_path / "table.csv")
    assert table.columns == ("RMSE", "MAE")
    assert table.rows == (("SVD", ("0.934", "0.737")), ("KNN", ("0.98", "-")))


@pytest.mark.parametrize(
    ("text", "message"),
    [("a,b\nc,d\n", "no row with a label and a number"), ("SVD,0.9\n", "no header above its numbers")],
)
def test_text_without_a_table_raises_an_error(tmp_path, text, message):
    (tmp_path / "table.csv").write_text(text)
    with pytest.raises(ReproError, match=message):
        read_table(tmp_path / "table.csv")


def test_columns_are_known_by_what_papers_call_them():
    metrics = {
        "RMSE": "rmse",
        "NDCG@10": "ndcg@10",
        "nDCG @ 5": "ndcg@5",
        "P@10": "precision@10",
        "Recall@20": "recall@20",
        "HR@10": "hit@10",
        "Recip-Rank@10": "rr@10",
        "MRR": "rr",
        "MAP@5": "ap@5",
        "AUC": "auc",
        "Train (s)": "",
        "F1@10": "f1@10",
    }
    assert {column: metric_of(column) for column in metrics} == metrics


def test_algorithms_are_known_where_one_alone_has_the_name():
    assert algorithm_of("EASE") == "reference/ease"
    assert algorithm_of("Our method") == ""


def filled(path, **values):
    """Fills in the places of a draft, as a person does: what is unknown is replaced, by the words of its hint."""
    text = path.read_text()
    for key, hint in unfilled_places(tomllib.loads(text)):
        value = next((value for word, value in values.items() if word.replace("_", " ") in f"{key} {hint}"), None)
        assert value is not None, (key, hint)
        text = text.replace(f'"? {hint}"', f'"{value}"')
    path.write_text(text)


FILLED = {"protocol": "random-5fold", "source": "T", "the_data_set": "ml-100k", "algorithm": "reference/random"}


@pytest.mark.parametrize("name", ["table.tex", "table.csv"])
def test_a_claim_from_a_table_names_what_is_unknown_and_reads_back(tmp_path, name):
    (tmp_path / "table.tex").write_text(LATEX)
    (tmp_path / "table.csv").write_text(
        "method,RMSE,Train (s)\nEASE,0.93,12\nOur best: X/1,0.95,3\nmetrics,0.9,1\nEASE,0.91,1\n"
    )
    done = call("claim", "new", tmp_path / name, "--into", tmp_path / "made", "--title", "T")
    assert done.exit_code == 0, (done.output, done.exception)
    path = tmp_path / "made" / "claim.toml"
    places = dict(unfilled_places(tomllib.loads(path.read_text())))
    assert {"source", "data.name", "protocol.base", "algorithms.use"} <= set(places)
    if name == "table.tex":
        assert "the caption names ml-100k" in places["data.name"]
    checked = call("claim", "check", path)
    assert checked.exit_code == 1
    assert all(f"{path}:" in line and "to fill in" in line for line in checked.output.splitlines() if line)
    filled(path, **FILLED, the_metric="mae")
    claim = Claim.load(path)
    if name == "table.tex":
        texts = ["0.934 ± 0.002", "0.737", "0.946", "0.951", "12.5%"]
        assert [cell.printed.text for cell in claim.cells] == texts
    else:
        assert claim.labels == ("EASE", "Our best: X-1", "metrics (2)")
        assert [cell.key.metric for cell in claim.cells][:2] == ["rmse", "mae"]
        assert "'Train (s)' is not a known metric" in path.read_text()
        assert "EASE rmse is there 2 times; the first number is taken" in done.output


def test_labels_in_two_columns_and_over_several_rows(tmp_path):
    (tmp_path / "table.tex").write_text(
        r"Data & Model & HR@10 \\ \multirow{2}{*}{ML-1M} & NeuMF & 0.703 \\ & BPR & 0.658 \\ \hline"
    )
    table = read_table(tmp_path / "table.tex")
    assert table.columns == ("HR@10",)
    assert table.rows == (("ML-1M NeuMF", ("0.703",)), ("ML-1M BPR", ("0.658",)))


def test_a_claim_by_asking_reads_back(tmp_path):
    answers = "A table\nA paper\nml-100k\nrandom-5fold\nrmse, mae\nItemMean, EASE\nreference/item-mean\n\n"
    done = call("claim", "new", "--into", tmp_path, input=answers)
    assert done.exit_code == 0, (done.output, done.exception)
    filled(tmp_path / "claim.toml", the_number="0.5")
    claim = Claim.load(tmp_path / "claim.toml")
    assert claim.labels == ("ItemMean", "EASE") and len(claim.cells) == 4
    assert [algorithm.line["use"] for algorithm in claim.algorithms] == ["reference/item-mean", "reference/ease"]
    again = call("claim", "new", "--into", tmp_path, input=answers)
    assert again.exit_code != 0 and "is there already" in str(again.exception)


def test_json_says_what_is_to_be_filled_in(tmp_path):
    (tmp_path / "table.csv").write_text("method,RMSE\nEASE,0.93\n")
    done = call("claim", "new", tmp_path / "table.csv", "--into", tmp_path / "made", "--json")
    plain = json.loads(done.output)
    assert plain["claim"].endswith("claim.toml") and plain["to_fill_in"]
