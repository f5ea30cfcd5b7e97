"""For each metric, a table of the measures that agree with each other, and the smallest cases in which they do not."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from repro.audits.campaign.audit_results import AuditResults
from repro.audits.comparison.agreement import explaining_choices, kind_letters, option_text
from repro.reports.audit.audit_findings import case_text
from repro.reports.html import Cell, Details, Heading, Items, Table, link, render
from repro.runs.journal.audit_events import MetricCompared, PairEntry


def agreement_blocks(results: AuditResults) -> list[object]:
    heading = Heading("Who agrees with whom", anchor="agreement")
    if not results.compared:
        return [heading, "No two measures are declared as one metric."]
    explanation = (
        "All measures that are declared as one metric were asked the same questions. =: they agree to 12 digits in "
        "everything that both can be asked; a letter: the first questions in which they do not, and a link to the "
        "smallest case; –: no question to which both gave a number."
    )
    events = sorted(results.compared, key=lambda event: (-len(event.names), event.metric))
    return [heading, explanation, *(_metric(event, is_open=event is events[0]) for event in events)]


def _metric(event: MetricCompared, *, is_open: bool) -> Details:
    share = "" if event.share is None else f" ({event.share:.0%})"
    agreeing = f"{event.agreeing} of {event.compared} pairs agree{share}"
    cases = [_case(event, place) for place in range(len(event.cases))]
    blocks = [_grid(event), *_legend(event)]
    if cases:
        blocks.append(Details(f"Smallest cases of disagreement ({len(cases)})", cases))
    return Details(Markup("<strong>{}</strong> {}").format(event.metric, agreeing), blocks, is_open)


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
    linked: dict[str, list[str]] = {}
    for name in event.names:
        linked.setdefault(root(name), []).append(name)
    return sorted(linked.values(), key=lambda names: (-len(names), place[names[0]]))


def _grid(event: MetricCompared) -> Table:
    order = [name for group in groups(event) for name in group]
    by_pair = {frozenset((pair.first, pair.second)): pair for pair in event.pairs}
    letters = _letters(event)
    header = [Cell(""), *(Cell(str(place), title=name) for place, name in enumerate(order, 1))]
    rows = []
    for place, name in enumerate(order, 1):
        pairs = [None if name == other else by_pair[frozenset((name, other))] for other in order]
        cells = [_cell(event, pair, letters) for pair in pairs]
        rows.append([Cell(f"{place} {name}", is_header=True), *cells])
    return Table(header, rows, css="matrix")


def _first_kind(event: MetricCompared, pair: PairEntry) -> str:
    return event.cases[pair.case].kind if pair.case is not None else next(iter(pair.gaps))


def _letters(event: MetricCompared) -> dict[str, str]:
    return kind_letters({_first_kind(event, pair) for pair in event.pairs if pair.verdict == "differ"}, event.kinds)


def _cell(event: MetricCompared, pair: PairEntry | None, letters: Mapping[str, str]) -> Cell:
    if pair is None:
        return Cell("")
    if pair.verdict == "agree":
        return Cell("=", css="agree")
    if pair.verdict == "not compared":
        return Cell("–", css="open", title="no question to which both gave a number")
    kind = _first_kind(event, pair)
    choices = "; ".join(
        f"{choice.decision}: {option_text(choice.first)} and {option_text(choice.second)}" for choice in pair.choices
    )
    random = f"; random: {', '.join(pair.random)}" if pair.random else ""
    title = f"{pair.first} and {pair.second} differ: {kind}{random}{'; ' if choices else ''}{choices}"
    letter = letters.get(kind, "?")
    content = letter if pair.case is None else link(f"#{_anchor(event, pair.case)}", letter)
    return Cell(content, css="differ", title=title)


def _legend(event: MetricCompared) -> list[object]:
    letters = "; ".join(f"{letter}: {kind}" for kind, letter in _letters(event).items())
    legend = [Markup("<p><small>{}</small></p>").format(letters)] if letters else []
    alike = [", ".join(group) for group in groups(event) if len(group) > 1]
    return [*legend, "Linked by agreement:", Items(alike)] if alike else [*legend, "No two agree."]


def _anchor(event: MetricCompared, place: int) -> str:
    return f"{event.metric.replace('@', '-at-')}-case-{place + 1}"


def _case(event: MetricCompared, place: int) -> Markup:
    """A smallest case, each answer with the measures that give it, and the decisions that explain it."""
    case = event.cases[place]
    answers: dict[str, list[str]] = {}
    for name, answer in case.answers.items():
        answers.setdefault("no answer" if answer.startswith("an error") else answer, []).append(name)
    return render(
        "audit_case.html.j2",
        anchor=_anchor(event, place),
        title=f"{place + 1}. {case.kind}",
        question=case_text(case.case),
        answers=answers,
        explanations=explaining_choices(pair for pair in event.pairs if pair.case == place),
    )
