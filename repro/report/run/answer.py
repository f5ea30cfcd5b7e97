"""The answer: in one sentence, then as a table with intervals and with what is as good as the best."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from repro.evaluation.suspicion import Summary
from repro.report.dots import dots
from repro.report.pages import number
from repro.report.run.figures import NARROW, WIDE, figure, section, wide
from repro.report.run.material import Material
from repro.report.run.significance import Tested, cautions_box, written_p
from repro.stats.weakness import mean_weakness

_AS_GOOD = (
    '<span class="mark" aria-hidden="true" title="no difference from the best shown">≈</span>'
    '<span class="unseen"> (no difference from the best shown)</span>'
)
_SUSPICIOUS = (
    ' <span class="mark" aria-hidden="true" title="suspicious: see above">!</span>'
    '<span class="unseen"> (suspicious: see above)</span>'
)
# Notes longer than about three lines are folded, and so are the figures of more algorithms than these.
_LONG_NOTES = 360
_OPEN_FIGURES = 6


def answer_section(run: Material) -> str:
    """The first thing that is read."""
    return section(
        "answer",
        "Answer",
        [
            *_warnings(run),
            f'<p class="answer">{escape(answer(run))}</p>',
            *_notes(run),
            *_failures(run),
            wide(_table(run), "Table of results"),
            *(cautions_box(run.tested[run.first].cautions) if run.first in run.tested else ()),
            *(f"<p>{text}</p>" for text in _below(run)),
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
    said = f"By {metric}, {best} {superlative}: {number(value)}, {gap} ({number(next_value)})."
    doubted = [one for one in (best, second) if one in _suspected(run)]
    doubt = (
        f" But {' and '.join(doubted)} {'is' if len(doubted) == 1 else 'are'} suspicious: see above." if doubted else ""
    )
    return f"{said} {_chance(run.tested.get(metric), best, second)}{doubt}"


def _chance(one: Tested | None, best: str, second: str) -> str:
    if one is None or second not in one.p.index or best not in one.p.index:
        return "Whether that is more than chance cannot be tested: there is no number for each user."
    p = float(one.p[best][second])
    if p != p:
        return "Whether that is more than chance cannot be tested: there are fewer than two users."
    row = one.against.loc[second]
    if not row["significant"]:
        said = "No difference is shown"
    elif row["mean_a"] == row["mean_b"] or (row["mean_b"] > row["mean_a"]) != (one.better != "lower"):
        said = f"The difference is more than chance, though not by the mean over users ({row['verdict']})"
    else:
        said = f"The difference is more than chance ({row['verdict']})"
    return f"{said}: {written_p(p)} ({one.stated})."


def _suspected(run: Material) -> set[str]:
    """The algorithms that a warning is about."""
    return {name for one in run.told if one.severity == "warning" for name in one.algorithms}


def _warnings(run: Material) -> list[str]:
    """A box with what is suspicious, a paragraph for each kind of thing."""
    told = [_paragraph(number, one) for number, one in enumerate(run.told, 1) if one.severity == "warning"]
    return [f'<div class="warning said"><strong>Suspicious.</strong>{"".join(told)}</div>'] if told else []


def _notes(run: Material) -> list[str]:
    """A box with what the numbers are to be read with; folded where it is long, as the table comes below it."""
    notes = {number: one for number, one in enumerate(run.told, 1) if one.severity == "note"}
    if not notes:
        return []
    title = "<strong>To be read with the numbers.</strong>"
    told = "".join(_paragraph(number, one) for number, one in notes.items())
    if sum(len(str(one)) for one in notes.values()) <= _LONG_NOTES:
        return [f'<div class="note said">{title}{told}</div>']
    about = len({name for one in notes.values() for name in one.algorithms})
    count = f"{len(notes)} {'note' if len(notes) == 1 else 'notes'} about {about} algorithms"
    return [f'<details class="note said"><summary>{title} {count}</summary>{told}</details>']


def _paragraph(number: int, one: Summary) -> str:
    """What is said of some algorithms, under the number that marks them in the table."""
    lines = "".join(f"<li>{escape(line)}</li>" for line in one.lines)
    text, figures = escape(one.text), f'<ul class="figures">{lines}</ul>' if lines else ""
    if len(one.lines) > _OPEN_FIGURES:
        text += f" {escape(', '.join(one.algorithms))}."
        figures = f"<details><summary>The figures of each</summary>{figures}</details>"
    return f'<p id="finding-{number}">[{number}] {text}</p>{figures}'


def _marks(run: Material, label: str) -> str:
    """What stands beside the name of an algorithm that anything is said of."""
    numbers = [number for number, one in enumerate(run.told, 1) if label in one.algorithms]
    links = " ".join(f'<a href="#finding-{number}">[{number}]</a>' for number in numbers)
    return f"{_SUSPICIOUS if label in _suspected(run) else ''}{f' <small>{links}</small>' if links else ''}"


def _failures(run: Material) -> list[str]:
    """What is not in the table because it failed; what was tried again since is not told."""
    done = {event.cell for event in run.journal.events("cell.finished")}
    failed = {event.cell: event.error for event in run.journal.events("cell.failed") if event.cell not in done}
    if not failed:
        return []
    rows = "".join(f"<li>{escape(cell)}: {escape(error)}</li>" for cell, error in failed.items())
    return [f'<div class="warning"><p><strong>Not all cells were finished.</strong></p><ul>{rows}</ul></div>']


def _best(run: Material) -> dict[str, float]:
    """The best value of each metric; none where neither of two values is the better one, or all are the same."""
    return {
        name: float(run.values[name].min() if which == "lower" else run.values[name].max())
        for name, which in run.better.items()
        if which != "neither" and run.values[name].nunique() > 1
    }


def _table(run: Material) -> str:
    """The values of each algorithm; where several frameworks have it, with the name of the framework in between."""
    best, outside = _best(run), _outside(run)
    names = ["algorithm", "framework"] if run.several_frameworks else ["algorithm"]
    times = [f"{name} (s)" for name in run.seconds.columns]
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    head += "".join(f'<th scope="col" class="number">{escape(name)}</th>' for name in [*run.better, *times])
    lines, above = [], ""
    for row in run.systems:
        cells = f'<th scope="row">{escape(row.algorithm)}{_marks(run, row.label)}</th>'
        cells += f"<td>{escape(row.framework)}</td>" if run.several_frameworks else ""
        cells += "".join(_cell(run, metric, row.label, best, outside) for metric in run.better)
        cells += "".join(f'<td class="number">{value:.2f}</td>' for value in run.seconds.loc[row.label])
        kind = ' class="first"' if run.several_frameworks and row.algorithm != above else ""
        lines.append(f"<tr{kind}>{cells}</tr>")
        above = row.algorithm
    caption = (
        "Numbers of all folds together, with 95% intervals over users. Bold: the best. ≈: no difference from it shown."
    )
    if _suspected(run):
        caption += " !: suspicious."
    if run.told:
        caption += " Numbers in brackets: see above."
    return (
        f'<table class="sortable results"><caption><span>{caption}</span></caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _outside(run: Material) -> set[str]:
    """The metrics of which a number lies outside of the interval of its mean over users: it averages otherwise."""
    return {
        metric
        for metric, means in run.means.items()
        for label, (_, low, high) in means.items()
        if low == low and not low <= float(run.values[metric].get(label, low)) <= high
    }


def _cell(run: Material, metric: str, label: str, best: Mapping[str, float], outside: set[str]) -> str:
    value = float(run.values[metric][label])
    top = value == best.get(metric)
    text, one = number(value), run.tested.get(metric)
    if one is not None and metric in best and not top and label in one.p.index and not one.differs(label):
        text += _AS_GOOD
    mean, low, high = run.means.get(metric, {}).get(label, (float("nan"),) * 3)
    if low == low:
        span = f"{number(low)} to {number(high)}"
        text += f"<small>{f'users {number(mean)}: ' if metric in outside else ''}{span}</small>"
    if (metric, label) in run.tie_spans:
        text += f"<small>ties {run.tie_spans[metric, label]}</small>"
    sorted_by = f' data-value="{value!r}"' if value == value else ""
    return f'<td class="number{" best" if top else ""}"{sorted_by}>{text}</td>'


def _below(run: Material) -> list[str]:
    """What the intervals and marks rest on, what the times are, and what is not in the table; as HTML."""
    told = []
    if run.tested:
        one = run.tested.get(run.first) or next(iter(run.tested.values()))
        told.append(
            "Intervals are Student's, of the mean over users, each user counted once. ≈ rests on "
            f"{escape(one.stated)}, other metrics likewise, each a family of its own. All pairs in numbers, in the run "
            f"folder: <code>repro compare . -m '{escape(one.metric)}'</code>"
        )
    told += [f"Caution: {escape(weak)}" for weak in _weak_means(run)]
    if outside := sorted(_outside(run)):
        told.append(
            f"{escape(', '.join(outside))}: the number of the table is not a mean over users (it averages ratings, "
            "lists or folds), so the interval is given with the mean over users that it is about."
        )
    times = "fit (s) and score (s) are the seconds that the framework took on a fold, the median of all folds"
    told.append(f"{times}, with {run.began.workers} cells at a time." if run.began.workers > 1 else f"{times}.")
    return [*told, *(f"Left out: {escape(reason)}." for reason in dict.fromkeys(run.began.left_out.values()))]


def _weak_means(run: Material) -> list[str]:
    """Of each metric, the algorithm whose interval rests on the fewest users, if those are too few."""
    found = []
    for metric, one in run.tested.items():
        weak = {label: text for label in one.values if (text := mean_weakness(one.values[label].to_numpy()))}
        if weak:
            label, text = next(iter(weak.items()))
            others = f" and {len(weak) - 1} others" if len(weak) > 1 else ""
            found.append(f"the interval of {metric} of {label}{others} is weak: {text}")
    return found


def values_section(run: Material) -> str:
    """A chart of each metric."""
    drawn: list[str] = []
    for metric, better in run.better.items():
        intervals = {label: (low, high) for label, (_, low, high) in run.means.get(metric, {}).items() if low == low}
        values = dict(run.values[metric])
        shown = intervals if metric not in _outside(run) else {}
        chart = dots(metric, values, run.systems, better, shown)
        if chart is not None:
            drawn.append(figure(metric, _extremes(run, metric), chart, NARROW if drawn else WIDE))
    if not drawn:
        return ""
    first, *others = drawn
    return section("values", "All metrics", [first, f'<div class="grid">{"".join(others)}</div>'])


def _extremes(run: Material, metric: str) -> str:
    known = run.values[metric].dropna()
    direction = {"higher": " Higher is better.", "lower": " Lower is better."}.get(run.better[metric], "")
    low, high = known.idxmin(), known.idxmax()
    return f"From {number(known[low])} ({low}) to {number(known[high])} ({high}).{direction}"
