"""Findings as people read them: those of one code in one paragraph, what they share said once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from repro.errors import ReproWarning
from repro.evaluation.suspicion.finding import Finding, Severity, joined, number, users_of

# How many metrics of one algorithm a line has; the findings themselves have all.
SHOWN_METRICS = 3

Key = TypeVar("Key", bound=Hashable)
Paragraph = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Summary:
    """The findings of one code and severity; printed, it is a paragraph.

    algorithms  all that it is about
    text        what they have in common
    lines       what each algorithm has of its own, if ``text`` does not say it: names, a colon, figures
    """

    code: str
    severity: Severity
    algorithms: tuple[str, ...]
    text: str
    lines: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join((self.text, *(f"  {line}" for line in self.lines)))


def summaries(findings: Iterable[Finding]) -> list[Summary]:
    """One paragraph for each code and severity, whichever algorithms and metrics it is about; warnings first."""
    groups: dict[tuple[Severity, str], list[Finding]] = {}
    for one in findings:
        groups.setdefault((one.severity, one.code), []).append(one)
    made = []
    for (severity, code), group in groups.items():
        names = tuple(dict.fromkeys(name for one in group for name in (one.algorithm, *one.others)))
        made.append(Summary(code, severity, names, *_paragraph(code, group)))
    return sorted(made, key=lambda one: one.severity != "warning")


def _paragraph(code: str, group: Sequence[Finding]) -> Paragraph:
    if len(group) == 1:
        return group[0].sentence, ()
    try:
        return PARAGRAPHS.get(code, _sentences)(group)
    except (LookupError, TypeError, ValueError):  # the journal is from a version of repro with other figures
        return _sentences(group)


def warn(findings: Iterable[Finding], stacklevel: int = 2) -> None:
    """Give each paragraph of warnings as a Python warning; notes are left to who asks for the findings."""
    for one in summaries(findings):
        if one.severity == "warning":
            warnings.warn(str(one), ReproWarning, stacklevel=stacklevel + 1)


def _clusters(
    group: Sequence[Finding], by: Callable[[Finding], Key], name: Callable[[Finding], str]
) -> dict[Key, list[str]]:
    """The names of findings that are alike."""
    found: dict[Key, dict[str, None]] = {}
    for one in group:
        found.setdefault(by(one), {})[name(one)] = None
    return {key: list(names) for key, names in found.items()}


def _algorithm(one: Finding) -> str:
    return one.algorithm


def _by_algorithm(group: Sequence[Finding]) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for one in group:
        found.setdefault(one.algorithm, []).append(one)
    return found


def _lines(common: str, own: Callable[[Finding], str]) -> Callable[[Sequence[Finding]], Paragraph]:
    """A common sentence, in which {rule} is the rule of the protocol that it names, and a line for each algorithm."""

    def paragraph(group: Sequence[Finding]) -> Paragraph:
        text = common.replace("{rule}", str(group[0].figures.get("rule", "")))
        return text, _alike({name: ", ".join(map(own, some)) for name, some in _by_algorithm(group).items()})

    return paragraph


def _alike(own: Mapping[str, str]) -> tuple[str, ...]:
    """A line for each algorithm; those of which the same is said share one."""
    names: dict[str, list[str]] = {}
    for name, text in own.items():
        names.setdefault(text, []).append(name)
    return tuple(f"{', '.join(some)}: {text}" for text, some in names.items())


def _share(noun: str) -> Callable[[Finding], str]:
    return lambda one: f"{one.figures['touched']:,} of {one.figures['total']:,} {noun}"


def _sentences(group: Sequence[Finding]) -> Paragraph:
    return f"{len(group):,} findings ({group[0].code}):", tuple(one.sentence for one in group)


def _ties_decide(group: Sequence[Finding]) -> Paragraph:
    found = _by_algorithm(group)
    if len(found) == 1:
        return f"{group[0].sentence} Likewise {', '.join(map(_span, group[1:]))}.", ()
    own = {}
    for name, some in found.items():
        parts = [f"{one.metric} {number(one.figures['value'])}{_span(one)[len(one.metric) :]}" for one in some]
        more = len(parts) - SHOWN_METRICS
        line = f"{', '.join(parts[:SHOWN_METRICS])}{f' and {more} more metrics' if more > 0 else ''}"
        tied = [one for one in some if "tied_users" in one.figures]
        if tied:
            line += (
                f"; {_tied_users(max(tied, key=lambda one: one.figures['tied_users']))} have a tie across the cut-off"
            )
        if any(one.figures["decided"] for one in some):
            line += "; the tie rule makes this ranking"
        own[name] = line
    text = (
        f'Orders of tied items give very different values. With ties.break = "{group[0].figures["rule"]}" they are as '
        "follows, in brackets the lowest and highest over all orders:"
    )
    return text, _alike(own)


def _span(one: Finding) -> str:
    return f"{one.metric} ({number(one.figures['lowest'])} to {number(one.figures['highest'])})"


def _tied_users(one: Finding) -> str:
    return f"{one.figures['tied_users']:,} of {one.figures['users']:,} {users_of(one.figures['folds'])}"


def _ties_cross(group: Sequence[Finding]) -> Paragraph:
    rule = group[0].figures["rule"]
    common = (
        f'Nearly all users have a tie across the cut-off, where ties.break = "{rule}" chooses which items with equal '
        "scores are listed"
    )
    if group[0].severity == "warning":
        return _lines(f"{common}:", lambda one: f"{_tied_users(one)} across rank {one.figures['k']}")(group)
    ranks = _clusters(group, _algorithm, lambda one: str(one.figures["k"]))
    alike: dict[str, list[str]] = {}
    for name, some in ranks.items():
        alike.setdefault(f"{'rank' if len(some) == 1 else 'ranks'} {joined(some)}", []).append(name)
    where = "; ".join(f"{some} of {', '.join(names)}" for some, names in alike.items())
    return f"{common}, which changes values little: {where}.", ()


def _ties_order(group: Sequence[Finding]) -> Paragraph:
    pairs = _clusters(group, lambda one: joined([one.algorithm, *one.others]), lambda one: one.metric)
    listed = "; ".join(f"{pair} ({', '.join(metrics)})" for pair, metrics in pairs.items())
    return f"Which of two has the higher value depends on the order of tied items: {listed}.", ()


def _names(common: str) -> Callable[[Sequence[Finding]], Paragraph]:
    """A common sentence that ends with the algorithms."""
    return lambda group: (f"{common} {', '.join(_by_algorithm(group))}.", ())


def _parameter_chosen(group: Sequence[Finding]) -> Paragraph:
    alike = _clusters(group, lambda one: (one.figures["parameter"], one.figures["why"]), _algorithm)
    told = (f"The data decided {what} of {joined(names)}: {why}." for (what, why), names in alike.items())
    return " ".join(told), ()


def _folds_no_value(group: Sequence[Finding]) -> Paragraph:
    own = {}
    for name, some in _by_algorithm(group).items():
        places = _clusters(some, lambda one: one.figures["where"], lambda one: one.metric)
        own[name] = "; ".join(f"{', '.join(metrics)} in {where}" for where, metrics in places.items())
    text = "Metrics have no value in some folds, so that those of all folds together are not numbers:"
    return text, _alike(own)


def _identical(group: Sequence[Finding]) -> Paragraph:
    alike = _clusters(
        group,
        lambda one: (one.figures["what"], one.figures.get("why", "")),
        lambda one: joined([one.algorithm, *one.others]),
    )
    told = []
    for (what, why), sets in alike.items():
        reason = f" ({why})" if why else ""
        told.append(f"These have the same {what} for every user{reason}: {'; '.join(sets)}.")
    return " ".join(told), ()


def _missing(one: Finding) -> str:
    touched, total = one.figures["touched"], one.figures["total"]
    if one.figures["of"] == "candidates":
        return f"no score for any of {total:,} candidates"
    return f"no score that counts in {touched:,} of {total:,} places"


PARAGRAPHS: dict[str, Callable[[Sequence[Finding]], Paragraph]] = {
    "ties.decide": _ties_decide,
    "ties.cross": _ties_cross,
    "ties.order": _ties_order,
    "scores.missing": _lines("Items without a score fill lists, where {rule} puts them:", _missing),
    "scores.constant": _lines(
        "Nearly all lists consist of items with one and the same score, so that the tie rule makes their order:",
        _share("lists"),
    ),
    "scores.fallback": _lines("Frameworks made up nearly all scores:", _share("scores")),
    "scores.ratings": _names(
        "These rank items by the ratings that they predict: few high ratings come before many good ones, so they may "
        "rank far worse than algorithms that are made for ranking:"
    ),
    "predictions.missing": _lines("No held-out rating was predicted:", lambda one: f"0 of {one.figures['total']:,}"),
    "predictions.constant": _lines(
        "All held-out pairs have the same predicted rating:", lambda one: f"{one.figures['prediction']:g}"
    ),
    "predictions.fallback": _lines("Frameworks made up nearly all predictions:", _share("predictions")),
    "lists.empty": _lines(
        "All lists are empty, so that the values say nothing about recommendations:",
        lambda one: f"{one.figures['lists']:,} lists",
    ),
    "ratings.constant": _names(
        "All training ratings are equal, so that predicted ratings do not tell items apart. Use algorithms, or "
        "settings, for data without ratings in place of"
    ),
    "parameter.chosen": _parameter_chosen,
    "folds.no-value": _folds_no_value,
    "inputs.mismatch": _lines("What was given does not meet the truth:", lambda one: one.sentence),
    "entries.identical": _identical,
}
