"""The results: a table with one number in each cell, and all further numbers below it, folded."""

from __future__ import annotations

from markupsafe import Markup

from repro.reports.charts.dot_chart import System
from repro.reports.html import Cell, Details, Items, Table, number, render
from repro.reports.run.run_view import RunView
from repro.reports.run.sections import Section
from repro.stats.weakness import mean_weakness
from repro.text import plural

# The table has this many metrics at most, and so many on a phone; the details have all.
_METRICS, _ON_PHONES = 6, 2


def results_section(view: RunView) -> Section:
    """The table, what its columns can show, and every number with its interval."""
    tested = view.tested.get(view.main_metric)
    cautions = tested.cautions if tested else ()
    blocks = [
        _table(view),
        *([Items(cautions, css="warning", title="Caution.")] if cautions else []),
        *([_hidden(view)] if len(view.better) > _ON_PHONES else []),
        Details(f"All numbers: {plural(len(view.better), 'metric')}, intervals, ties", _all_numbers(view)),
        Details("What each metric can show", [_purposes(view)]),
        *(f"Left out: {reason}." for reason in dict.fromkeys(view.run.left_out.values())),
    ]
    return Section("results", "Results", blocks)


def _hidden(view: RunView) -> Markup:
    return render("run_hidden.html.j2", metrics=len(view.better), shown=_METRICS, on_phones=_ON_PHONES)


def name_cells(view: RunView, system: System) -> list[object]:
    """The name of an algorithm, with marks of findings, and its framework if several have the algorithm."""
    numbers = [index for index, finding in enumerate(view.findings, 1) if system.label in finding.algorithms]
    content = render(
        "run_algorithm.html.j2",
        name=system.algorithm,
        suspicious=system.label in view.suspected,
        numbers=numbers,
        framework=system.framework if view.several_frameworks else "",
    )
    return [Cell(content, is_header=True), *([system.framework] if view.several_frameworks else [])]


def name_columns(view: RunView) -> list[str | Cell]:
    """The headings of :func:`name_cells`."""
    return ["algorithm", *([Cell("framework", css="extra")] if view.several_frameworks else [])]


def metric_heading(view: RunView, metric: str, css: str = "") -> Cell:
    """The name of a metric; a tooltip says what it can show."""
    measure = next(m for m in view.run.measures if view.run.metric_names[m.full_name] == metric)
    purpose = ". ".join(text for text in (measure.metric.shows, measure.metric.suits) if text)
    return Cell(metric, css=css, title=f"Shows {purpose}" if purpose else "")


def first_rows(view: RunView) -> dict[int, str]:
    """The rows at which another algorithm begins, if several frameworks have the same."""
    above = [""] + [system.algorithm for system in view.systems]
    rows = enumerate(view.systems)
    return {i: "first" for i, system in rows if view.several_frameworks and system.algorithm != above[i]}


def _table(view: RunView) -> Table:
    best, metrics = _best(view), list(view.better)[:_METRICS]
    hidden = dict.fromkeys(metrics[_ON_PHONES:], "extra")
    header = [*name_columns(view), *(metric_heading(view, metric, hidden.get(metric, "")) for metric in metrics)]
    rows = [
        [
            *_named(view, system),
            *(_cell(view, metric, system.label, best, hidden.get(metric, "")) for metric in metrics),
        ]
        for system in view.systems
    ]
    caption = "Numbers of all folds together. Bold: the best. ≈: no difference from it shown."
    if view.suspected:
        caption += " !: suspicious."
    if view.findings:
        caption += " Numbers in brackets: see above."
    return Table(header, rows, metrics, caption, "Table of results", css="sortable results", row_css=first_rows(view))


def _named(view: RunView, system: System) -> list[object]:
    name, *framework = name_cells(view, system)
    return [name, *(Cell(text, css="extra") for text in framework)]


def _best(view: RunView) -> dict[str, float]:
    """The best value of each metric that has a better direction and different values."""
    return {
        name: float(view.values[name].min() if which == "lower" else view.values[name].max())
        for name, which in view.better.items()
        if which != "neither" and view.values[name].nunique() > 1
    }


def _cell(view: RunView, metric: str, label: str, best: dict[str, float], css: str) -> Cell:
    """The value, bold if it is the best, marked if no difference from the best is shown."""
    value = float(view.values[metric][label])
    is_best = value == best.get(metric)
    tested = view.tested.get(metric)
    as_good = False
    if tested is not None and not view.untested and metric in best and not is_best and label in tested.p.index:
        as_good = not tested.differs(label)
    content = render("run_value.html.j2", value=value, as_good=as_good)
    classes = " ".join(filter(None, ("best" if is_best else "", css)))
    return Cell(content, css=classes, value=repr(value) if value == value else "")


def _all_numbers(view: RunView) -> list[object]:
    """A table for each metric, and how the intervals and marks are made."""
    blocks: list[object] = []
    if view.tested and not view.untested:
        tested = view.tested.get(view.main_metric) or next(iter(view.tested.values()))
        blocks.append(render("run_intervals.html.j2", description=tested.description, metric=tested.metric))
    blocks += [f"Caution: {weak}" for weak in _weak_means(view)]
    return [*blocks, *(_numbers_of(view, metric) for metric in view.better)]


def _numbers_of(view: RunView, metric: str) -> Table:
    """The value of each algorithm, the mean over users if it is another one, its interval, and the reach of ties."""
    means = view.means.get(metric, {})
    averages = view.outside(metric)
    header = ["algorithm", metric, *(["mean over users"] if averages else []), *(["95% interval"] if means else [])]
    spans = {system.label: view.tie_spans.get((metric, system.label), "") for system in view.systems}
    header += ["over orders of ties"] if any(spans.values()) else []
    rows = []
    for system in view.systems:
        mean, low, high = means.get(system.label, (float("nan"),) * 3)
        row: list[object] = [Cell(system.label, is_header=True), number(float(view.values[metric][system.label]))]
        row += [number(mean)] if averages else []
        row += [f"{number(low)} to {number(high)}" if low == low else "–"] if means else []
        rows.append([*row, *([spans[system.label] or "–"] if any(spans.values()) else [])])
    caption = metric
    if averages:
        caption += (
            ": the number of the table of results is not a mean over users (it averages ratings, lists or folds); the "
            "interval is about the mean over users"
        )
    return Table(header, rows, header[1:], caption, f"All numbers of {metric}")


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


def _purposes(view: RunView) -> Table:
    """The purpose of each metric, and the task for which it compares algorithms."""
    rows = []
    for name, measure in zip(view.better, view.run.measures, strict=True):
        metric = measure.metric
        stated = metric.shows or "its author does not say"
        rows.append([Cell(name, is_header=True), stated, metric.suits or "not stated", metric.better, metric.cite])
    header = ["metric", "shows", "task", "better", "source"]
    return Table(header, rows, caption="What each metric can show", label="What each metric can show")
