"""Printed tables in the forms of papers: what each number is, and what is not known about it."""

import io
import tarfile
import tomllib
import zipfile

import pytest
from click.testing import CliRunner

from repro.cli import cli
from repro.errors import StudyError
from repro.replications.claims.unfilled import unfilled_places
from repro.replications.drafts.draft import Draft, claim_text
from repro.replications.drafts.layout import layout_of
from repro.replications.drafts.numbers import number_of
from repro.replications.drafts.sources import printed_tables

GROUPED = r"""
\newcommand{\best}[1]{\textbf{#1}}
\newcommand{\model}{\textsc{NeuCF}}
\def\nd#1{NDCG@#1}
\begin{table*}[t]
\caption{Results on two \emph{data sets}. % a comment
}
\resizebox{\textwidth}{!}{
\begin{tabular}{@{}l|cc|cc@{}}  % & more
\toprule
\multirow{2}{*}{\textbf{Method}} & \multicolumn{2}{c|}{ML-1M} & \multicolumn{2}{c}{\rotatebox{90}{Gowalla}} \\
\cmidrule(lr){2-3}\cmidrule(lr){4-5}
 & Recall@20 & \nd{20} $\uparrow$ & Recall@20 & \nd{20}\\
\midrule
Pop~\cite{koren} & .123 & 12.3\% & $0.0416 \pm 0.0020$ & - \\
\model$^{\dagger}$ & \best{0.123$^{*}$} & \underline{0.2}† & \cellcolor{gray!20} 0.1\,23 & 1,234 \\[2pt]
\hline
R\&D (\emph{ours}) & {\color{red} 0.5} & \textcolor{blue}{0.6} & 0.7$_{\pm 0.1}$ & \begin{tabular}{c}0.8\end{tabular} \\
\bottomrule
\end{tabular}}
\end{table*}
"""


def layout(tmp_path, text, name="table.tex", number=0):
    (tmp_path / name).write_text(text, encoding="utf-8")
    table = printed_tables(tmp_path / name)[number]
    return table, layout_of(table)


def numbers(found):
    return {(entry.group, entry.algorithm, entry.metric): entry.number for entry in found.entries}


def test_column_groups_marks_and_macros(tmp_path):
    table, found = layout(tmp_path, GROUPED)
    assert table.caption == "Results on two data sets." and table.place == "table.tex:9"
    assert numbers(found) == {
        ("ML-1M", "Pop", "recall@20"): ".123",
        ("ML-1M", "Pop", "ndcg@20"): "12.3%",
        ("Gowalla", "Pop", "recall@20"): "0.0416 ± 0.0020",
        ("ML-1M", "NeuCF", "recall@20"): "0.123",
        ("ML-1M", "NeuCF", "ndcg@20"): "0.2",
        ("Gowalla", "NeuCF", "recall@20"): "0.123",
        ("Gowalla", "NeuCF", "ndcg@20"): "1,234",
        ("ML-1M", "R&D (ours)", "recall@20"): "0.5",
        ("ML-1M", "R&D (ours)", "ndcg@20"): "0.6",
        ("Gowalla", "R&D (ours)", "recall@20"): "0.7 ± 0.1",
        ("Gowalla", "R&D (ours)", "ndcg@20"): "0.8",
    }


def test_a_draft_of_several_data_sets(tmp_path):
    table, _ = layout(tmp_path, GROUPED)
    document = tomllib.loads(claim_text(Draft(table=table)))
    assert document["title"] == "Results on two data sets."
    assert document["datasets"]["ml-1m"] == {"name": "ml-1m"}
    assert document["datasets"]["gowalla"]["name"].startswith("? Gowalla: the data set")
    assert "data" not in document
    assert [part["data"] for part in document["table"]] == ["ml-1m", "gowalla"]
    assert document["table"][0]["NeuCF"] == ["0.123", "0.2"]
    assert document["table"][1]["Pop"] == ["0.0416 ± 0.0020", "-"]
    uses = {entry["label"]: entry["use"] for entry in document["algorithms"]}
    assert uses["NeuCF"] == "? NeuCF: the algorithm (repro algorithms list)"
    assert "reference/random" not in uses.values()


METRICS_IN_ROWS = r"""
\begin{tabular}{llccc}
Dataset & Metric & BPR & NGCF & LightGCN\\ \hline
\multirow{2}{*}{Gowalla} & recall & 0.1 & 0.15 & 0.18\\
 & ndcg & 0.11 & 0.13 & 0.16\\ \hline
\multirow{2}*{Yelp} & recall & 0.04 & 0.05 & 0.06\\
 & ndcg & 0.03 & 0.045 & 0.055\\
\end{tabular}
"""


def test_metrics_in_rows(tmp_path):
    _, found = layout(tmp_path, METRICS_IN_ROWS)
    table = numbers(found)
    assert len(table) == 12
    assert table["Gowalla", "NGCF", "ndcg"] == "0.13" and table["Yelp", "LightGCN", "recall"] == "0.06"
    _, found = layout(tmp_path, "metric,SVD,KNN\nRMSE,0.93,0.95\nMAE,0.73,0.75\n", "table.csv")
    assert numbers(found) == {
        ("", "SVD", "rmse"): "0.93",
        ("", "KNN", "rmse"): "0.95",
        ("", "SVD", "mae"): "0.73",
        ("", "KNN", "mae"): "0.75",
    }


def test_cut_offs_apart_from_metrics_and_sections_of_data(tmp_path):
    text = r"""
    \begin{tabular}{lcccc}
    & \multicolumn{2}{c}{Recall} & \multicolumn{2}{c}{NDCG} \\
    Model & @5 & @10 & @5 & @10 \\ \hline
    \multicolumn{5}{c}{\textit{MovieLens 1M}} \\ \hline
    SASRec & 0.1 & 0.2 & 0.3 & 0.4 \\
    \multicolumn{5}{c}{\textit{Beauty}} \\
    SASRec & 0.5 & 0.6 & 0.7 & 0.8 \\
    \end{tabular}"""
    _, found = layout(tmp_path, text)
    assert numbers(found) == {
        (data, "SASRec", metric): value
        for data, values in (("MovieLens 1M", "0.1 0.2 0.3 0.4"), ("Beauty", "0.5 0.6 0.7 0.8"))
        for metric, value in zip(("recall@5", "recall@10", "ndcg@5", "ndcg@10"), values.split(), strict=True)
    }


KINDS = r"""
\begin{tabular}{lccccc}
\multicolumn{2}{c}{\multirow{2}{*}{}} & \multicolumn{2}{c}{Alpha$^*$} & \multicolumn{2}{c}{Beta}\\
\multicolumn{2}{c}{} & \multicolumn{1}{c}{Valid} & HitRatio@1 & \multicolumn{1}{c}{Valid} & HitRatio@1\\
\midrule
\multicolumn{1}{l}{\multirow{2}{*}{Old}} & GRU4Rec & \multicolumn{1}{c}{1.0000} & 0.3750 & 1.0 & 0.4168 \\
\multicolumn{1}{l}{} & Caser & 0.98 & 0.3861 & \multicolumn{1}{c}{0.97} & 0.4368 \\ \hhline{|=|=|=|=|=|=|}
\multicolumn{1}{l}{\multirow{2}{*}{\rotatebox{90}{New}}} & A & 0.5 & 0.1 & 0.6 & 0.2 \\
\multicolumn{1}{l}{} & B (A) & 0.7 & \underline{0.3} & 0.8 & 0.4 \\
\end{tabular}
"""


def test_spans_within_spans_and_kinds_of_algorithms(tmp_path):
    """Old and new are kinds of algorithms, and no data sets: each algorithm has one of them."""
    _, found = layout(tmp_path, KINDS)
    table = numbers(found)
    assert len(table) == 16 and {group for group, _, _ in table} == {"Alpha", "Beta"}
    assert table["Alpha", "Caser", "hit@1"] == "0.3861" and table["Beta", "Caser", "Valid"] == "0.97"
    assert table["Beta", "B (A)", "hit@1"] == "0.4"


def test_an_array_in_mathematics(tmp_path):
    text = r"""Text $$\begin{array}{lcc} \text{Model} & \textbf{P@5} & \textbf{R@5} \\ \hline
    \text{Base (V1)} & 0.125 & 0.1881 \\ \end{array}$$"""
    _, found = layout(tmp_path, text, "README.md")
    assert numbers(found) == {("", "Base (V1)", "precision@5"): "0.125", ("", "Base (V1)", "recall@5"): "0.1881"}


def test_per_cent_in_a_heading_and_unknown_headings(tmp_path):
    _, found = layout(tmp_path, "Method,HR@10 (%),Zest\nA,12.3,0.5\nB,45.6 ± 0.7,0.6\n", "table.csv")
    assert numbers(found)["", "A", "hit@10"] == "12.3%" and numbers(found)["", "B", "hit@10"] == "45.6% ± 0.7%"
    assert [entry.metric for entry in found.entries if not entry.known] == ["Zest", "Zest"]
    (tmp_path / "plain.csv").write_text("Method,HR@10,Zest\nA,12.3,0.5\n")
    text = claim_text(Draft(table=printed_tables(tmp_path / "plain.csv")[0]))
    assert dict(unfilled_places(tomllib.loads(text)))["table.metrics"] == "Zest: the metric, or remove the column"


def test_markdown_with_a_heading_above(tmp_path):
    text = (
        "# Benchmark\n\n## MovieLens 100K\n\n| Algo | RMSE | MAE |\n|:--|--:|--:|\n| **SVD** | 0.934 | 0.737 |\n\n"
        "Text\n\n### Other\n\nA | RMSE\n--|--\nX | `1.0`\n"
    )
    (tmp_path / "README.md").write_text(text)
    first, second = printed_tables(tmp_path / "README.md")
    assert (first.caption, first.place) == ("MovieLens 100K", "README.md:5")
    assert numbers(layout_of(first)) == {("", "SVD", "rmse"): "0.934", ("", "SVD", "mae"): "0.737"}
    assert numbers(layout_of(second)) == {("", "X", "rmse"): "1.0"}


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("0.123", "0.123"),
        ("0.123^*", "0.123"),
        ("0.123^{**}", "0.123"),
        ("0.123†‡", "0.123"),
        ("0,123%", "0.123%"),
        ("1,234", "1,234"),
        ("0,946", "0.946"),
        ("−0.5", "-0.5"),
        ("12.3 %", "12.3%"),
        ("0.40 ± 0.02", "0.40 ± 0.02"),
        ("0.40 (0.02)", "0.40 ± 0.02"),
        ("0.40 (2)", "0.40"),
        ("0.40 (+3.1%)", "0.40"),
        ("1.2e-3", "1.2e-3"),
        ("0.52 b", "0.52"),
        (".75", ".75"),
    ],
)
def test_cells_with_a_number(cell, number):
    assert number_of(cell).text == number


@pytest.mark.parametrize("cell", ["-", "", "n/a", "SVD", "ML-1M", "OOM", "> 24h", "k=5", "0.1/0.2", "2nd"])
def test_cells_without_one(cell):
    assert number_of(cell) is None


def archive(folder, kind):
    files = {
        "main.tex": r"\input{macros}" + METRICS_IN_ROWS,
        "sub/more.tex": GROUPED.replace(r"\def\nd#1{NDCG@#1}", ""),
    }
    files["macros.tex"] = r"\newcommand\nd[1]{NDCG@#1}"
    path = folder / f"paper.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as made:
            for name, text in files.items():
                made.writestr(name, text)
        return path
    with tarfile.open(path, "w:gz") as made:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            made.addfile(info, io.BytesIO(text.encode()))
    return path


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_the_tables_of_an_archive_are_listed_and_one_is_chosen(tmp_path, kind):
    path = archive(tmp_path, kind)
    assert [table.place for table in printed_tables(path)] == ["main.tex:2", "sub/more.tex:9"]
    listed = CliRunner().invoke(cli, ["claim", "new", str(path), "--into", str(tmp_path / "made")])
    assert listed.exit_code == 0 and "2 tables; choose one with --table" in listed.output
    assert "Results on two data sets." in listed.output and not (tmp_path / "made").exists()
    done = CliRunner().invoke(cli, ["claim", "new", str(path), "--table", "2", "--into", str(tmp_path / "made")])
    assert done.exit_code == 0, done.exception
    document = tomllib.loads((tmp_path / "made" / "claim.toml").read_text())
    assert document["table"][0]["metrics"] == ["recall@20", "ndcg@20"]  # by a macro of another file
    again = CliRunner().invoke(cli, ["claim", "new", str(path), "--table", "7", "--into", str(tmp_path / "other")])
    assert "there is no table 7; there are:" in str(again.exception)


def test_text_without_numbers_is_refused(tmp_path):
    with pytest.raises(StudyError, match="no row with a label and a number"):
        layout(tmp_path, r"\begin{tabular}{ll} a & b \\ c & d \end{tabular}")
