"""What the core makes of a question under any hypothesis, with the work that hypotheses share done once.

An evaluation has stages: held-out rows are kept, judged, lists are made up, ranked, measured, and averaged. A stage
hangs on what the stage before gave and on decisions of its own. Most hypotheses differ in something that does not
matter to a small question, so what a stage gives is told apart by its content, not by the decisions that led to it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from repro.audit.questions.question import Question
from repro.audit.space import Hypothesis, Space
from repro.data.filters import one_row_per_pair
from repro.data.interactions import CodeArray, Interactions
from repro.errors import ReproError
from repro.evaluation.candidates import Judgements, ListBlock, judge, plan_candidates, relevant_in_train, unlisted_users
from repro.evaluation.metrics import (
    EXTREMES,
    Background,
    ListOwners,
    Measure,
    Ratio,
    TrainRatings,
    average,
    average_predictions,
    metrics,
    parse_measure,
    resolve_predictions,
)
from repro.evaluation.ranking import Ranked, RankingRules, listed_scores, rank
from repro.evaluation.ranking.kernels import N_MISSING
from repro.plugin import Scores
from repro.split import without_unseen

Content = TypeVar("Content")
SEED = 0


@dataclass(frozen=True)
class Outcome:
    """A number, and that of each user by code (None where users have none); or why there is none.

    ``by_decision`` tells whether a decision of the protocol says that there is none.
    """

    value: float | None
    per_user: Mapping[int, float] | None = None
    refusal: str = ""
    by_decision: bool = False

    @property
    def is_by_user(self) -> bool:
        """Whether there is a number of each user only."""
        return self.value is None and not self.refusal

    def as_told(self, by_user: bool) -> Outcome:
        """As who tells of each user only would tell it, or who tells of all together."""
        return replace(self, value=None) if by_user else replace(self, per_user=None)


@dataclass(frozen=True, eq=False)
class _Judged:
    test: Interactions
    judgements: Judgements
    relevant_in_train: npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Listed:
    judged: Interactions
    judgements: Judgements
    block: ListBlock
    catalogue: CodeArray


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Lists in order; ``tied`` tells whether some candidates have no score of their own, or the same as others."""

    listed: _Listed
    ranked: Ranked
    tied: bool = field(compare=False)


class _Stage(Generic[Content]):
    """What a stage gave, by what it was asked; contents that are equal are one and the same object."""

    def __init__(self) -> None:
        self._by_question: dict[Hashable, Content | ReproError] = {}
        self._by_content: dict[Hashable, Content] = {}

    def get(self, question: Hashable, make: Callable[..., Content], *given: Any) -> Content:
        """What was given to the question before, or what ``make(*given)`` gives."""
        found = self._by_question.get(question)
        if found is None:
            try:
                made = make(*given)
                found = self._by_content.setdefault(_content(made), made)
            except ReproError as error:
                found = error
            self._by_question[question] = found
        if isinstance(found, ReproError):
            raise found
        return found


class Simulation:
    """A question under the hypotheses of a space; everything that is found out about it is kept."""

    def __init__(self, question: Question, space: Space) -> None:
        self._case = question.case
        self._k = question.k
        self._space = space
        self.forget()

    def forget(self) -> None:
        """Keep nothing of what was found out, which is much where hypotheses are many."""
        self._kept: _Stage[Interactions] = _Stage()
        self._judged: _Stage[_Judged] = _Stage()
        self._listed: _Stage[_Listed] = _Stage()
        self._ranked: _Stage[_Ranked] = _Stage()
        self._untied: dict[Hashable, _Ranked] = {}
        self._measures: _Stage[Measure] = _Stage()
        self._ratios: _Stage[Ratio] = _Stage()
        self._owners: _Stage[ListOwners] = _Stage()
        self._outcomes: _Stage[Outcome] = _Stage()

    def outcome(self, hypothesis: Hypothesis) -> Outcome:
        """What the hypothesis predicts that an evaluator says."""
        try:
            return self._outcome(hypothesis)
        except ReproError as error:
            return Outcome(None, None, str(error), bool(error.decision))

    def _outcome(self, hypothesis: Hypothesis) -> Outcome:
        keys = hypothesis.keys
        measure = self._measures.get(keys.measured, self._measure, hypothesis)
        test = self._kept.get(keys.kept, self._test, hypothesis)
        if measure.metric.kind == "prediction":
            return self._outcomes.get((id(test), keys.measured), self._of_predictions, measure, test, hypothesis)
        judged = self._judged.get((id(test), keys.judged), self._judge, test, hypothesis)
        listed = self._listed.get((id(judged), keys.listed), self._list, judged, hypothesis)
        ranked = self._in_order(listed, hypothesis)
        if measure.metric.kind == "collection":
            return self._outcomes.get((id(ranked), id(measure)), self._of_collection, measure, ranked)
        if not measure.parts:
            return self._of_users(measure, ranked, hypothesis)
        assert measure.metric.join is not None
        parts = [self._of_users(part, ranked, hypothesis).value for part in measure.parts]
        return Outcome(float(measure.metric.join([part for part in parts if part is not None])))

    def _measure(self, hypothesis: Hypothesis) -> Measure:
        metric, variants = self._space.metric, hypothesis.variants
        parts = metric.parts(self._k, variants) if metric.parts else ()
        known = metrics() if parts else {}
        made = tuple(parse_measure(part, hypothesis.protocol, known) for part in parts)
        return Measure(metric, self._k, variants, made)

    def _test(self, hypothesis: Hypothesis) -> Interactions:
        protocol = hypothesis.protocol
        rows, _ = one_row_per_pair(self._case.test, protocol.text("data.duplicates"))
        return without_unseen(rows, self._case.train, protocol)

    def _judge(self, test: Interactions, hypothesis: Hypothesis) -> _Judged:
        train, protocol = self._case.train, hypothesis.protocol
        return _Judged(test, judge(train, test, protocol), relevant_in_train(train, protocol))

    def _list(self, judged: _Judged, hypothesis: Hypothesis) -> _Listed:
        train, protocol = self._case.train, hypothesis.protocol
        candidates = plan_candidates(train, judged.test, protocol, SEED, judgements=judged.judgements)
        block, listed = candidates.block(candidates.users), self._case.listed
        return _Listed(
            judged.test, judged.judgements, block if listed is None else within_lists(block, listed), candidates.items
        )

    def _in_order(self, listed: _Listed, hypothesis: Hypothesis) -> _Ranked:
        """Ranked lists; where no scores are missing, or none are equal, it does not matter what is decided of those."""
        keys = hypothesis.keys
        so_far = (id(listed), 0 if self._complete else keys.completed, keys.rounded)
        found = self._untied.get(so_far) or self._ranked.get((*so_far, keys.parted), self._rank, listed, hypothesis)
        if not found.tied:
            self._untied[so_far] = found
        return found

    @cached_property
    def _complete(self) -> bool:
        """Whether all scores are finite numbers above zero that nobody made up."""
        values, state = self._case.scores.values, self._case.scores.state
        return bool((np.isfinite(values) & (values > 0)).all()) and (state is None or not state.any())

    def _rank(self, listed: _Listed, hypothesis: Hypothesis) -> _Ranked:
        block, protocol = listed.block, hypothesis.protocol
        rows = np.concatenate([self._case.train.items, self._case.test.items])
        rules = RankingRules.from_protocol(
            protocol, self._case.test, train=self._case.train, data_items=rows, seed=SEED
        )
        if rules.ties.by_rows:  # all users have the items in the same order
            places = np.empty(len(self._case.order), dtype=np.int64)
            places[self._case.order] = np.arange(len(places))
            order = places if rules.ties.rule == "rows" else -places
            rules = replace(rules, ties=replace(rules.ties, order=order))
        cells, state = np.ix_(block.users, block.items), self._case.scores.state
        scores = Scores(self._case.scores.values[cells], None if state is None else state[cells])
        every = range(1, block.items.size)
        ranked, tally = rank(scores, block, rules, depth=None, cutoffs=every, threads=1)
        by_extreme = rules.ties.rule in EXTREMES
        if by_extreme or "scores" in self._space.metric.needs or self._space.metric.also_needs:
            ranked = replace(ranked, scores=listed_scores(ranked, scores, block, rules))
        return _Ranked(listed, ranked, bool(tally.lists_tied.any() or tally.scores[N_MISSING]))

    def _of_users(self, measure: Measure, of: _Ranked, hypothesis: Hypothesis) -> Outcome:
        ratio = self._ratios.get((id(of), id(measure)), self._ratio, measure, of)
        unlisted = unlisted_users(of.listed.judgements, hypothesis.protocol)
        lists = self._owners.get((id(of), len(unlisted)), ListOwners.of, of.ranked, unlisted)
        asked = (id(ratio), id(lists), id(measure), hypothesis.keys.averaged)
        return self._outcomes.get(asked, self._averaged, measure, ratio, lists, hypothesis)

    def _ratio(self, measure: Measure, of: _Ranked) -> Ratio:
        ratio: Ratio = measure.of_lists(of.ranked, self._background(of))
        return ratio

    def _averaged(self, measure: Measure, ratio: Ratio, owners: ListOwners, hypothesis: Hypothesis) -> Outcome:
        found = average(measure, ratio, owners, hypothesis.protocol)
        return Outcome(found.value, dict(zip(found.users.tolist(), found.values.tolist(), strict=True)))

    def _of_collection(self, measure: Measure, of: _Ranked) -> Outcome:
        background = self._background(of)
        return Outcome(measure.of_collection([measure.of_lists(of.ranked, background)], background))

    def _of_predictions(self, measure: Measure, test: Interactions, hypothesis: Hypothesis) -> Outcome:
        protocol, scores = hypothesis.protocol, self._case.scores
        pairs = test.users, test.items
        asked = Scores(scores.values[pairs], None if scores.state is None else scores.state[pairs])
        train = TrainRatings.of(self._case.train, self._case.scale)
        resolved = resolve_predictions(asked, test.ratings, *pairs, protocol, train)
        found = average_predictions(measure, resolved)
        return Outcome(found.value, dict(zip(found.users.tolist(), found.values.tolist(), strict=True)))

    def _background(self, of: _Ranked) -> Background:
        return Background(of.listed.judged, of.listed.catalogue, self._case.train)


def within_lists(block: ListBlock, listed: npt.NDArray[np.bool_]) -> ListBlock:
    """The lists with only those candidates that a user's list has at all."""
    inside = np.zeros((len(block), len(block.items)), dtype=np.bool_)
    owners = np.repeat(np.arange(len(block)), np.diff(block.offsets))
    inside[owners, block.columns] = True
    if not block.listed:
        inside = ~inside
    inside &= listed[np.ix_(block.users[block.rows], block.items)]
    offsets = np.concatenate([[0], np.cumsum(inside.sum(axis=1))]).astype(np.int64)
    return replace(block, listed=True, offsets=offsets, columns=np.nonzero(inside)[1].astype(np.int32))


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind) if one.compare)


def _content(made: object) -> Hashable:
    """What tells things apart that a stage gives: arrays by their bytes, what is made of them by its parts."""
    match made:
        case np.ndarray():
            return (made.shape, made.tobytes())
        case Ratio():
            return tuple(map(_content, made))
        case Interactions():
            return tuple(map(_content, (made.users, made.items, made.ratings)))
        case _Judged():  # what an earlier stage gave is the same object where its content is the same
            return (id(made.test), _content(made.judgements), _content(made.relevant_in_train))
        case _Listed():
            return (id(made.judged), *map(_content, (made.judgements, made.block, made.catalogue)))
        case _Ranked():
            return (id(made.listed), _content(made.ranked))
        case ListOwners() | Judgements() | ListBlock() | Ranked():
            kind: type = type(made)
            return tuple(_content(getattr(made, name)) for name in _names(kind))
        case Measure():  # its name does not tell which threshold a gain starts from
            return (made.full_name, *sorted(made.variants.items()), *map(_content, made.parts))
        case Outcome():
            return id(made)
    return made if isinstance(made, Hashable) else id(made)
