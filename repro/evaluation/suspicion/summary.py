"""Summaries of findings for readers: a paragraph for all findings with the same code."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from repro.errors import ReproWarning
from repro.evaluation.suspicion.search import Finding, Severity, joined, number, users_of
from repro.grouping import grouped

# The largest number of metrics of an algorithm in a line; the findings themselves have all.
SHOWN_METRICS = 3

Key = TypeVar("Key", bound=Hashable)
Paragraph = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Summary:
    """A paragraph about the findings with the same code and severity.

    algorithms  all algorithms concerned
    text        what the findings have in common
    lines       the figures of each algorithm, unless ``text`` has them: names, a colon, figures
    """

    code: str
    severity: Severity
    algorithms: tuple[str, ...]
    text: str
    lines: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join((self.text, *(f"  {line}" for line in self.lines)))


def summaries(findings: Iterable[Finding]) -> list[Summary]:
    """A paragraph for each code and severity, warnings first."""
    paragraphs = []
    for (severity, code), group in grouped(findings, lambda finding: (finding.severity, finding.code)).items():
        names = tuple(dict.fromkeys(name for finding in group for name in (finding.algorithm, *finding.others)))
        paragraphs.append(Summary(code, severity, names, *_paragraph(code, group)))
    return sorted(paragraphs, key=lambda finding: finding.severity != "warning")


def _paragraph(code: str, group: Sequence[Finding]) -> Paragraph:
    if len(group) == 1:
        return group[0].sentence, ()
    try:
        return PARAGRAPHS.get(code, _sentences)(group)
    except (LookupError, TypeError, ValueError):  # the journal is from a version of repro with other figures
        return _sentences(group)


def warn(findings: Iterable[Finding], stacklevel: int = 2) -> None:
    """Issue each paragraph of warnings as a Python warning; notes are only in the findings."""
    for paragraph in summaries(findings):
        if paragraph.severity == "warning":
            warnings.warn(str(paragraph), ReproWarning, stacklevel=stacklevel + 1)


def _clusters(
    group: Sequence[Finding], by: Callable[[Finding], Key], name: Callable[[Finding], str]
) -> dict[Key, list[str]]:
    """The names of findings with the same key, each once."""
    return {key: list(dict.fromkeys(map(name, findings))) for key, findings in grouped(group, by).items()}


def _algorithm(finding: Finding) -> str:
    return finding.algorithm


def _lines(common: str, figures: Callable[[Finding], str]) -> Callable[[Sequence[Finding]], Paragraph]:
    """A common sentence, in which {rule} stands for the rule of the protocol, and a line for each algorithm."""

    def paragraph(group: Sequence[Finding]) -> Paragraph:
        text = common.replace("{rule}", str(group[0].figures.get("rule", "")))
        return text, _alike(
            {name: ", ".join(map(figures, findings)) for name, findings in grouped(group, _algorithm).items()}
        )

    return paragraph


def _alike(text_of: Mapping[str, str]) -> tuple[str, ...]:
    """A line for each algorithm; algorithms with the same text share a line."""
    return tuple(
        f"{', '.join(algorithms)}: {text}" for text, algorithms in grouped(text_of, text_of.__getitem__).items()
    )


def _share(noun: str) -> Callable[[Finding], str]:
    return lambda finding: f"{finding.figures['touched']:,} of {finding.figures['total']:,} {noun}"


def _sentences(group: Sequence[Finding]) -> Paragraph:
    return f"{len(group):,} findings ({group[0].code}):", tuple(finding.sentence for finding in group)


def _ties_decide(group: Sequence[Finding]) -> Paragraph:
    groups = grouped(group, _algorithm)
    if len(groups) == 1:
        return f"{group[0].sentence} Likewise {', '.join(map(_span, group[1:]))}.", ()
    line_of = {}
    for name, findings in groups.items():
        parts = [
            f"{finding.metric} {number(finding.figures['value'])}{_span(finding)[len(finding.metric) :]}"
            for finding in findings
        ]
        more = len(parts) - SHOWN_METRICS
        line = f"{', '.join(parts[:SHOWN_METRICS])}{f' and {more} more metrics' if more > 0 else ''}"
        tied = [finding for finding in findings if "tied_users" in finding.figures]
        if tied:
            most = max(tied, key=lambda finding: finding.figures["tied_users"])
            line += f"; {_tied_users(most)} have a tie across the cut-off"
        if any(finding.figures["decided"] for finding in findings):
            line += "; the tie rule makes this ranking"
        line_of[name] = line
    text = (
        f'Orders of tied items give very different values. With ties.break = "{group[0].figures["rule"]}" they are as '
        "follows, in brackets the lowest and highest over all orders:"
    )
    return text, _alike(line_of)


def _span(finding: Finding) -> str:
    return f"{finding.metric} ({number(finding.figures['lowest'])} to {number(finding.figures['highest'])})"


def _tied_users(finding: Finding) -> str:
    return f"{finding.figures['tied_users']:,} of {finding.figures['users']:,} {users_of(finding.figures['folds'])}"


def _ties_cross(group: Sequence[Finding]) -> Paragraph:
    rule = group[0].figures["rule"]
    common = (
        f'Nearly all users have a tie across the cut-off, where ties.break = "{rule}" chooses which items with equal '
        "scores are listed"
    )
    if group[0].severity == "warning":
        return _lines(f"{common}:", lambda finding: f"{_tied_users(finding)} across rank {finding.figures['k']}")(group)
    ranks = _clusters(group, _algorithm, lambda finding: str(finding.figures["k"]))
    named = {name: f"{'rank' if len(cutoffs) == 1 else 'ranks'} {joined(cutoffs)}" for name, cutoffs in ranks.items()}
    listed = "; ".join(
        f"{cutoffs} of {', '.join(names)}" for cutoffs, names in grouped(named, named.__getitem__).items()
    )
    return f"{common}, which changes values little: {listed}.", ()


def _ties_order(group: Sequence[Finding]) -> Paragraph:
    pairs = _clusters(
        group, lambda finding: joined([finding.algorithm, *finding.others]), lambda finding: finding.metric
    )
    listed = "; ".join(f"{pair} ({', '.join(metrics)})" for pair, metrics in pairs.items())
    return f"Which of two has the higher value depends on the order of tied items: {listed}.", ()


def _names(common: str) -> Callable[[Sequence[Finding]], Paragraph]:
    """A common sentence that ends with the algorithms."""
    return lambda group: (f"{common} {', '.join(grouped(group, _algorithm))}.", ())


def _parameter_chosen(group: Sequence[Finding]) -> Paragraph:
    alike = _clusters(group, lambda finding: (finding.figures["parameter"], finding.figures["why"]), _algorithm)
    sentences = (
        f"The data decided {parameter} of {joined(names)}: {why}." for (parameter, why), names in alike.items()
    )
    return " ".join(sentences), ()


def _folds_no_value(group: Sequence[Finding]) -> Paragraph:
    line_of = {}
    for name, findings in grouped(group, _algorithm).items():
        metrics_by_folds = _clusters(findings, lambda finding: finding.figures["where"], lambda finding: finding.metric)
        line_of[name] = "; ".join(f"{', '.join(metrics)} in {folds}" for folds, metrics in metrics_by_folds.items())
    text = "Metrics have no value in some folds, so that those of all folds together are not numbers:"
    return text, _alike(line_of)


def _identical(group: Sequence[Finding]) -> Paragraph:
    alike = _clusters(
        group,
        lambda finding: (finding.figures["what"], finding.figures.get("why", "")),
        lambda finding: joined([finding.algorithm, *finding.others]),
    )
    sentences = []
    for (same, why), sets in alike.items():
        reason = f" ({why})" if why else ""
        sentences.append(f"These have the same {same} for every user{reason}: {'; '.join(sets)}.")
    return " ".join(sentences), ()


def _missing(finding: Finding) -> str:
    touched, total = finding.figures["touched"], finding.figures["total"]
    if finding.figures["of"] == "candidates":
        return f"no score for any of {total:,} candidates"
    return f"no score that counts in {touched:,} of {total:,} ranks"


PARAGRAPHS: dict[str, Callable[[Sequence[Finding]], Paragraph]] = {
    "ties.decide": _ties_decide,
    "ties.cross": _ties_cross,
    "ties.order": _ties_order,
    "scores.missing": _lines("Items without a score fill lists, where {rule} puts them:", _missing),
    "scores.constant": _lines(
        "Nearly all lists consist of items with the same score, so that the tie rule makes their order:",
        _share("lists"),
    ),
    "scores.fallback": _lines("Nearly all scores are fallback scores of frameworks:", _share("scores")),
    "scores.ratings": _names(
        "These rank items by predicted ratings: items with few high ratings come before items with many good ones, so "
        "they may rank far worse than algorithms that are made for ranking:"
    ),
    "predictions.missing": _lines(
        "No test rating was predicted:", lambda finding: f"0 of {finding.figures['total']:,}"
    ),
    "predictions.constant": _lines(
        "All test pairs have the same predicted rating:", lambda finding: f"{finding.figures['prediction']:g}"
    ),
    "predictions.fallback": _lines("Nearly all predictions are fallbacks of frameworks:", _share("predictions")),
    "lists.empty": _lines(
        "All lists are empty, so that the values say nothing about recommendations:",
        lambda finding: f"{finding.figures['lists']:,} lists",
    ),
    "ratings.constant": _names(
        "All training ratings are equal, so that predicted ratings do not distinguish items. Use algorithms, or "
        "settings, for data without ratings in place of"
    ),
    "parameter.chosen": _parameter_chosen,
    "model.fitted-before": _names(
        "These were fitted before the study, and not on the training part of each fold. If they have seen rows that "
        "are held out, their values are too good:"
    ),
    "test.used": _names(
        "The rows of the test were used before it, to fit or to choose parameters, so that the values say nothing "
        "about new rows:"
    ),
    "folds.no-value": _folds_no_value,
    "inputs.mismatch": _lines("The given lists do not match the truth:", lambda finding: finding.sentence),
    "entries.identical": _identical,
}
