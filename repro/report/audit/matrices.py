"""Who agrees with whom: a grid for each metric, and the smallest cases in which they do not."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from html import escape

from repro.audit.campaign.audit_results import Survey
from repro.protocol import Value, toml_value
from repro.report.audit.findings import case_text
from repro.runs.journal.audit_events import MetricCompared, PairEntry

_LETTERS = [*string.ascii_lowercase, *(f"a{letter}" for letter in string.ascii_lowercase)]


def agreement_section(survey: Survey) -> list[str]:
    lines = ['<h2 id="agreement">Who agrees with whom</h2>']
    if not survey.compared:
        return [*lines, "<p>No two measures are taken for one metric.</p>"]
    lines.append(
        "<p>All measures that are taken for one metric were asked the same questions. =: they agree to 12 digits in "
        "everything that both can be asked; a letter: the first questions in which they do not, and a link to the "
        "smallest case; –: never did both give a number.</p>"
    )
    events = sorted(survey.compared, key=lambda one: (-len(one.names), one.metric))
    return [*lines, *(_metric(event, is_open=event is events[0]) for event in events)]


def _metric(event: MetricCompared, *, is_open: bool) -> str:
    share = "" if event.share is None else f" ({event.share:.0%})"
    summary = f"<strong>{escape(event.metric)}</strong> {event.agreeing} of {event.compared} pairs agree{share}"
    cases = "".join(_case(event, place) for place in range(len(event.cases)))
    below = f"<details><summary>Smallest cases of disagreement ({len(event.cases)})</summary>{cases}</details>"
    shown = f"{_grid(event)}{_legend(event)}{below if cases else ''}"
    return f"<details{' open' if is_open else ''}><summary>{summary}</summary>{shown}</details>"


def groups(event: MetricCompared) -> list[list[str]]:
    """The measures, those together that are linked by agreement, the largest group first."""
    place = {name: number for number, name in enumerate(event.names)}
    group = {name: name for name in event.names}

    def root(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    for pair in event.pairs:
        if pair.verdict == "agree":
            group[root(pair.second)] = root(pair.first)
    found: dict[str, list[str]] = {}
    for name in event.names:
        found.setdefault(root(name), []).append(name)
    return sorted(found.values(), key=lambda names: (-len(names), place[names[0]]))


def _grid(event: MetricCompared) -> str:
    order = [name for group in groups(event) for name in group]
    by_pair = {frozenset((pair.first, pair.second)): pair for pair in event.pairs}
    letters = _letters(event)
    head = "".join(f'<th scope="col" title="{escape(name)}">{place}</th>' for place, name in enumerate(order, 1))
    rows = []
    for place, name in enumerate(order, 1):
        pairs = [None if name == other else by_pair[frozenset((name, other))] for other in order]
        cells = "".join(_cell(event, pair, letters) for pair in pairs)
        rows.append(f'<tr><th scope="row">{place} {escape(name)}</th>{cells}</tr>')
    top = f'<tr><th scope="col"></th>{head}</tr>'
    return f'<div class="wide"><table class="matrix"><thead>{top}</thead><tbody>{"".join(rows)}</tbody></table></div>'


def _first_kind(event: MetricCompared, pair: PairEntry) -> str:
    return event.cases[pair.case].kind if pair.case is not None else next(iter(pair.gaps))


def _letters(event: MetricCompared) -> dict[str, str]:
    """A letter for each kind of questions that is the first to tell a pair apart."""
    used = {_first_kind(event, pair) for pair in event.pairs if pair.verdict == "differ"}
    return dict(zip(sorted(used, key=event.kinds.index), _LETTERS, strict=False))


def _cell(event: MetricCompared, pair: PairEntry | None, letters: Mapping[str, str]) -> str:
    if pair is None:
        return "<td></td>"
    if pair.verdict == "agree":
        return '<td class="agree">=</td>'
    if pair.verdict == "not compared":
        return '<td class="open" title="never did both give a number">–</td>'
    kind = _first_kind(event, pair)
    choices = "; ".join(f"{one.decision}: {_value(one.first)} and {_value(one.second)}" for one in pair.choices)
    random = f"; random: {', '.join(pair.random)}" if pair.random else ""
    title = f"{pair.first} and {pair.second} differ: {kind}{random}{'; ' if choices else ''}{choices}"
    letter = letters.get(kind, "?")
    link = letter if pair.case is None else f'<a href="#{_anchor(event, pair.case)}">{letter}</a>'
    return f'<td class="differ" title="{escape(title)}">{link}</td>'


def _legend(event: MetricCompared) -> str:
    told = "; ".join(f"{letter}: {kind}" for kind, letter in _letters(event).items())
    alike = [group for group in groups(event) if len(group) > 1]
    items = "".join(f"<li>{escape(', '.join(group))}</li>" for group in alike)
    text = f"<p><small>{escape(told)}</small></p>" if told else ""
    return text + (f"<p>Linked by agreement:</p><ul>{items}</ul>" if items else "<p>No two agree.</p>")


def _anchor(event: MetricCompared, place: int) -> str:
    return f"{event.metric.replace('@', '-at-')}-case-{place + 1}"


def _case(event: MetricCompared, place: int) -> str:
    """A smallest case, each answer with those who gave it, and the decisions that explain it."""
    case = event.cases[place]
    said: dict[str, list[str]] = {}
    for name, answer in case.answers.items():
        said.setdefault("no answer" if answer.startswith("an error") else answer, []).append(name)
    answers = "".join(
        f"<li><strong>{escape(answer)}</strong> {escape(', '.join(names))}</li>" for answer, names in said.items()
    )
    explained = "".join(f"<li>{escape(text)}</li>" for text in _explained([p for p in event.pairs if p.case == place]))
    because = f"<p>Explained by</p><ul>{explained}</ul>" if explained else ""
    title = f'<h4 id="{_anchor(event, place)}">{place + 1}. {escape(case.kind)}</h4>'
    return f'{title}<pre>{escape(case_text(case.case))}</pre><ul class="answers">{answers}</ul>{because}'


def _explained(pairs: Sequence[PairEntry]) -> list[str]:
    """For each decision that explains a difference of these pairs, who takes it how."""
    taken: dict[str, dict[str, dict[str, None]]] = {}
    for pair in pairs:
        for choice in pair.choices:
            ways = taken.setdefault(choice.decision, {})
            ways.setdefault(_value(choice.first), {})[pair.first] = None
            ways.setdefault(_value(choice.second), {})[pair.second] = None
    return [
        f"{decision} = " + "; ".join(f"{value} ({', '.join(names)})" for value, names in ways.items())
        for decision, ways in taken.items()
    ]


def _value(value: Value | None) -> str:
    return "(no effect)" if value is None else toml_value(value)
