"""The answer: in one sentence, then as a table with intervals and marks of the algorithms as good as the best."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from repro.evaluation.suspicion import Summary
from repro.report.charts.dot_chart import System, dots
from repro.report.html import Cell, Figure, Grid, Items, Paragraph, Table, number, render
from repro.report.run.material import Material
from repro.report.run.sections import NARROW, WIDE, Section, figure
from repro.report.run.significance_section import Tested, written_p
from repro.stats.weakness import mean_weakness
from repro.text import plural

# Notes longer than about three lines are folded, and so are the figures of more algorithms than these.
_LONG_NOTES = 360
_OPEN_FIGURES = 6


def answer_section(run: Material) -> Section:
    """The first section that people read."""
    tested = run.tested.get(run.first)
    return Section(
        "answer",
        "Answer",
        [
            *_warnings(run),
            Paragraph(answer(run), css="answer"),
            *_notes(run),
            *_failures(run),
            _table(run),
            *([Items(tested.cautions, css="warning", title="Caution.")] if tested and tested.cautions else []),
            *_below(run),
        ],
    )


def answer(run: Material) -> str:
    """Who is best by the first metric, by how much, and whether that is more than chance."""
    metric, better = run.first, run.better[run.first]
    leaders = run.leaders(metric)
    if not leaders:
        return "No algorithm has a number on all folds, so there is no answer."
    best, value = leaders[0], float(run.values[metric][leaders[0]])
    if len(leaders) == 1:
        low, high = run.means.get(metric, {}).get(best, (0.0, float("nan"), float("nan")))[1:]
        within = f" (95% interval over users: {number(low)} to {number(high)})" if low == low else ""
        return f"{best} has {metric} {number(value)}{within}; there is no other algorithm to compare it with."
    second, next_value = leaders[1], float(run.values[metric][leaders[1]])
    superlative = {"higher": "is best", "lower": "is best, with the lowest value"}.get(better, "has the highest value")
    if value == next_value:
        gap = f"the same as {second}"
    else:
        share = f" ({abs(value - next_value) / abs(next_value):.1%})" if next_value else ""
        gap = f"which is {abs(value - next_value):.4f}{share} {'less' if value < next_value else 'more'} than {second}"
    sentence = f"By {metric}, {best} {superlative}: {number(value)}, {gap} ({number(next_value)})."
    doubted = [label for label in (best, second) if label in _suspected(run)]
    doubt = (
        f" But {' and '.join(doubted)} {'is' if len(doubted) == 1 else 'are'} suspicious: see above." if doubted else ""
    )
    return f"{sentence} {_chance(run.tested.get(metric), best, second)}{doubt}"


def _chance(tested: Tested | None, best: str, second: str) -> str:
    if tested is None or second not in tested.p.index or best not in tested.p.index:
        return "Whether that is more than chance cannot be tested: there is no number for each user."
    p = float(tested.p[best][second])
    if p != p:
        return "Whether that is more than chance cannot be tested: there are fewer than two users."
    row = tested.against.loc[second]
    if not row["significant"]:
        verdict = "No difference is shown"
    elif row["mean_a"] == row["mean_b"] or (row["mean_b"] > row["mean_a"]) != (tested.better != "lower"):
        verdict = f"The difference is more than chance, though not by the mean over users ({row['verdict']})"
    else:
        verdict = f"The difference is more than chance ({row['verdict']})"
    return f"{verdict}: {written_p(p)} ({tested.stated})."


def _suspected(run: Material) -> set[str]:
    """The algorithms that a warning is about."""
    return {name for finding in run.told if finding.severity == "warning" for name in finding.algorithms}


def _warnings(run: Material) -> list[Markup]:
    """A box with a paragraph for each kind of suspicious finding."""
    findings = {number: finding for number, finding in enumerate(run.told, 1) if finding.severity == "warning"}
    title = "Suspicious."
    return [render("run_findings.html.j2", css="warning", title=title, **_shown(findings))] if findings else []


def _notes(run: Material) -> list[Markup]:
    """A box with notes on the numbers; folded where it is long, as the table comes below it."""
    notes = {number: finding for number, finding in enumerate(run.told, 1) if finding.severity == "note"}
    if not notes:
        return []
    count = ""
    if sum(len(str(note)) for note in notes.values()) > _LONG_NOTES:
        algorithms = len({name for note in notes.values() for name in note.algorithms})
        count = f"{plural(len(notes), 'note')} about {algorithms} algorithms"
    title = "To be read with the numbers."
    return [render("run_findings.html.j2", css="note", title=title, **_shown(notes, count))]


def _shown(findings: Mapping[int, Summary], count: str = "") -> dict[str, object]:
    return {"findings": findings, "count": count, "most_figures": _OPEN_FIGURES}


def _name(run: Material, row: System) -> Cell:
    """The name of an algorithm, marked and with links to the findings about it."""
    numbers = [number for number, finding in enumerate(run.told, 1) if row.label in finding.algorithms]
    suspicious = row.label in _suspected(run)
    content = render("run_algorithm.html.j2", name=row.algorithm, suspicious=suspicious, numbers=numbers)
    return Cell(content, is_header=True)


def _failures(run: Material) -> list[Items]:
    """Cells that are not in the table because they failed, and were not repeated with success."""
    done = {event.cell for event in run.journal.events("cell.finished")}
    failed = {event.cell: event.error for event in run.journal.events("cell.failed") if event.cell not in done}
    lines = [f"{cell}: {error}" for cell, error in failed.items()]
    return [Items(lines, css="warning", title="Not all cells were finished.")] if lines else []


def _best(run: Material) -> dict[str, float]:
    """The best value of each metric; none where neither of two values is the better one, or all are the same."""
    return {
        name: float(run.values[name].min() if which == "lower" else run.values[name].max())
        for name, which in run.better.items()
        if which != "neither" and run.values[name].nunique() > 1
    }


def _table(run: Material) -> Table:
    """The values of each algorithm; where several frameworks have it, with a column for the framework."""
    best, outside = _best(run), _outside(run)
    metrics, times = list(run.better), [f"{name} (s)" for name in run.seconds.columns]
    header = ["algorithm", *(["framework"] if run.several_frameworks else []), *metrics, *times]
    rows: list[list[object]] = []
    for system in run.systems:
        rows.append(
            [
                _name(run, system),
                *([system.framework] if run.several_frameworks else []),
                *(_cell(run, metric, system.label, best, outside) for metric in metrics),
                *(f"{value:.2f}" for value in run.seconds.loc[system.label]),
            ]
        )
    above = [""] + [system.algorithm for system in run.systems]
    first = {
        place: "first"
        for place, system in enumerate(run.systems)
        if run.several_frameworks and system.algorithm != above[place]
    }
    caption = (
        "Numbers of all folds together, with 95% intervals over users. Bold: the best. ≈: no difference from it shown."
    )
    if _suspected(run):
        caption += " !: suspicious."
    if run.told:
        caption += " Numbers in brackets: see above."
    numeric = [*metrics, *times]
    return Table(header, rows, numeric, caption, "Table of results", css="sortable results", row_css=first)


def _outside(run: Material) -> set[str]:
    """The metrics of which a number lies outside of the interval of its mean over users: it averages otherwise."""
    return {
        metric
        for metric, means in run.means.items()
        for label, (_, low, high) in means.items()
        if low == low and not low <= float(run.values[metric].get(label, low)) <= high
    }


def _cell(run: Material, metric: str, label: str, best: Mapping[str, float], outside: set[str]) -> Cell:
    value = float(run.values[metric][label])
    is_best = value == best.get(metric)
    tested = run.tested.get(metric)
    as_good = False
    if tested is not None and metric in best and not is_best and label in tested.p.index:
        as_good = not tested.differs(label)
    mean, low, high = run.means.get(metric, {}).get(label, (float("nan"),) * 3)
    interval = f"{number(low)} to {number(high)}" if low == low else ""
    if interval and metric in outside:
        interval = f"users {number(mean)}: {interval}"
    ties = run.tie_spans.get((metric, label), "")
    content = render("run_value.html.j2", value=value, as_good=as_good, interval=interval, ties=ties)
    return Cell(content, css="best" if is_best else "", value=repr(value) if value == value else "")


def _below(run: Material) -> list[object]:
    """What the intervals and marks are based on, what the times are, and what is not in the table."""
    blocks: list[object] = []
    if run.tested:
        tested = run.tested.get(run.first) or next(iter(run.tested.values()))
        blocks.append(render("run_intervals.html.j2", stated=tested.stated, metric=tested.metric))
    blocks += [f"Caution: {weak}" for weak in _weak_means(run)]
    if outside := sorted(_outside(run)):
        blocks.append(
            f"{', '.join(outside)}: the number of the table is not a mean over users (it averages ratings, "
            "lists or folds), so the interval is given with the mean over users that it is about."
        )
    times = "fit (s) and score (s) are the seconds that the framework took on a fold, the median of all folds"
    blocks.append(f"{times}, with {run.began.workers} cells at a time." if run.began.workers > 1 else f"{times}.")
    return [*blocks, *(f"Left out: {reason}." for reason in dict.fromkeys(run.began.left_out.values()))]


def _weak_means(run: Material) -> list[str]:
    """Of each metric, the algorithm whose interval is based on the fewest users, if those are too few."""
    sentences = []
    for metric, tested in run.tested.items():
        weak = {label: text for label in tested.values if (text := mean_weakness(tested.values[label].to_numpy()))}
        if weak:
            label, text = next(iter(weak.items()))
            others = f" and {len(weak) - 1} others" if len(weak) > 1 else ""
            sentences.append(f"the interval of {metric} of {label}{others} is weak: {text}")
    return sentences


def values_section(run: Material) -> Section | None:
    """A chart of each metric."""
    drawn: list[Figure] = []
    for metric, better in run.better.items():
        intervals = {label: (low, high) for label, (_, low, high) in run.means.get(metric, {}).items() if low == low}
        values = dict(run.values[metric])
        shown = intervals if metric not in _outside(run) else {}
        chart = dots(metric, values, run.systems, better, shown)
        if chart is not None:
            drawn.append(figure(metric, _extremes(run, metric), chart, NARROW if drawn else WIDE))
    return Section("values", "All metrics", [drawn[0], Grid(drawn[1:])]) if drawn else None


def _extremes(run: Material, metric: str) -> str:
    values = run.values[metric].dropna()
    direction = {"higher": " Higher is better.", "lower": " Lower is better."}.get(run.better[metric], "")
    low, high = values.idxmin(), values.idxmax()
    return f"From {number(values[low])} ({low}) to {number(values[high])} ({high}).{direction}"
