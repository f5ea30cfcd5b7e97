"""Who decides what: for each metric a table of measures by decisions, coloured by option."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from repro.audit.campaign.audit_results import Survey, doubtful, is_random, options_of
from repro.protocol import Value, registry
from repro.runs.journal.audit_events import MeasureInferred

_COLOURS = 7


def policy_section(survey: Survey) -> list[str]:
    """One table for each metric that measures are taken for."""
    groups: dict[str, list[MeasureInferred]] = {}
    for name, metric in survey.measures.items():
        if name in survey.inferred:
            groups.setdefault(metric, []).append(survey.inferred[name])
    lines = [
        '<h2 id="policies">Policies</h2>',
        "<p>What each evaluator decides, where not all decide the same. The most frequent option of a column is plain, "
        "others are coloured. Empty: not settled, the reason is shown when pointed at; ≈: options that never differ "
        "here.</p>",
    ]
    order = sorted(groups, key=lambda one: (-len(groups[one]), one))
    return [*lines, *(_metric(metric, groups[metric], is_open=metric == order[0]) for metric in order)]


def _metric(metric: str, events: Sequence[MeasureInferred], *, is_open: bool) -> str:
    decided = {key for event in events for key in event.policy}
    decisions = [key for key in registry() if key in decided]
    options = {key: common(events, key) for key in decisions}
    differing = [key for key in decisions if not options[key]]
    agreed = [f"{key} = {_text(found[0])}" for key, found in options.items() if len(found) == 1]
    unseen = [key for key, found in options.items() if len(found) > 1]
    below = [
        f"{what}: {escape(', '.join(found))}."
        for what, found in (
            ("All agree on" if len(events) > 1 else "It follows", agreed),
            ("No question shows a difference in", unseen),
        )
        if found
    ]
    told = "1 measure" if len(events) == 1 else f"{len(events)} measures, {_counted(len(differing))} taken differently"
    summary = f"<summary><strong>{escape(metric)}</strong> {told}</summary>"
    notes = "".join(f"<p><small>{text}</small></p>" for text in below)
    return f"<details{' open' if is_open else ''}>{summary}{_table(events, differing)}{notes}</details>"


def _counted(decisions: int) -> str:
    return "1 decision" if decisions == 1 else f"{decisions or 'no'} decisions"


def common(events: Sequence[MeasureInferred], decision: str) -> tuple[Value, ...]:
    """The options of a decision that all measures may take for which it is settled."""
    found = [options for event in events if (options := options_of(event, decision))]
    return tuple(value for value in found[0] if all(value in options for options in found)) if found else ()


def _table(events: Sequence[MeasureInferred], decisions: Sequence[str]) -> str:
    known = registry()
    columns = {key: _colours(events, key) for key in decisions}
    head = "".join(f'<th scope="col" title="{escape(known[key].question)}">{_breakable(key)}</th>' for key in decisions)
    rows = []
    for event in events:
        evaluator, _, measure = event.name.partition(" ")
        label = f'{escape(evaluator)} <a href="{escape(event.page)}">{escape(measure)}</a>'
        status = f'<td class="{event.status.replace(" ", "-")}">{_status(event)}</td>'
        cells = "".join(_cell(event, key, columns[key]) for key in decisions)
        rows.append(f'<tr><th scope="row">{label}</th>{status}{cells}</tr>')
    top = f'<tr><th scope="col">evaluator, measure</th><th scope="col">explained</th>{head}</tr>'
    return f'<div class="wide"><table class="grid"><thead>{top}</thead><tbody>{"".join(rows)}</tbody></table></div>'


def _status(event: MeasureInferred) -> str:
    if event.status == "explained":
        return "in full"
    if is_random(event):
        return "random"
    if not event.policy:
        return "no"
    aspects = doubtful(event)
    return f'<span title="{escape(", ".join(aspects))}">but for {len(aspects)}</span>'


def _colours(events: Sequence[MeasureInferred], decision: str) -> dict[Value, int]:
    """A number for each option, the most frequent first."""
    taken = Counter(options[0] for event in events if len(options := options_of(event, decision)) == 1)
    return {value: place for place, (value, _) in enumerate(taken.most_common())}


def _cell(event: MeasureInferred, decision: str, colours: dict[Value, int]) -> str:
    options = options_of(event, decision)
    if not options:
        return f'<td class="open" title="{escape(why_open(event, decision))}"></td>'
    if len(options) > 1:
        return f'<td class="open" title="{escape(" or ".join(map(_text, options)))}">≈</td>'
    [value] = options
    title = registry()[decision].meaning(value)
    return f'<td class="o{min(colours[value], _COLOURS)}" title="{escape(title)}">{escape(_text(value))}</td>'


def why_open(event: MeasureInferred, decision: str) -> str:
    """Why a decision is not settled."""
    reasons = [one.why for one in event.unidentifiable if one.decision == decision]
    if reasons:
        return reasons[0]
    if aspects := doubtful(event):
        return f"not explained: {', '.join(aspects)}"
    return "it has no effect here"


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _breakable(key: str) -> str:
    return escape(key).replace(".", ".<wbr>")
