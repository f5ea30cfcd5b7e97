"""The table of a run for a paper: booktabs, the best value of each metric in bold, and marks of significance."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from repro.export.latex_text import latex_text
from repro.export.significance import BETTER, OTHER, WORSE, Significance
from repro.export.source import read_run
from repro.runs.run import Run

MARKS = {BETTER: r"$^{+}$", WORSE: r"$^{-}$", OTHER: r"$^{\neq}$"}
MEANINGS = {BETTER: "better than", WORSE: "worse than", OTHER: "different from"}
PACKAGES = ("booktabs", "graphicx")
DIGITS = 4
ABREAST = 6  # metrics beside each other, in letters that can be read


def write_latex(folder: Path, target: Path, **settings: Any) -> None:
    """``table.tex``, to be read with ``\\input``."""
    run = read_run(folder)
    text = "\n".join(_lines(run, Significance.of(run, **settings))) + "\n"
    target.mkdir()
    (target / "table.tex").write_text(text, encoding="utf-8")


def _lines(run: Run, found: Significance) -> Iterator[str]:
    yield f"% Needs \\usepackage{{{','.join(PACKAGES)}}}; read it with \\input{{table}}."
    yield f"% The run finished in its journal with {run.end.cited()}; protocol {run.started.protocol_hash}."
    for caution in found.cautions:
        yield "% Caution: " + " ".join(caution.split())
    yield r"\begin{table}[tbp]"
    yield r"  \centering"
    yield f"  \\caption{{{_caption(run, found)}}}"
    yield r"  \label{tab:results}"
    metrics = [str(metric) for metric in found.table.columns]
    for start in range(0, len(metrics), ABREAST):
        yield from _block(found, metrics[start : start + ABREAST])
    yield r"\end{table}"


def _block(found: Significance, metrics: Sequence[str]) -> Iterator[str]:
    """Some of the metrics, of all algorithms."""
    yield ""
    yield r"  \medskip"
    yield "  % No wider than the page."
    yield r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    yield f"  \\begin{{tabular}}{{@{{}}l{'r' * len(metrics)}}}"
    yield r"    \toprule"
    yield "    " + " & ".join(["algorithm", *map(latex_text, metrics)]) + r" \\"
    yield r"    \midrule"
    for label in found.table.index:
        cells = [_cell(found, str(label), metric) for metric in metrics]
        # Braces keep what begins with a bracket or an asterisk from being read as an option of the line above.
        yield "    " + " & ".join([f"{{{latex_text(str(label))}}}", *cells]) + r" \\"
    yield r"    \bottomrule"
    yield r"  \end{tabular}}"


def _cell(found: Significance, label: str, metric: str) -> str:
    value = float(found.table.loc[label, metric])  # type: ignore[arg-type]
    if value != value:
        return "--"
    number = f"{value:.{DIGITS}f}".replace("-", r"$-$")
    mark = found.marks.get(metric, {}).get(label)
    # A mark takes no room, so that numbers with and without one stand below each other.
    return (f"\\textbf{{{number}}}" if label in found.best(metric) else number) + (
        f"\\rlap{{{MARKS[mark]}}}" if mark else ""
    )


def _caption(run: Run, found: Significance) -> str:
    """What the table shows, under which protocol, and what the marks mean."""
    loaded, name = run.loaded, run.dataset.title if run.dataset else run.loaded.data
    several = f" over {len(run.folds)} folds" if len(run.folds) > 1 else ""
    parts = [
        f"Results on {name} ({loaded.users:,} users, {loaded.items:,} items, {loaded.rows:,} interactions){several}, "
        f"protocol {run.resolved.protocol or 'as stated'}.",
    ]
    if any(found.best(metric) for metric in found.table.columns):
        parts.append("The best value of each metric is bold.")
    tested = [metric for metric in found.tested if found.reference(metric) is not None]
    caption = latex_text(" ".join(parts))
    if not tested:
        return caption
    against = latex_text(found.settings.baseline or "the best")
    used = {mark for marks in found.marks.values() for mark in marks.values()}
    for mark, meaning in MEANINGS.items():
        if mark in used:
            caption += f" {MARKS[mark]}: significantly {meaning} {against}."
    if not used:
        caption += f" No difference from {against} is significant."
    caption += " " + latex_text(re.sub(r" ⟦.*?⟧", "", found.method()))
    if untested := [metric for metric in found.table.columns if metric not in tested]:
        caption += " " + latex_text(f"Not tested: {', '.join(untested)}.")
    if run.failed:
        caption += f" Cells that failed: {len(run.failed)}."
    return caption
