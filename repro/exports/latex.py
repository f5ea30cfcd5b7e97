"""The table of a run for a paper: booktabs, the best value of each metric in bold, and marks of significance."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from repro.exports.latex_text import latex_text
from repro.exports.significance import BETTER, OTHER, WORSE, Significance
from repro.runs.run import Run

MARKS = {BETTER: r"$^{+}$", WORSE: r"$^{-}$", OTHER: r"$^{\neq}$"}
MEANINGS = {BETTER: "better than", WORSE: "worse than", OTHER: "different from"}
PACKAGES = ("booktabs", "graphicx")
DIGITS = 4
METRICS_PER_BLOCK = 6  # more would be too small to read


def write_latex(run: Run, target: Path, **settings: Any) -> None:
    """``table.tex``, to be read with ``\\input``."""
    text = "\n".join(_lines(run, Significance.of(run, **settings))) + "\n"
    target.mkdir()
    (target / "table.tex").write_text(text, encoding="utf-8")


def _lines(run: Run, significance: Significance) -> Iterator[str]:
    yield f"% Needs \\usepackage{{{','.join(PACKAGES)}}}; read it with \\input{{table}}."
    yield f"% The run finished in its journal with {run.end.cited()}; protocol {run.started.protocol_hash}."
    for caution in significance.cautions:
        yield "% Caution: " + " ".join(caution.split())
    yield r"\begin{table}[tbp]"
    yield r"  \centering"
    yield f"  \\caption{{{_caption(run, significance)}}}"
    yield r"  \label{tab:results}"
    metrics = [str(metric) for metric in significance.table.columns]
    for start in range(0, len(metrics), METRICS_PER_BLOCK):
        yield from _block(significance, metrics[start : start + METRICS_PER_BLOCK])
    yield r"\end{table}"


def _block(significance: Significance, metrics: Sequence[str]) -> Iterator[str]:
    """Some of the metrics, of all algorithms."""
    yield ""
    yield r"  \medskip"
    yield "  % No wider than the page."
    yield r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    yield f"  \\begin{{tabular}}{{@{{}}l{'r' * len(metrics)}}}"
    yield r"    \toprule"
    yield "    " + " & ".join(["algorithm", *map(latex_text, metrics)]) + r" \\"
    yield r"    \midrule"
    for label in significance.table.index:
        cells = [_cell(significance, str(label), metric) for metric in metrics]
        # Braces keep what begins with a bracket or an asterisk from being read as an option of the line above.
        yield "    " + " & ".join([f"{{{latex_text(str(label))}}}", *cells]) + r" \\"
    yield r"    \bottomrule"
    yield r"  \end{tabular}}"


def _cell(significance: Significance, label: str, metric: str) -> str:
    value = float(significance.table.loc[label, metric])  # type: ignore[arg-type]
    if value != value:
        return "--"
    number = f"{value:.{DIGITS}f}".replace("-", r"$-$")
    mark = significance.marks.get(metric, {}).get(label)
    number = f"\\textbf{{{number}}}" if label in significance.best(metric) else number
    # A mark takes no room, so that numbers with and without one are aligned.
    return number + (f"\\rlap{{{MARKS[mark]}}}" if mark else "")


def _caption(run: Run, significance: Significance) -> str:
    """Data, protocol, and the meaning of the marks."""
    loaded, name = run.loaded, run.dataset.title if run.dataset else run.loaded.data
    folds = f" over {len(run.folds)} folds" if len(run.folds) > 1 else ""
    parts = [
        f"Results on {name} ({loaded.users:,} users, {loaded.items:,} items, {loaded.rows:,} interactions){folds}, "
        f"protocol {run.resolved.protocol or 'as stated'}.",
    ]
    if any(significance.best(metric) for metric in significance.table.columns):
        parts.append("The best value of each metric is bold.")
    tested = [metric for metric in significance.tested if significance.reference(metric) is not None]
    caption = latex_text(" ".join(parts))
    if not tested:
        return caption
    against = latex_text(significance.settings.baseline or "the best")
    used = {mark for marks in significance.marks.values() for mark in marks.values()}
    for mark, meaning in MEANINGS.items():
        if mark in used:
            caption += f" {MARKS[mark]}: significantly {meaning} {against}."
    if not used:
        caption += f" No difference from {against} is significant."
    caption += " " + latex_text(re.sub(r" ⟦.*?⟧", "", significance.method()))
    if untested := [metric for metric in significance.table.columns if metric not in tested]:
        caption += " " + latex_text(f"Not tested: {', '.join(untested)}.")
    if run.failed:
        caption += f" Cells that failed: {len(run.failed)}."
    return caption
