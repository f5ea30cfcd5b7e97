"""A table for each metric of the decisions that each measure makes, coloured by option."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from markupsafe import Markup

from repro.audits.campaign.audit_results import AuditResults, doubtful, is_random, options_of, options_text
from repro.protocol import Value, registry
from repro.reports.html import Cell, Details, Heading, Table, link
from repro.runs.journal.audit_events import MeasureInferred

_COLOURS = 7


def policy_blocks(results: AuditResults) -> list[object]:
    """One table for each metric that measures are declared as."""
    groups: dict[str, list[MeasureInferred]] = {}
    for name, metric in results.measures.items():
        if name in results.inferred:
            groups.setdefault(metric, []).append(results.inferred[name])
    blocks: list[object] = [
        Heading("Policies", anchor="policies"),
        "What each evaluator decides, where not all decide the same. The most frequent option of a column is plain, "
        "others are coloured. Empty: not settled, the reason is shown when pointed at; ≈: options that never differ "
        "here.",
    ]
    order = sorted(groups, key=lambda metric: (-len(groups[metric]), metric))
    return [*blocks, *(_metric(metric, groups[metric], is_open=metric == order[0]) for metric in order)]


def _metric(metric: str, events: Sequence[MeasureInferred], *, is_open: bool) -> Details:
    decided = {key for event in events for key in event.policy}
    decisions = [key for key in registry() if key in decided]
    options = {key: common(events, key) for key in decisions}
    differing = [key for key in decisions if not options[key]]
    agreed = [f"{key} = {options_text(values)}" for key, values in options.items() if len(values) == 1]
    unseen = [key for key, values in options.items() if len(values) > 1]
    notes = [
        Markup("<p><small>{}: {}.</small></p>").format(title, ", ".join(names))
        for title, names in (
            ("All agree on" if len(events) > 1 else "It follows", agreed),
            ("No question shows a difference in", unseen),
        )
        if names
    ]
    count = "1 measure" if len(events) == 1 else f"{len(events)} measures, {_counted(len(differing))} taken differently"
    summary = Markup("<strong>{}</strong> {}").format(metric, count)
    return Details(summary, [_table(events, differing), *notes], is_open)


def _counted(decisions: int) -> str:
    return "1 decision" if decisions == 1 else f"{decisions or 'no'} decisions"


def common(events: Sequence[MeasureInferred], decision: str) -> tuple[Value, ...]:
    """The options of a decision that all measures share, among those for which it is settled."""
    settled = [options for event in events if (options := options_of(event, decision))]
    return tuple(value for value in settled[0] if all(value in options for options in settled)) if settled else ()


def _table(events: Sequence[MeasureInferred], decisions: Sequence[str]) -> Table:
    colours = {key: _colours(events, key) for key in decisions}
    header = [Cell(_breakable(key), title=registry()[key].question) for key in decisions]
    rows = []
    for event in events:
        evaluator, _, measure = event.name.partition(" ")
        label = Cell(Markup("{} {}").format(evaluator, link(event.page, measure)), is_header=True)
        rows.append([label, _status(event), *(_cell(event, key, colours[key]) for key in decisions)])
    return Table(["evaluator, measure", "explained", *header], rows, css="grid")


def _status(event: MeasureInferred) -> Cell:
    text: str = "no"
    if event.status == "explained":
        text = "in full"
    elif is_random(event):
        text = "random"
    elif event.policy:
        aspects = doubtful(event)
        text = Markup('<span title="{}">but for {}</span>').format(", ".join(aspects), len(aspects))
    return Cell(text, css=event.status.replace(" ", "-"))


def _colours(events: Sequence[MeasureInferred], decision: str) -> dict[Value, int]:
    """A number for each option, the most frequent first."""
    taken = Counter(options[0] for event in events if len(options := options_of(event, decision)) == 1)
    return {value: place for place, (value, _) in enumerate(taken.most_common())}


def _cell(event: MeasureInferred, decision: str, colours: dict[Value, int]) -> Cell:
    options = options_of(event, decision)
    if not options:
        return Cell("", css="open", title=why_open(event, decision))
    if len(options) > 1:
        return Cell("≈", css="open", title=options_text(options))
    colour, meaning = min(colours[options[0]], _COLOURS), registry()[decision].meaning(options[0])
    return Cell(options_text(options), css=f"o{colour}", title=meaning)


def why_open(event: MeasureInferred, decision: str) -> str:
    """The reason why a decision is not settled."""
    reasons = [entry.why for entry in event.unidentifiable if entry.decision == decision]
    if reasons:
        return reasons[0]
    if aspects := doubtful(event):
        return f"not explained: {', '.join(aspects)}"
    return "it has no effect here"


def _breakable(key: str) -> Markup:
    """A name that may break after its dots."""
    return Markup(".<wbr>").join(key.split("."))
