"""The LaTeX table: TeX sets it, and its bold numbers and marks are those that other libraries find."""

import re
import shutil
import subprocess

import pytest
from scipy import stats

from repro.errors import StudyError
from repro.exports import export
from repro.exports.latex_text import latex_text
from repro.runs.run import Run

ENGINES = [engine for engine in ("pdflatex", "lualatex") if shutil.which(engine)]
DOCUMENT = r"""\documentclass{article}
%s
\begin{document}
%s
\end{document}
"""


def compiled(folder, body, packages=r"\usepackage{booktabs,graphicx}", engine=None):
    """The text of the PDF's log; a TeX that finds fault with anything stops."""
    (folder / "paper.tex").write_text(DOCUMENT % (packages, body), encoding="utf-8")
    command = [engine or ENGINES[0], "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-3000:]
    assert (folder / "paper.pdf").stat().st_size > 1000
    return done.stdout


@pytest.fixture(scope="module")
def table(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("latex") / "latex"
    export(run, "latex", folder, baseline="random", test="wilcoxon", correct="none")
    return (folder / "table.tex").read_text()


def rows(table):
    """The cells of each algorithm, and the head, without its first cell."""
    lines = [line.removesuffix(r"\\").split(" & ") for line in table.splitlines() if line.endswith(r"\\")]
    head: list[str] = []
    cells: dict[str, list[str]] = {}
    for name, *rest in ([cell.strip() for cell in line] for line in lines):
        if name == "algorithm":
            head += rest
        else:
            cells.setdefault(name, []).extend(rest)
    return head, cells


@pytest.mark.skipif(not ENGINES, reason="there is no TeX here")
@pytest.mark.parametrize("engine", ENGINES)
def test_tex_sets_the_table_within_the_page(run, tmp_path, engine):
    export(run, "latex", tmp_path / "latex")
    (tmp_path / "table.tex").write_bytes((tmp_path / "latex" / "table.tex").read_bytes())
    assert "Overfull" not in compiled(tmp_path, r"\input{table}", engine=engine)


@pytest.mark.skipif(not ENGINES, reason="there is no TeX here")
def test_tex_sets_every_character_that_is_not_named_by_its_code(tmp_path):
    characters = [chr(code) for code in range(0x3000) if not 0xD800 <= code < 0xE000]
    stored = [latex_text(f"x{item}y") for item in characters if "U+" not in latex_text(item)]
    assert len(stored) > 200
    log = compiled(tmp_path, "\n\n".join(stored))
    assert "Missing character" not in log


def test_special_characters_are_escaped():
    assert latex_text("a_b 50% & #1 {x} $") == r"a{\_}b 50{\%} {\&} {\#}1 {\{}x{\}} {\$}"
    assert latex_text("中 \n\n é\u0301") == r"[U+4E2D] {\'e}[U+0301]"


def test_the_best_value_of_each_metric_is_bold(table, run):
    head, cells = rows(table)
    values = Run(run).table()
    assert head == [latex_text(metric) for metric in values.columns]
    for place, metric in enumerate(values.columns):
        best = values[metric].min() if metric == "rmse" else values[metric].max()
        bold = {label for label, row in cells.items() if row[place].startswith(r"\textbf")}
        assert bold == {f"{{{latex_text(label)}}}" for label in values.index[values[metric] == best]}
    assert cells["{random}"][list(values.columns).index("rmse")] == "--"


def test_marks_are_those_of_scipys_test(table, run):
    """Wilcoxon's test of SciPy on the values of each user, against the baseline, at the level 0.05."""
    head, cells = rows(table)
    users = Run(run).per_user()
    seen = set()
    for metric in ("ndcg@10", "precision@5", "rr"):
        wide = users[users["metric"] == metric].pivot(index="user", columns="algorithm", values="value")
        for label in wide.columns:
            cell = cells[f"{{{latex_text(label)}}}"][head.index(latex_text(metric))]
            marks = re.findall(r"\$\^\{([+-])\}\$", cell)
            if label == "random":
                assert marks == []
                continue
            both = wide[["random", label]].dropna()
            p = stats.wilcoxon(both[label], both["random"], zero_method="wilcox").pvalue
            difference = (both[label] - both["random"]).mean()
            expected = ["+" if difference > 0 else "-"] if p <= 0.05 else []
            assert marks == expected, (metric, label, p)
            seen |= set(expected)
    assert seen, "the example has differences"


def test_the_caption_says_which_test_correction_and_level(table, run, tmp_path):
    assert "Wilcoxon signed-rank test at the level 0.05, not corrected for all pairs of an algorithm with" in table
    assert "significantly better than random" in table
    assert "Not tested: catalogue-coverage@10, rmse." in table  # the baseline predicts no ratings
    export(run, "latex", tmp_path / "latex", level=0.01)
    other = (tmp_path / "latex" / "table.tex").read_text()
    assert "Fisher's randomisation test at the level 0.01, corrected for all pairs of algorithms by one metric" in other
    assert "by the method of Holm" in other


def test_a_baseline_that_is_not_there_is_refused(run, tmp_path):
    with pytest.raises(StudyError, match="no algorithm 'randm' to be the baseline; did you mean 'random'"):
        export(run, "latex", tmp_path / "latex", baseline="randm")
