"""Derive findings from the facts and values of algorithms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter
from typing import Literal

from repro.evaluation.suspicion.facts import Facts
from repro.grouping import grouped
from repro.plugin import ScoreKind

Severity = Literal["warning", "note"]
Figure = int | float | str


@dataclass(frozen=True)
class Finding:
    """A suspicious property of the numbers of an algorithm.

    metric    the metric concerned, or an empty text
    figures   the numbers of the sentence, by name, and further ones for :func:`.summaries`
    others    the other algorithms concerned
    """

    code: str
    severity: Severity
    algorithm: str
    sentence: str
    metric: str = ""
    figures: Mapping[str, Figure] = field(default_factory=dict)
    others: tuple[str, ...] = ()


def number(value: Figure | None) -> str:
    """A figure as text."""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def joined(names: Sequence[str], last: str = "and") -> str:
    """Names as an enumeration in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def users_of(folds: Figure) -> str:
    """The unit of a number of users, who count in each fold."""
    return f"users of {folds} folds" if isinstance(folds, int) and folds > 1 else "users"


# Most improvements in papers are smaller than a tenth of the value.
WIDE = 0.1
# The share that counts as nearly all users, lists or scores.
NEARLY_ALL = 0.9


@dataclass(frozen=True)
class Value:
    """The value of a metric, with the lowest and highest value over orders of tied items, if they are known.

    ``folds`` has, for each fold, whether it has a value, and its number of users.
    """

    metric: str
    value: float
    lowest: float | None = None
    highest: float | None = None
    cutoff: int | None = None
    better: Literal["higher", "lower", "neither"] = "higher"
    folds: Mapping[str, tuple[bool, int]] = field(default_factory=dict)

    @property
    def width(self) -> float:
        return 0.0 if self.lowest is None or self.highest is None else self.highest - self.lowest

    @property
    def is_wide(self) -> bool:
        """Whether orders of tied items change the value by more than a tenth."""
        return self.width > WIDE * abs(self.value)

    @property
    def is_comparable(self) -> bool:
        """Whether the value can be compared with those of other algorithms."""
        return self.value == self.value and self.lowest is not None and self.better != "neither"

    @property
    def span(self) -> str:
        return f"{number(self.lowest)} to {number(self.highest)}"

    def figures(self, prefix: str = "") -> dict[str, Figure]:
        """The numbers of a value whose extremes are known, by name."""
        assert self.lowest is not None and self.highest is not None
        return {f"{prefix}value": self.value, f"{prefix}lowest": self.lowest, f"{prefix}highest": self.highest}


@dataclass(frozen=True)
class Subject:
    """An algorithm, or given lists, with its values and facts.

    use       framework/algorithm, if it is known
    scores    the kind of scores: predicted ratings, or scores for ranking only
    adapts    whether the algorithm itself adapts to constant ratings
    chosen    parameters whose value depends on the data, each with a sentence
    fitted_before   whether it was fitted before the study, and not on the training part of each fold
    leaks     how the held-out rows were used before the test, such as "fitted on all rows"
    lists, numbers  digests of the lists and of the values of all users: equal digests mean equal lists or values
    """

    name: str
    values: Sequence[Value]
    facts: Facts
    use: str = ""
    scores: ScoreKind = "unknown"
    adapts: bool = False
    chosen: Mapping[str, str] = field(default_factory=dict)
    lists: str = ""
    numbers: str = ""
    fitted_before: bool = False
    leaks: tuple[str, ...] = ()


def find_suspicious(subjects: Sequence[Subject], tie_rule: str, missing_rule: str = "") -> tuple[Finding, ...]:
    """The findings, warnings first, then in the order of the algorithms.

    ``tie_rule`` and ``missing_rule`` are the values of ``ties.break`` and ``missing.rank``.
    """
    findings = [finding for subject in subjects for finding in _of_subject(subject, tie_rule, missing_rule)]
    findings += _undecided_orders(subjects)
    findings += _identical(subjects)
    return tuple(sorted(findings, key=lambda finding: finding.severity != "warning"))


def _of_subject(subject: Subject, tie_rule: str, missing_rule: str) -> Iterator[Finding]:
    yield from (*_of_scores(subject, missing_rule), *_of_predictions(subject), *_of_ties(subject, tie_rule))
    yield from (*_of_ratings(subject), *_of_folds(subject))
    if subject.fitted_before:
        text = (
            f"{subject.name} was fitted before the study, and not on the training part of each fold: if it has seen "
            "rows that are held out, its values are too good."
        )
        yield Finding("model.fitted-before", "warning", subject.name, text)
    if subject.leaks:
        text = f"{subject.name} was {joined(subject.leaks)}: its values say nothing about new rows."
        yield Finding("test.used", "warning", subject.name, text, figures={"how": joined(subject.leaks)})


def _of_folds(subject: Subject) -> Iterator[Finding]:
    """Folds without a value that leave the average over folds undefined."""
    for value in subject.values:
        undefined = [fold for fold, (has_value, _) in value.folds.items() if not has_value]
        if value.value == value.value or not undefined:
            continue
        no_users = not any(value.folds[fold][1] for fold in undefined)
        why = " (nobody is averaged there: see average.nobody)" if no_users else ""
        folds_named = f"{_named_folds(undefined, len(value.folds))}{why}"
        text = f"{value.metric} of {subject.name} has no value in {folds_named}"
        text += ", so the value of all folds together is not a number." if len(value.folds) > 1 else "."
        figures = {"folds": ", ".join(undefined), "where": folds_named}
        yield Finding("folds.no-value", "warning", subject.name, text, value.metric, figures)


def _named_folds(folds: Sequence[str], total: int) -> str:
    if total == 1:
        return "its only fold"
    if len(folds) == total:
        return f"any of its {total:,} folds"
    return f"{'fold' if len(folds) == 1 else 'folds'} {joined(folds)} of {total:,}"


def _of_scores(subject: Subject, missing_rule: str) -> Iterator[Finding]:
    """Scores that are missing, constant or fallbacks, and empty lists."""
    name, facts = subject.name, subject.facts
    filled = facts.lists - facts.empty_lists
    rule = f'missing.rank = "{missing_rule}"' if missing_rule else "missing.rank"
    if facts.lists and facts.empty_lists == facts.lists:
        text = f"All {facts.lists:,} lists of {name} are empty, so its values say nothing about its recommendations."
        yield Finding("lists.empty", "warning", name, text, figures={"lists": facts.lists})
    if facts.scored_nothing:
        text = f"{name} scored none of the {facts.candidates:,} candidates: {rule} alone makes its lists."
        yield _shares("scores.missing", subject, text, facts.unscored, facts.candidates, of="candidates", rule=rule)
    elif facts.listed and facts.listed_unscored > facts.listed / 2:
        text = (
            f"{facts.listed_unscored:,} of {facts.listed:,} ranks ({facts.listed_unscored / facts.listed:.0%}) in the "
            f"lists of {name} have items without a score that counts, which {rule} placed there."
        )
        yield _shares("scores.missing", subject, text, facts.listed_unscored, facts.listed, of="places", rule=rule)
    elif facts.constant_lists and facts.constant_lists >= NEARLY_ALL * filled:
        text = (
            f"{_all_or_count(facts.constant_lists, filled, 'lists')} of {name} consist of items with the same "
            "score, so the tie rule alone makes their order."
        )
        yield _shares("scores.constant", subject, text, facts.constant_lists, filled)
    if facts.candidates and facts.fallback >= NEARLY_ALL * facts.candidates:
        scores = _all_or_count(facts.fallback, facts.candidates, "scores")
        text = f"{scores} of {name} are fallback scores of its framework."
        yield _shares("scores.fallback", subject, text, facts.fallback, facts.candidates)


def _of_predictions(subject: Subject) -> Iterator[Finding]:
    name, facts = subject.name, subject.facts
    if not facts.predictions:
        return
    if facts.predictions_missing == facts.predictions:
        text = f"{name} predicted none of the {facts.predictions:,} test ratings."
        yield _shares("predictions.missing", subject, text, facts.predictions_missing, facts.predictions)
    elif facts.predictions_fallback >= NEARLY_ALL * facts.predictions:
        fallback = _all_or_count(facts.predictions_fallback, facts.predictions, "predictions")
        text = f"{fallback} of {name} are fallbacks of its framework."
        yield _shares("predictions.fallback", subject, text, facts.predictions_fallback, facts.predictions)
    elif facts.prediction_range and facts.predictions > 1 and facts.prediction_range[0] == facts.prediction_range[1]:
        value = facts.prediction_range[0]
        text = f"{name} predicts the same rating, {value:g}, for all test pairs."
        yield Finding("predictions.constant", "warning", name, text, figures={"prediction": value})


def _of_ties(subject: Subject, tie_rule: str) -> Iterator[Finding]:
    """Metrics that the order of tied items decides, and ties across the cut-off that no other finding reports."""
    name, facts = subject.name, subject.facts
    if facts.scored_nothing:  # another finding reports it, and all items are tied
        return
    reported: set[int | None] = set()
    for value in subject.values:
        if not value.is_wide or value.lowest is None or value.highest is None:
            continue
        tied = facts.tied_users.get(value.cutoff or 0)
        decided = value.width > abs(value.value) or (tied is not None and tied >= NEARLY_ALL * facts.users)
        verdict = f"The ranking of {name} is made by the tie rule" if decided else f"Ties leave much of {name} open"
        text = (
            f'{verdict}: {value.metric} is {number(value.value)} with ties.break = "{tie_rule}", and orders of items '
            f"with equal scores give from {number(value.lowest)} to {number(value.highest)}"
        )
        if tied is not None:
            text += f"; {tied:,} of {facts.users:,} {users_of(facts.folds)} have a tie across rank {value.cutoff}"
        figures = value.figures() | {"rule": tie_rule, "decided": int(decided)}
        if tied is not None:
            figures |= {"tied_users": tied, "users": facts.users, "folds": facts.folds}
        yield Finding("ties.decide", "warning", name, f"{text}.", value.metric, figures)
        reported.add(value.cutoff)
    for cutoff, tied in facts.tied_users.items():
        if cutoff in reported or not facts.users or tied < NEARLY_ALL * facts.users:
            continue
        spans = [value for value in subject.values if value.cutoff == cutoff and value.lowest is not None]
        little = f" It changes little: {', '.join(f'{value.metric} {value.span}' for value in spans)}." if spans else ""
        users = _all_or_count(tied, facts.users, users_of(facts.folds))
        text = (
            f"{users} have a tie across rank {cutoff} in the lists of "
            f'{name}: ties.break = "{tie_rule}" chooses which items with equal scores are in the top {cutoff}.{little}'
        )
        severity: Severity = "note" if spans else "warning"
        counts: dict[str, Figure] = {"tied_users": tied, "users": facts.users, "folds": facts.folds}
        yield Finding("ties.cross", severity, name, text, figures=counts | {"k": cutoff, "rule": tie_rule})


def _of_ratings(subject: Subject) -> Iterator[Finding]:
    """The kind of scores, and whether the training ratings suffice for them."""
    name = subject.name
    for parameter, sentence in subject.chosen.items():
        text = f"{name}: the data decided {parameter}: {sentence}."
        yield Finding("parameter.chosen", "note", name, text, figures={"parameter": parameter, "why": sentence})
    if subject.scores != "ratings" or (subject.adapts and not subject.facts.ratings_vary):
        return
    if not subject.facts.ratings_vary:
        text = (
            f"{name} predicts ratings, and all training ratings are equal: they do not distinguish items. Use "
            "an algorithm, or a setting, for data without ratings."
        )
        yield Finding("ratings.constant", "warning", name, text)
    elif subject.facts.lists:
        text = (
            f"{name} ranks items by predicted ratings: items with few high ratings come before items with many good "
            "ones, so it may rank far worse than an algorithm that is made for ranking."
        )
        yield Finding("scores.ratings", "note", name, text)


def _undecided_orders(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Pairs of neighbours by a metric whose order depends on the order of tied items."""
    for metric in dict.fromkeys(value.metric for subject in subjects for value in subject.values):
        comparable = [
            (value, subject.name)
            for subject in subjects
            for value in subject.values
            if value.metric == metric and value.is_comparable and not value.is_wide
        ]
        comparable.sort(key=lambda pair: pair[0].value, reverse=True)
        for (upper, name), (lower, other) in pairwise(comparable):
            assert upper.lowest is not None and lower.highest is not None
            if upper.value == lower.value or lower.highest < upper.lowest or not upper.width + lower.width:
                continue
            text = (
                f"Which of {name} and {other} has the higher {metric} depends on the order of tied items: "
                f"{number(upper.value)} ({upper.span}) and {number(lower.value)} ({lower.span})."
            )
            figures = upper.figures() | lower.figures("other_")
            yield Finding("ties.order", "note", name, text, metric, figures, (other,))


def _identical(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Algorithms with the same lists, or the same values, for every user."""
    reported: set[tuple[str, ...]] = set()
    for kind, severity in (("lists", "warning"), ("numbers", "note")):
        known = (subject for subject in subjects if getattr(subject, kind))
        for group in grouped(known, attrgetter(kind)).values():
            names = tuple(subject.name for subject in group)
            if len(group) == 1 or names in reported:
                continue
            reported.add(names)
            same = "lists" if kind == "lists" else "values of every metric"
            text = f"{joined(names)} have the same {same} for every user."
            figures: dict[str, Figure] = {"what": same}
            agreed = _is_one_algorithm_of_several_frameworks(group)
            if agreed:
                figures["why"] = "the same algorithm of several frameworks"
                text += f" They are {figures['why']}."
            weaker: Severity = "note" if agreed or severity == "note" else "warning"
            yield Finding("entries.identical", weaker, names[0], text, figures=figures, others=names[1:])


def _is_one_algorithm_of_several_frameworks(group: Sequence[Subject]) -> bool:
    frameworks = {subject.use.partition("/")[0] for subject in group}
    return len({subject.use.partition("/")[2] for subject in group}) == 1 and len(frameworks) == len(group)


def _shares(code: str, subject: Subject, text: str, touched: int, total: int, **more: Figure) -> Finding:
    return Finding(code, "warning", subject.name, text, figures={"touched": touched, "total": total, **more})


def _all_or_count(touched: int, total: int, noun: str) -> str:
    return f"All {total:,} {noun}" if touched == total else f"{touched:,} of {total:,} {noun}"
