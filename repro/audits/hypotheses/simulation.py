"""Observations of a black box, and what the core computes for a question under any hypothesis.

The stages of an evaluation are shared between hypotheses (:mod:`repro.evaluation.cached_stages`). Most hypotheses
differ in decisions that make no difference to a small question, so results are compared by their content.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from repro.audits.hypotheses.space import Hypothesis, Space
from repro.audits.questions.answers import Answer, contradicts
from repro.audits.questions.aspects import Aspect
from repro.audits.questions.question import Question
from repro.data.filters import one_row_per_pair
from repro.data.interactions import CodeArray, Interactions
from repro.errors import ReproError
from repro.evaluation.cached_stages import BY_CONTENT, FoldStages, ScoreStages, SharedMeasures
from repro.evaluation.caches import Cache, ContentCache
from repro.evaluation.candidates import Judgements, ListBlock, joined_rows
from repro.evaluation.fold import FoldData, Lists
from repro.evaluation.metrics import Averaged, Measure, metrics, parse_measure
from repro.evaluation.ranking import RankingRules
from repro.plugin import Case, Scores
from repro.protocol import Protocol
from repro.split import without_unseen

SEED = 0
NO_ITEMS: CodeArray = np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class _CaseData(FoldData):
    """The rows of a case as those of a fold: lists have only the items that were given for a user."""

    listed: npt.NDArray[np.bool_] | None = None
    order: CodeArray = field(default_factory=lambda: NO_ITEMS)

    @classmethod
    def of(cls, case: Case, test: Interactions) -> _CaseData:
        """``test`` are the held-out rows that count."""
        whole = joined_rows(case.train, case.test)
        return cls(whole, case.train, test, None, NO_ITEMS, listed=case.listed, order=case.order)

    def lists(self, protocol: Protocol, seed: int, judgements: Judgements) -> Lists:
        lists = super().lists(protocol, seed, judgements)
        return lists if self.listed is None else replace(lists, block=within_lists(lists.block, self.listed))

    def ranking_rules(self, protocol: Protocol, seed: int) -> RankingRules:
        """The rules; all users have the items in the same order of rows."""
        rules = RankingRules.from_protocol(
            protocol, self.whole, train=self.train, data_items=self.whole.items, seed=seed
        )
        if not rules.ties.by_rows:
            return rules
        places = np.empty(len(self.order), dtype=np.int64)
        places[self.order] = np.arange(len(places))
        order = places if rules.ties.rule == "rows" else -places
        return replace(rules, ties=replace(rules.ties, order=order))


@dataclass(frozen=True, eq=False)
class _CaseScores:
    """The scores of a case."""

    case: Case
    test: Interactions

    @property
    def users(self) -> CodeArray:
        return np.arange(len(self.case.scores.values), dtype=np.int32)

    def scores(self) -> Scores:
        return self.case.scores

    def predictions(self) -> Scores:
        return self.case.scores[self.test.users, self.test.items]


class Simulation:
    """A question under the hypotheses of a space; all results are kept until :meth:`forget`."""

    def __init__(self, question: Question, space: Space) -> None:
        self._case = question.case
        self._k = question.k
        self._space = space
        needs = space.metric.needs
        self._with_scores = "scores" in needs or bool(space.metric.also_needs)
        self.forget()

    def forget(self) -> None:
        """Drop all results, which take much memory where hypotheses are many."""
        self._rows: Cache[Interactions] = ContentCache()
        self._folds: Cache[ScoreStages] = Cache()
        self._measures: Cache[Measure] = Cache()
        self._shared = SharedMeasures()
        self._outcomes: Cache[Answer] = Cache()

    def outcome(self, hypothesis: Hypothesis) -> Answer:
        """The answer that the hypothesis predicts."""
        try:
            return self._outcome(hypothesis)
        except ReproError as error:
            return Answer(None, None, str(error), bool(error.decision))

    def _outcome(self, hypothesis: Hypothesis) -> Answer:
        measure = self._measures.get(hypothesis.keys.measured, self._measure, hypothesis)
        test = self._rows.get(hypothesis.keys.rows, self._test, hypothesis)
        stages = self._folds.get(test, self._stages, test)
        if measure.metric.kind == "prediction":
            predictions = stages.predictions(hypothesis)
            assert predictions is not None
            return self._of(stages.error(measure, predictions))
        ranked = stages.ranked(hypothesis)
        if measure.metric.kind == "collection":
            return Answer(stages.number(measure, ranked, hypothesis).value)
        if not measure.parts:
            return self._of(stages.number(measure, ranked, hypothesis))
        return Answer(
            float(measure.combined([stages.number(part, ranked, hypothesis).value for part in measure.parts]))
        )

    def _stages(self, test: Interactions) -> ScoreStages:
        fold = FoldStages(_CaseData.of(self._case, test), SEED, self._case.scale, BY_CONTENT)
        return ScoreStages(fold, _CaseScores(self._case, test), None, self._with_scores)

    def _of(self, averaged: Averaged) -> Answer:
        return self._outcomes.get(averaged, Answer.of, averaged)

    def _measure(self, hypothesis: Hypothesis) -> Measure:
        metric, variants = self._space.metric, hypothesis.variants
        parts = metric.parts(self._k, variants) if metric.parts else ()
        metrics_by_name = metrics() if parts else {}
        part_measures = tuple(parse_measure(part, hypothesis.protocol, metrics_by_name) for part in parts)
        return self._shared(Measure(metric, self._k, variants, part_measures))

    def _test(self, hypothesis: Hypothesis) -> Interactions:
        protocol = hypothesis.protocol
        rows, _ = one_row_per_pair(self._case.test, protocol.text("data.duplicates"))
        return without_unseen(rows, self._case.train, protocol)


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


# unasked      the black box cannot be given the features of the aspect, or has not been yet
# explained    some hypothesis predicts every answer
# unexplained  no hypothesis does
# refused      the black box refuses every question
# random       the same question gets different answers
State = Literal["unasked", "explained", "unexplained", "refused", "random"]


@dataclass(frozen=True, eq=False)
class Observation:
    """A question, the answer of the black box, and a simulation that predicts the answer under any hypothesis."""

    question: Question
    answer: Answer
    simulation: Simulation

    def predicted(self, hypothesis: Hypothesis) -> Answer:
        """The answer under a hypothesis."""
        return self.simulation.outcome(hypothesis)

    def contradicts(self, hypothesis: Hypothesis, tolerance: float) -> bool:
        """Whether the answer contradicts the prediction of a hypothesis."""
        return contradicts(self.answer, self.predicted(hypothesis), tolerance)


@dataclass(frozen=True, eq=False)
class NearestHypothesis:
    """The hypothesis that comes closest to some answers, where none predicts all of them.

    residual    the largest difference between an answer and its prediction
    agreed      the number of answers that it predicts, of ``compared``
    mismatches  the observations that it does not predict
    """

    hypothesis: Hypothesis
    residual: float
    agreed: int
    compared: int
    mismatches: tuple[Observation, ...]


@dataclass(frozen=True, eq=False)
class AspectResult:
    """The state of an aspect, and the observations that led to it."""

    aspect: Aspect
    state: State
    observations: tuple[Observation, ...] = ()
    nearest: NearestHypothesis | None = None
