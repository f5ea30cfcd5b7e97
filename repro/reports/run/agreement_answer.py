"""Agreement of frameworks on the algorithms that several of them have."""

from __future__ import annotations

from collections.abc import Iterable

from repro.reports.charts.dot_chart import Dots, System, dots
from repro.reports.html import Cell, Details, Table, number
from repro.reports.run.results_section import metric_heading
from repro.reports.run.run_view import RunView
from repro.reports.run.sections import figure
from repro.runs.agreement import PRINTED, Agreement, Reason, Recurring, known_reasons
from repro.text import plural

_UNKNOWN = "unknown"
_NAMED = 3  # most reasons that the table names; the details have all


def agreement_sentences(view: RunView) -> list[str]:
    """A paragraph for each headline metric: how many algorithms agree, how many differ, and by how much."""
    return [_sentence(view, metric) for metric in view.headlines]


def _sentence(view: RunView, metric: str) -> str:
    agreements = view.agreements(metric)
    if not agreements:
        return f"By {metric}, no algorithm has values of two frameworks."
    complete = [item for item in agreements if item.complete]
    partial = [item for item in agreements if item.partial]
    differing = [item for item in agreements if not item.complete and not item.partial]
    if len(complete) == len(agreements):
        least = min((item.decimals for item in complete if item.decimals is not None), default=None)
        how = "have identical values" if least is None else f"agree to at least {least} decimals"
        return f"By {metric}, the frameworks {how} on all {plural(len(complete), 'algorithm')}{_names(complete)}."
    parts = [
        f"to {PRINTED} decimals or more all frameworks agree on {len(complete) or 'none'} of "
        f"{plural(len(agreements), 'algorithm')}{_names(complete)}"
    ]
    parts += [f"some of them agree on {len(partial)}{_names(partial)}"] if partial else []
    parts += [f"they differ on {len(differing)}{_names(differing)}"] if differing else []
    largest = max(agreements, key=lambda item: item.gap)
    low, high = largest.ends
    sentence = (
        f"By {metric}, {', '.join(parts)}. The largest difference is that of {largest.recurring.name}: "
        f"{largest.gap:.{PRINTED}f}, from {number(largest.values[low])} ({_member(largest.recurring, low)}) to "
        f"{number(largest.values[high])} ({_member(largest.recurring, high)})."
    )
    chance = [item for item in (*partial, *differing) if _is_shown(view, item) is False]
    if chance:
        sentence += f" No difference is shown by the test for {_joined(chance)}."
    return sentence


def _joined(agreements: Iterable[Agreement]) -> str:
    return ", ".join(item.recurring.name for item in agreements)


def _names(agreements: list[Agreement]) -> str:
    return f" ({_joined(agreements)})" if agreements else ""


def _member(recurring: Recurring, label: str) -> str:
    """The framework of a label, or the label if the framework has several."""
    framework = recurring.frameworks[label]
    return framework if list(recurring.frameworks.values()).count(framework) == 1 else label


def _is_shown(view: RunView, agreement: Agreement) -> bool | None:
    """Whether the test shows a difference between any two frameworks that do not agree; None if it is not tested."""
    tested = view.tested.get(agreement.metric)
    if tested is None:
        return None
    set_of = {label: number for number, labels in enumerate(agreement.sets) for label in labels}
    pairs = [
        float(tested.p[b][a])
        for a in set_of
        for b in set_of
        if set_of[a] < set_of[b] and a in tested.p.index and b in tested.p.index
    ]
    defined = [p for p in pairs if p == p]
    return any(p <= tested.level for p in defined) if defined else None


def agreement_blocks(view: RunView) -> list[object]:
    """A table of the recurring algorithms, charts of the differences, and known reasons, folded."""
    figures = [drawn for metric in view.headlines for drawn in _figure(view, metric)]
    details = [table for recurring in view.recurring for table in _reason_table(view, recurring)]
    others = [metric for metric in view.better if metric not in view.headlines and view.agreements(metric)]
    return [
        _table(view, view.headlines, with_reasons=True),
        *([Details("What differs between the frameworks, by algorithm", details)] if details else []),
        *([Details("Agreement by the other metrics", [_table(view, others)])] if others else []),
        *figures,
    ]


def _table(view: RunView, metrics: list[str], *, with_reasons: bool = False) -> Table:
    """A table of the agreement of frameworks on each algorithm, by some metrics, and the names of known reasons."""
    columns = {metric: {item.recurring: item for item in view.agreements(metric)} for metric in metrics}
    rows: list[list[object]] = []
    for recurring in view.recurring:
        by_metric = {metric: columns[metric].get(recurring) for metric in metrics}
        if not any(by_metric.values()):
            continue
        rows.append(
            [
                Cell(recurring.name, is_header=True),
                Cell(", ".join(dict.fromkeys(recurring.frameworks.values())), css="extra"),
                *(Cell("–" if item is None else _how_far(view, item), css=_css(item)) for item in by_metric.values()),
                *(
                    [Cell(_reason_names(view, [*filter(None, by_metric.values())]), css="extra")]
                    if with_reasons
                    else []
                ),
            ]
        )
    header: list[str | Cell] = [
        "algorithm",
        Cell("frameworks", css="extra"),
        *(metric_heading(view, metric) for metric in metrics),
    ]
    caption = (
        f"Agreement of the frameworks: to {PRINTED} decimals or more counts as the same value. ≈: the test shows no "
        "difference."
    )
    if with_reasons:
        header.append(Cell("known differences between them", css="extra"))
        caption += (
            " Known differences are what the journal has that is not the same for frameworks that disagree: they may "
            "explain it, and none of them proves it."
        )
    return Table(header, rows, caption=caption, label="Agreement of the frameworks", css="agreement")


def _css(agreement: Agreement | None) -> str:
    return "agrees" if agreement is not None and agreement.complete else ""


def _decimals(decimals: int | None) -> str:
    return "identical" if decimals is None else f"{decimals} decimals"


def _how_far(view: RunView, agreement: Agreement) -> str:
    """To how many decimals all agree; or which agree, and how large the differences are."""
    if agreement.complete:
        return "identical" if agreement.decimals is None else f"agree to {_decimals(agreement.decimals)}"
    highest = max(map(abs, agreement.values.values()))
    text = f"differ by {agreement.gap:.{PRINTED}f} ({agreement.gap / highest:.1%})"
    if _is_shown(view, agreement) is False:
        text += " ≈"
    same = [
        f"{' = '.join(_member(agreement.recurring, label) for label in labels)} "
        f"({_decimals(agreement.decimals_of(labels))})"
        for labels in agreement.sets
        if len(labels) > 1
    ]
    return "; ".join([text, *same])


def _reason_names(view: RunView, agreements: list[Agreement]) -> str:
    """The names of known reasons, or that there is none."""
    if all(item.complete for item in agreements):
        return "–"
    names = list(dict.fromkeys(reason.name for reason in _reasons(view, agreements)))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more if names else _UNKNOWN


def _reasons(view: RunView, agreements: Iterable[Agreement]) -> list[Reason]:
    """The known reasons by some metrics, each once."""
    known = (reason for item in agreements if not item.complete for reason in known_reasons(view.run, item))
    return list({(reason.name, *reason.texts.items()): reason for reason in known}.values())


def _reason_table(view: RunView, recurring: Recurring) -> list[Table]:
    """The known reasons with their text for each framework; nothing if there is none."""
    items = [item for metric in view.headlines for item in view.agreements(metric) if item.recurring is recurring]
    reasons = _reasons(view, items)
    if not reasons:
        return []
    rows = [
        [Cell(reason.name, is_header=True), *(reason.texts.get(label, "–") for label in recurring.frameworks)]
        for reason in reasons
    ]
    header = ["fact", *(_member(recurring, label) for label in recurring.frameworks)]
    caption = f"{recurring.name}: what is not the same for all frameworks"
    return [Table(header, rows, caption=caption, label=caption)]


def _figure(view: RunView, metric: str) -> list[object]:
    """The distance of each framework from the median of the frameworks, for each algorithm."""
    agreements = view.agreements(metric)
    values = {label: gap for item in agreements for label, gap in item.deviations.items()}
    rows = [
        System(label, item.recurring.name, item.recurring.frameworks[label])
        for item in agreements
        for label in item.values
    ]
    shown = Dots(f"{metric} minus the median of the frameworks", values, reference=0.0)
    chart = dots(shown, rows, view.frameworks)
    if chart is None:
        return []
    largest = max(agreements, key=lambda item: item.gap)
    sentence = (
        f"Dots on the line agree. The frameworks are furthest apart on {largest.recurring.name}: "
        f"{largest.gap:.{PRINTED}f}."
    )
    return [figure(f"Agreement by {metric}", sentence, chart)]
