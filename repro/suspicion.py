"""What is suspicious about the numbers of algorithms, said by algorithm before anybody believes them.

Studies and :func:`repro.evaluate` count facts while they measure (:class:`Facts`), and put each algorithm with its
values into a :class:`Subject`; :func:`find_suspicious` makes findings of them. A finding is a ``warning`` where a value
should not be believed as it stands, and a ``note`` where it should be read with something in mind.

Codes, which stay the same from version to version:

ties.decide           orders of tied items give very different values
ties.cross            nearly all users have a tie across the cut-off
ties.order            the order of tied items decides which of two algorithms is better
scores.missing        the algorithm scored nothing, or little of what is listed
scores.constant       nearly all lists consist of items with one and the same score
scores.fallback       the framework made up nearly all scores
scores.ratings        an algorithm that predicts ratings is asked for rankings
predictions.missing, predictions.constant, predictions.fallback   likewise, of predicted ratings
lists.empty           all lists are empty
ratings.constant      an algorithm that predicts ratings learned from ratings that are all equal
parameter.chosen      the data decided the value of a parameter
folds.no-value        a fold has no value of a metric, so that all folds together have none
inputs.mismatch       lists given to :func:`repro.evaluate` that do not meet the truth, such as ids that nobody knows
entries.identical     two algorithms have the same lists, or the same values, for every user
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from repro.errors import ReproWarning
from repro.plugin import FALLBACK, UNSCORED, ScoreKind, Scores
from repro.ranking import Tally

# An interval as wide as a tenth of the value holds most differences that papers report as improvements.
WIDE = 0.1
# What counts as nearly all users, lists or scores.
NEARLY_ALL = 0.9

Severity = Literal["warning", "note"]
Figure = int | float | str
IntArray = npt.NDArray[Any]


@dataclass(frozen=True)
class Finding:
    """One thing that is suspicious about one algorithm.

    metric    the metric that it is about, or an empty text
    figures   the numbers of the sentence, by name
    """

    code: str
    severity: Severity
    algorithm: str
    sentence: str
    metric: str = ""
    figures: Mapping[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """What was counted while an algorithm was measured; ``+`` adds what was counted on another fold.

    candidates       the scores that the algorithm was asked for, of which it gave none for ``unscored`` and the
                     framework made up ``fallback``
    constant_lists   lists of several items that all have the same score; ``empty_lists`` have no item
    listed           places of all lists down to the deepest cut-off, of which ``listed_unscored`` are taken by items
                     without a score of their own
    tied_users       by cut-off, how many users have a tie across it
    predictions      held-out pairs that the algorithm was asked to predict, of which ``predictions_missing`` have no
                     prediction and the framework made up ``predictions_fallback``
    prediction_range the lowest and the highest prediction, where there are any
    ratings_vary     whether the training rows have more than one rating
    """

    folds: int = 0
    users: int = 0
    lists: int = 0
    candidates: int = 0
    unscored: int = 0
    fallback: int = 0
    constant_lists: int = 0
    empty_lists: int = 0
    listed: int = 0
    listed_unscored: int = 0
    tied_users: Mapping[int, int] = field(default_factory=dict)
    predictions: int = 0
    predictions_missing: int = 0
    predictions_fallback: int = 0
    prediction_range: tuple[float, float] | None = None
    ratings_vary: bool = True

    def __add__(self, other: Facts) -> Facts:
        counts = {
            one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self) if one.default == 0
        }
        cutoffs = sorted({*self.tied_users, *other.tied_users})
        ranges = [one for one in (self.prediction_range, other.prediction_range) if one is not None]
        return Facts(
            **counts,
            tied_users={k: self.tied_users.get(k, 0) + other.tied_users.get(k, 0) for k in cutoffs},
            prediction_range=(min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else None,
            ratings_vary=self.ratings_vary and other.ratings_vary,
        )

    @property
    def scored_nothing(self) -> bool:
        """Whether the algorithm was asked for scores and gave none."""
        return bool(self.candidates) and self.unscored == self.candidates

    @property
    def users_noun(self) -> str:
        """What ``users`` counts: a user counts in each fold."""
        return "users" if self.folds <= 1 else f"users of {self.folds} folds"


def list_facts(tally: Tally, lengths: IntArray, items: IntArray, scored: IntArray) -> Facts:
    """What was counted of lists: their lengths, the items in their first places, and whether these have a score."""
    listed = items >= 0
    return Facts(
        users=tally.users,
        lists=tally.lists,
        candidates=tally.candidates,
        unscored=tally.unscored,
        fallback=tally.fallback,
        constant_lists=tally.constant_lists,
        empty_lists=int((lengths == 0).sum()),
        listed=int(listed.sum()),
        listed_unscored=int((listed & (scored == 0)).sum()),
        tied_users=dict(zip(tally.cutoffs, tally.users_tied.tolist(), strict=True)),
    )


def prediction_facts(predicted: Scores) -> Facts:
    """What was counted of predictions, one for each held-out pair."""
    state = np.zeros(len(predicted.values), dtype=np.uint8) if predicted.state is None else predicted.state
    missing = np.isnan(predicted.values) | (state == UNSCORED)
    given = predicted.values[~missing]
    return Facts(
        predictions=len(predicted.values),
        predictions_missing=int(missing.sum()),
        predictions_fallback=int((state == FALLBACK).sum()),
        prediction_range=(float(given.min()), float(given.max())) if len(given) else None,
    )


@dataclass(frozen=True)
class Value:
    """The value of a metric, and the lowest and highest that any order of tied items gives, where they are known.

    ``folds`` are the folds that it is made of, each with whether it has a value and how many users are in it.
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
        """Whether tied items leave more open than a tenth of the value."""
        return self.width > WIDE * abs(self.value)

    @property
    def has_place(self) -> bool:
        """Whether it can be compared with the values of others."""
        return self.value == self.value and self.lowest is not None and self.better != "neither"

    @property
    def span(self) -> str:
        return f"{_number(self.lowest)} to {_number(self.highest)}"


@dataclass(frozen=True)
class Subject:
    """An algorithm, or lists that come from elsewhere, with what is known of it.

    use       framework/algorithm, where it is known
    scores    what its scores are: predicted ratings, or numbers that only serve to rank
    adapts    whether the algorithm itself looks at whether ratings vary
    chosen    parameters that the data decided, each with a sentence
    lists, numbers  identify its lists and its values of every user: equal texts mean equal lists or values
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


@dataclass(frozen=True)
class Summary:
    """Findings of one kind about one algorithm, in one paragraph."""

    severity: Severity
    algorithm: str
    text: str


def find_suspicious(subjects: Sequence[Subject], tie_rule: str, missing_rule: str = "") -> tuple[Finding, ...]:
    """What is suspicious, warnings first, then in the order of the algorithms.

    ``tie_rule`` and ``missing_rule`` are the values of ``ties.break`` and ``missing.rank``.
    """
    found = [one for subject in subjects for one in _of_subject(subject, tie_rule, missing_rule)]
    found += _undecided_orders(subjects)
    found += _identical(subjects)
    return tuple(sorted(found, key=lambda one: one.severity != "warning"))


def summaries(findings: Iterable[Finding]) -> list[Summary]:
    """What people read: findings of the same kind about an algorithm are one text, whichever metrics they are about."""
    groups: dict[tuple[str, str, Figure], list[Finding]] = {}
    for one in findings:
        apart = one.figures.get("other", one.figures.get("folds", ""))
        groups.setdefault((one.code, one.algorithm, apart), []).append(one)
    made = []
    for first, *others in groups.values():
        text = first.sentence
        if others:
            text += f" Likewise {', '.join(map(_in_brief, others))}."
        severity: Severity = "warning" if any(one.severity == "warning" for one in (first, *others)) else "note"
        made.append(Summary(severity, first.algorithm, text))
    return made


def warn(findings: Iterable[Finding], stacklevel: int = 2) -> None:
    """Say what is suspicious as Python warnings; notes are left to who asks for the findings."""
    for one in summaries(findings):
        if one.severity == "warning":
            warnings.warn(one.text, ReproWarning, stacklevel=stacklevel + 1)


def _in_brief(one: Finding) -> str:
    if "lowest" not in one.figures:
        return one.metric
    return f"{one.metric} ({_number(one.figures['lowest'])} to {_number(one.figures['highest'])})"


def _of_subject(subject: Subject, tie_rule: str, missing_rule: str) -> Iterator[Finding]:
    yield from _of_scores(subject, missing_rule)
    yield from _of_predictions(subject)
    yield from _of_ties(subject, tie_rule)
    yield from _of_ratings(subject)
    yield from _of_folds(subject)


def _of_folds(subject: Subject) -> Iterator[Finding]:
    """Folds without a value, where they leave all folds together without one."""
    for one in subject.values:
        lacking = [fold for fold, (has_value, _) in one.folds.items() if not has_value]
        if one.value == one.value or not lacking:
            continue
        nobody = not any(one.folds[fold][1] for fold in lacking)
        why = " (nobody is averaged there: see average.nobody)" if nobody else ""
        where = _named_folds(lacking, len(one.folds))
        text = f"{one.metric} of {subject.name} has no value in {where}{why}"
        text += ", so the value of all folds together is not a number." if len(one.folds) > 1 else "."
        yield Finding("folds.no-value", "warning", subject.name, text, one.metric, {"folds": ", ".join(lacking)})


def _named_folds(some: Sequence[str], total: int) -> str:
    if total == 1:
        return "its only fold"
    if len(some) == total:
        return f"any of its {total:,} folds"
    named = f"fold {some[0]}" if len(some) == 1 else f"folds {', '.join(some[:-1])} and {some[-1]}"
    return f"{named} of {total:,}"


def _of_scores(subject: Subject, missing_rule: str) -> Iterator[Finding]:
    """Scores that are missing, equal or made up, and lists that are empty."""
    name, facts = subject.name, subject.facts
    filled = facts.lists - facts.empty_lists
    rule = f'missing.rank = "{missing_rule}"' if missing_rule else "missing.rank"
    if facts.lists and facts.empty_lists == facts.lists:
        text = f"All {facts.lists:,} lists of {name} are empty, so its values say nothing about its recommendations."
        yield Finding("lists.empty", "warning", name, text, figures={"lists": facts.lists})
    if facts.scored_nothing:
        text = f"{name} scored none of the {facts.candidates:,} candidates: its lists are what {rule} makes of that."
        yield _shares("scores.missing", subject, text, facts.unscored, facts.candidates)
    elif facts.listed and facts.listed_unscored > facts.listed / 2:
        text = (
            f"{facts.listed_unscored:,} of {facts.listed:,} places ({facts.listed_unscored / facts.listed:.0%}) in the "
            f"lists of {name} are taken by items without a score that counts: {rule} put them there."
        )
        yield _shares("scores.missing", subject, text, facts.listed_unscored, facts.listed)
    elif facts.constant_lists and facts.constant_lists >= NEARLY_ALL * filled:
        text = (
            f"{_all_or_count(facts.constant_lists, filled, 'lists')} of {name} consist of items with one and the "
            "same score: their order is made by the tie rule."
        )
        yield _shares("scores.constant", subject, text, facts.constant_lists, filled)
    if facts.candidates and facts.fallback >= NEARLY_ALL * facts.candidates:
        text = f"{_all_or_count(facts.fallback, facts.candidates, 'scores')} of {name} were made up by its framework."
        yield _shares("scores.fallback", subject, text, facts.fallback, facts.candidates)


def _of_predictions(subject: Subject) -> Iterator[Finding]:
    name, facts = subject.name, subject.facts
    if not facts.predictions:
        return
    if facts.predictions_missing == facts.predictions:
        text = f"{name} predicted none of the {facts.predictions:,} held-out ratings."
        yield _shares("predictions.missing", subject, text, facts.predictions_missing, facts.predictions)
    elif facts.predictions_fallback >= NEARLY_ALL * facts.predictions:
        made_up = _all_or_count(facts.predictions_fallback, facts.predictions, "predictions")
        text = f"{made_up} of {name} were made up by its framework."
        yield _shares("predictions.fallback", subject, text, facts.predictions_fallback, facts.predictions)
    elif facts.prediction_range and facts.predictions > 1 and facts.prediction_range[0] == facts.prediction_range[1]:
        value = facts.prediction_range[0]
        text = f"{name} predicts the same rating, {value:g}, for all held-out pairs."
        yield Finding("predictions.constant", "warning", name, text, figures={"prediction": value})


def _of_ties(subject: Subject, tie_rule: str) -> Iterator[Finding]:
    """What the order of tied items decides, by metric; and ties across the cut-off, where nothing else says so."""
    name, facts = subject.name, subject.facts
    if facts.scored_nothing:  # that is said, and everything is tied then
        return
    told: set[int | None] = set()
    for one in subject.values:
        if not one.is_wide or one.lowest is None or one.highest is None:
            continue
        tied = facts.tied_users.get(one.cutoff or 0)
        decided = one.width > abs(one.value) or (tied is not None and tied >= NEARLY_ALL * facts.users)
        what = f"The ranking of {name} is made by the tie rule" if decided else f"Ties leave much of {name} open"
        text = (
            f'{what}: {one.metric} is {_number(one.value)} with ties.break = "{tie_rule}", and orders of items with '
            f"equal scores give from {_number(one.lowest)} to {_number(one.highest)}"
        )
        if tied is not None:
            text += f"; {tied:,} of {facts.users:,} {facts.users_noun} have a tie across rank {one.cutoff}"
        figures: dict[str, Figure] = {"value": one.value, "lowest": one.lowest, "highest": one.highest}
        if tied is not None:
            figures |= {"tied_users": tied, "users": facts.users}
        yield Finding("ties.decide", "warning", name, f"{text}.", one.metric, figures)
        told.add(one.cutoff)
    for cutoff, tied in facts.tied_users.items():
        if cutoff in told or not facts.users or tied < NEARLY_ALL * facts.users:
            continue
        spans = [one for one in subject.values if one.cutoff == cutoff and one.lowest is not None]
        little = f" It changes little: {', '.join(f'{one.metric} {one.span}' for one in spans)}." if spans else ""
        text = (
            f"{_all_or_count(tied, facts.users, facts.users_noun)} have a tie across rank {cutoff} in the lists of "
            f'{name}: ties.break = "{tie_rule}" chooses which items with equal scores are in the top {cutoff}.{little}'
        )
        severity: Severity = "note" if spans else "warning"
        yield Finding("ties.cross", severity, name, text, "", {"tied_users": tied, "users": facts.users, "k": cutoff})


def _of_ratings(subject: Subject) -> Iterator[Finding]:
    """What the scores are, and what the training ratings allow them to be."""
    name = subject.name
    for parameter, sentence in subject.chosen.items():
        text = f"{name}: the data decided {parameter}: {sentence}."
        yield Finding("parameter.chosen", "note", name, text, figures={"parameter": parameter})
    if subject.scores != "ratings" or (subject.adapts and not subject.facts.ratings_vary):
        return
    if not subject.facts.ratings_vary:
        text = (
            f"{name} predicts ratings, and all training ratings are equal: they do not tell items apart. Use an "
            "algorithm, or a setting, for data without ratings."
        )
        yield Finding("ratings.constant", "warning", name, text)
    elif subject.facts.lists:
        text = (
            f"{name} ranks items by the ratings that it predicts: few high ratings come before many good ones, so it "
            "may rank far worse than an algorithm that is made for ranking."
        )
        yield Finding("scores.ratings", "note", name, text)


def _undecided_orders(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Neighbours by a metric of which the order of tied items decides who is better."""
    for metric in dict.fromkeys(one.metric for subject in subjects for one in subject.values):
        having = [
            (one, subject.name)
            for subject in subjects
            for one in subject.values
            if one.metric == metric and one.has_place and not one.is_wide
        ]
        having.sort(key=lambda pair: pair[0].value, reverse=True)
        for (upper, name), (lower, other) in pairwise(having):
            assert upper.lowest is not None and upper.highest is not None
            assert lower.lowest is not None and lower.highest is not None
            if upper.value == lower.value or lower.highest < upper.lowest or not upper.width + lower.width:
                continue
            text = (
                f"Which of {name} and {other} has the higher {metric} depends on the order of tied items: "
                f"{_number(upper.value)} ({upper.span}) and {_number(lower.value)} ({lower.span})."
            )
            figures: dict[str, Figure] = {
                "value": upper.value,
                "lowest": upper.lowest,
                "highest": upper.highest,
                "other": other,
                "other_value": lower.value,
                "other_lowest": lower.lowest,
                "other_highest": lower.highest,
            }
            yield Finding("ties.order", "note", name, text, metric, figures)


def _identical(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Algorithms with the same lists for everybody, or with the same values."""
    told: set[tuple[str, ...]] = set()
    for what, severity in (("lists", "warning"), ("numbers", "note")):
        groups: dict[str, list[Subject]] = {}
        for subject in subjects:
            if key := getattr(subject, what):
                groups.setdefault(key, []).append(subject)
        for group in groups.values():
            names = tuple(subject.name for subject in group)
            if len(group) == 1 or names in told:
                continue
            told.add(names)
            same = "lists" if what == "lists" else "values of every metric"
            text = f"{', '.join(names[:-1])} and {names[-1]} have the same {same} for every user."
            agreed = _is_one_algorithm_of_several_frameworks(group)
            if agreed:
                text += " They are the same algorithm of several frameworks."
            yield Finding(
                "entries.identical",
                "note" if agreed or severity == "note" else "warning",
                names[0],
                text,
                figures={"other": ", ".join(names[1:]), "what": same},
            )


def _is_one_algorithm_of_several_frameworks(group: Sequence[Subject]) -> bool:
    frameworks = {subject.use.partition("/")[0] for subject in group}
    return len({subject.use.partition("/")[2] for subject in group}) == 1 and len(frameworks) == len(group)


def _shares(code: str, subject: Subject, text: str, touched: int, total: int) -> Finding:
    return Finding(code, "warning", subject.name, text, figures={"touched": touched, "total": total})


def _all_or_count(touched: int, total: int, noun: str) -> str:
    return f"All {total:,} {noun}" if touched == total else f"{touched:,} of {total:,} {noun}"


def _number(value: Figure | None) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)
