"""The answer: in a sentence, then as a table with intervals and marks of algorithms as good as the best."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from repro.reports.charts.dot_chart import System, dots
from repro.reports.html import Cell, Figure, Grid, Items, Paragraph, Table, number, render
from repro.reports.run.run_view import RunView, Tested, written_p
from repro.reports.run.sections import NARROW, WIDE, Section, figure
from repro.stats.weakness import mean_weakness
from repro.text import plural

# Notes longer than about three lines are folded, and so are the figures of more algorithms than these.
_LONG_NOTES = 360
_OPEN_FIGURES = 6


def answer_section(view: RunView) -> Section:
    """The first section that people read."""
    tested = view.tested.get(view.main_metric)
    return Section(
        "answer",
        "Answer",
        [
            *_warnings(view),
            Paragraph(answer(view), css="answer"),
            *_notes(view),
            *_failures(view),
            _table(view),
            *([Items(tested.cautions, css="warning", title="Caution.")] if tested and tested.cautions else []),
            *_below(view),
        ],
    )


def answer(view: RunView) -> str:
    """The best algorithm by the main metric, its lead, and whether the lead is significant."""
    metric, better = view.main_metric, view.better[view.main_metric]
    leaders = view.leaders(metric)
    if not leaders:
        return "No algorithm has a number on all folds, so there is no answer."
    best, value = leaders[0], float(view.values[metric][leaders[0]])
    if len(leaders) == 1:
        low, high = view.means.get(metric, {}).get(best, (0.0, float("nan"), float("nan")))[1:]
        within = f" (95% interval over users: {number(low)} to {number(high)})" if low == low else ""
        return f"{best} has {metric} {number(value)}{within}; there is no other algorithm to compare it with."
    second, next_value = leaders[1], float(view.values[metric][leaders[1]])
    superlative = {"higher": "is best", "lower": "is best, with the lowest value"}.get(better, "has the highest value")
    if value == next_value:
        gap = f"the same as {second}"
    else:
        share = f" ({abs(value - next_value) / abs(next_value):.1%})" if next_value else ""
        gap = f"which is {abs(value - next_value):.4f}{share} {'less' if value < next_value else 'more'} than {second}"
    sentence = f"By {metric}, {best} {superlative}: {number(value)}, {gap} ({number(next_value)})."
    chance = view.untested and f"Whether that is more than chance is not tested: {view.untested}."
    sentence += f" {chance or _chance(view.tested.get(metric), best, second)}"
    if suspicious := [label for label in (best, second) if label in _suspected(view)]:
        sentence += f" But {' and '.join(suspicious)} {'is' if len(suspicious) == 1 else 'are'} suspicious: see above."
    return sentence


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
    return f"{verdict}: {written_p(p)} ({tested.description})."


def _suspected(view: RunView) -> set[str]:
    """The algorithms that a warning is about."""
    return {name for finding in view.findings if finding.severity == "warning" for name in finding.algorithms}


def _warnings(view: RunView) -> list[Markup]:
    """A box with a paragraph for each kind of suspicious finding."""
    return _box(view, "warning", "Suspicious.")


def _notes(view: RunView) -> list[Markup]:
    """A box with notes on the numbers; folded if it is long, as the table comes below it."""
    notes = [finding for finding in view.findings if finding.severity == "note"]
    count = ""
    if sum(len(str(note)) for note in notes) > _LONG_NOTES:
        algorithms = len({name for note in notes for name in note.algorithms})
        count = f"{plural(len(notes), 'note')} about {algorithms} algorithms"
    return _box(view, "note", "To be read with the numbers.", count)


def _box(view: RunView, severity: str, title: str, count: str = "") -> list[Markup]:
    """The findings of a severity in a box; with ``count``, which describes them, the box is folded."""
    findings = {number: finding for number, finding in enumerate(view.findings, 1) if finding.severity == severity}
    if not findings:
        return []
    settings = {"css": severity, "title": title, "count": count, "most_figures": _OPEN_FIGURES}
    return [render("run_findings.html.j2", findings=findings, **settings)]


def _name(view: RunView, row: System) -> Cell:
    """The name of an algorithm, marked and with links to the findings about it."""
    numbers = [number for number, finding in enumerate(view.findings, 1) if row.label in finding.algorithms]
    suspicious = row.label in _suspected(view)
    content = render("run_algorithm.html.j2", name=row.algorithm, suspicious=suspicious, numbers=numbers)
    return Cell(content, is_header=True)


def _failures(view: RunView) -> list[Items]:
    """Cells that are not in the table because they failed."""
    lines = [f"{cell}: {error}" for cell, error in view.run.failed.items()]
    return [Items(lines, css="warning", title="Not all cells were finished.")] if lines else []


def _best(view: RunView) -> dict[str, float]:
    """The best value of each metric that has a better direction and different values."""
    return {
        name: float(view.values[name].min() if which == "lower" else view.values[name].max())
        for name, which in view.better.items()
        if which != "neither" and view.values[name].nunique() > 1
    }


def _table(view: RunView) -> Table:
    """The values of each algorithm, with a column for the framework if several have the same algorithm."""
    best, outside = _best(view), _outside(view)
    metrics, times = list(view.better), [f"{name} (s)" for name in view.seconds.columns]
    header = ["algorithm", *(["framework"] if view.several_frameworks else []), *metrics, *times]
    rows: list[list[object]] = []
    for system in view.systems:
        rows.append(
            [
                _name(view, system),
                *([system.framework] if view.several_frameworks else []),
                *(_cell(view, metric, system.label, best, outside) for metric in metrics),
                *(f"{value:.2f}" for value in view.seconds.loc[system.label]),
            ]
        )
    above = [""] + [system.algorithm for system in view.systems]
    first = {
        index: "first"
        for index, system in enumerate(view.systems)
        if view.several_frameworks and system.algorithm != above[index]
    }
    caption = (
        "Numbers of all folds together, with 95% intervals over users. Bold: the best. ≈: no difference from it shown."
    )
    if _suspected(view):
        caption += " !: suspicious."
    if view.findings:
        caption += " Numbers in brackets: see above."
    numeric = [*metrics, *times]
    return Table(header, rows, numeric, caption, "Table of results", css="sortable results", row_css=first)


def _outside(view: RunView) -> set[str]:
    """The metrics with a number outside of the interval of its mean over users, because it averages differently."""
    return {
        metric
        for metric, means in view.means.items()
        for label, (_, low, high) in means.items()
        if low == low and not low <= float(view.values[metric].get(label, low)) <= high
    }


def _cell(view: RunView, metric: str, label: str, best: Mapping[str, float], outside: set[str]) -> Cell:
    value = float(view.values[metric][label])
    is_best = value == best.get(metric)
    tested = view.tested.get(metric)
    as_good = False
    if tested is not None and metric in best and not is_best and label in tested.p.index:
        as_good = not tested.differs(label)
    mean, low, high = view.means.get(metric, {}).get(label, (float("nan"),) * 3)
    interval = f"{number(low)} to {number(high)}" if low == low else ""
    if interval and metric in outside:
        interval = f"users {number(mean)}: {interval}"
    ties = view.tie_spans.get((metric, label), "")
    content = render("run_value.html.j2", value=value, as_good=as_good, interval=interval, ties=ties)
    return Cell(content, css="best" if is_best else "", value=repr(value) if value == value else "")


def _below(view: RunView) -> list[object]:
    """The basis of intervals and marks, the meaning of times, and what is not in the table."""
    blocks: list[object] = []
    if view.tested and not view.untested:
        tested = view.tested.get(view.main_metric) or next(iter(view.tested.values()))
        blocks.append(render("run_intervals.html.j2", description=tested.description, metric=tested.metric))
    blocks += [f"Caution: {weak}" for weak in _weak_means(view)]
    if outside := sorted(_outside(view)):
        blocks.append(
            f"{', '.join(outside)}: the number of the table is not a mean over users (it averages ratings, "
            "lists or folds), so the interval is given with the mean over users that it is about."
        )
    times = "fit (s) and score (s) are the seconds that the framework took on a fold, the median of all folds"
    blocks.append(f"{times}, with {view.started.workers} cells at a time." if view.started.workers > 1 else f"{times}.")
    return [*blocks, *(f"Left out: {reason}." for reason in dict.fromkeys(view.started.left_out.values()))]


def _weak_means(view: RunView) -> list[str]:
    """For each metric, the first algorithm with a weak interval, and the number of others."""
    sentences = []
    for metric, tested in view.tested.items():
        weak = {label: text for label in tested.values if (text := mean_weakness(tested.values[label].to_numpy()))}
        if weak:
            label, text = next(iter(weak.items()))
            others = f" and {len(weak) - 1} others" if len(weak) > 1 else ""
            sentences.append(f"the interval of {metric} of {label}{others} is weak: {text}")
    return sentences


def values_section(view: RunView) -> Section | None:
    """A chart of each metric."""
    drawn: list[Figure] = []
    for metric, better in view.better.items():
        intervals = {label: (low, high) for label, (_, low, high) in view.means.get(metric, {}).items() if low == low}
        values = dict(view.values[metric])
        shown = intervals if metric not in _outside(view) else {}
        chart = dots(metric, values, view.systems, better, shown)
        if chart is not None:
            drawn.append(figure(metric, _extremes(view, metric), chart, NARROW if drawn else WIDE))
    return Section("values", "All metrics", [drawn[0], Grid(drawn[1:])]) if drawn else None


def _extremes(view: RunView, metric: str) -> str:
    values = view.values[metric].dropna()
    direction = {"higher": " Higher is better.", "lower": " Lower is better."}.get(view.better[metric], "")
    low, high = values.idxmin(), values.idxmax()
    return f"From {number(values[low])} ({low}) to {number(values[high])} ({high}).{direction}"
