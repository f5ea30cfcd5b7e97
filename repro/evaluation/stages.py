"""The stages of an evaluation, from held-out rows and scores to a number.

    stage      result                                                      function
    judged     which held-out items are relevant                           FoldData.judge
    listed     the candidates of each list                                 FoldData.lists
    ranked     each list in the order of its scores                        rank_block
    measured   the value of a metric for each list                         measure_values
    averaged   one number                                                  average_lists

Ratings that an algorithm predicts have two stages: ``resolve`` says what each prediction counts, and
``average_predictions`` averages the errors.

Each function is pure, and every evaluation runs these functions: a study block by block of users, ``repro.evaluate`` on
lists that a user gives, ``verify`` and the study of metrics on lists that a run stored
(:mod:`repro.evaluation.stored_lists`), explanations and audits under many protocols with a cache
(:mod:`repro.evaluation.cached_stages`). ``READS`` says which decisions each stage reads; a stage depends only on these
and on the result of the stage before.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import Interactions
from repro.evaluation.candidates import ListBlock
from repro.evaluation.metrics import (
    Averaged,
    Background,
    ListOwners,
    Measure,
    Predictions,
    Ratio,
    TrainRatings,
    average,
    has_tie_interval,
    resolve_predictions,
    with_rows,
)
from repro.evaluation.metrics.averaging import NO_USERS
from repro.evaluation.metrics.metric import Tied
from repro.evaluation.ranking import Ranked, RankingRules, Tally, listed_scores, rank, tied_lists
from repro.plugin import Scores
from repro.protocol import Protocol, Stage, Value, registry

# The stages in their order, and the stages of decisions (:mod:`repro.protocol.stages`) that each reads. The three
# steps of ranking are apart: which scores are missing, which are equal, and the order of equal ones.
READS: Mapping[str, tuple[Stage, ...]] = {
    "rows": ("data", "split"),
    "judged": ("relevance",),
    "listed": ("candidates",),
    "completed": ("missing",),
    "compared": ("precision",),
    "ordered": ("ties",),
    "measured": ("metric",),
    "resolved": ("predict",),
    "averaged": ("average",),
}
TIE_ORDERS: tuple[Tied, ...] = ("worst", "best")
STORED_DEPTH = 100  # where no measure has a cut-off

Interval = tuple[float, float]


@dataclass(frozen=True)
class StageKeys:
    """For each stage a key of the decisions that it reads: protocols with equal keys are alike to the stage."""

    rows: Hashable
    judged: Hashable
    listed: Hashable
    completed: Hashable
    compared: Hashable
    ordered: Hashable
    measured: Hashable
    resolved: Hashable
    averaged: Hashable

    @classmethod
    def of(cls, decisions: Mapping[str, Value]) -> StageKeys:
        """The keys of the decisions of a protocol."""
        keys: dict[str, list[object]] = {stage: [] for stage in READS}
        all_decisions = registry()
        for decision, value in sorted(decisions.items()):
            keys[_READER[all_decisions[decision].stage]].append((decision, value))
        return cls(**{stage: tuple(stated) for stage, stated in keys.items()})


_READER = {read: stage for stage, reads in READS.items() for read in reads}


def lists_depend_on_relevance(protocol: Protocol) -> bool:
    """Whether another judgement of the held-out items changes which lists there are, or which items are in them."""
    return protocol.reads("candidates", "relevance")


def rank_depth(measures: Iterable[Measure]) -> int | None:
    """The rank down to which lists are needed by all measures; None where a measure needs them to the end."""
    reaches = [measure.reach for measure in measures]
    known = [reach for reach in reaches if reach is not None]
    return None if len(known) < len(reaches) else max(known, default=1)


def stored_depth(measures: Iterable[Measure]) -> int:
    """The rank down to which a run stores its lists: the deepest cut-off of its measures."""
    return max((measure.cutoff for measure in measures if measure.cutoff is not None), default=STORED_DEPTH)


def need_scores(measures: Iterable[Measure]) -> bool:
    """Whether a measure needs the scores of listed items."""
    return any("scores" in measure.needs for measure in measures)


def rank_block(
    scores: Scores,
    block: ListBlock,
    rules: RankingRules,
    *,
    depth: int | None,
    with_scores: bool,
    cutoffs: Sequence[int] = (),
    threads: int | None = None,
) -> tuple[Ranked, Tally]:
    """Rank the lists of a block, and attach the scores of listed items where ``with_scores`` asks for them.

    The other arguments are those of :func:`repro.evaluation.ranking.rank`.
    """
    ranked, tally = rank(scores, block, rules, depth=depth, cutoffs=cutoffs, threads=threads)
    if with_scores:
        ranked = replace(ranked, scores=listed_scores(ranked, scores, block, rules))
    return ranked, tally


def measure_values(measures: Iterable[Measure], ranked: Ranked, background: Background) -> dict[str, Any]:
    """The values of each measure for a block of ranked lists, by its full name.

    A measure of a list gives the Ratio of each list, a measure of a collection of lists an array.
    """
    return {measure.full_name: measure.of_lists(ranked, background) for measure in measures}


def average_lists(
    measure: Measure, blocks: Sequence[Any], owners: ListOwners, background: Background, protocol: Protocol
) -> Averaged:
    """One number from what :func:`measure_values` gives for each block of lists; ``owners`` are those of all blocks."""
    if measure.metric.kind == "collection":
        return measure_collection(measure, blocks, background)
    return average(measure, blocks[0] if len(blocks) == 1 else Ratio.joined(blocks), owners, protocol)


def measure_collection(measure: Measure, blocks: Sequence[Any], background: Background) -> Averaged:
    """The number of a measure of a collection of lists, from its values for each block."""
    value = measure.of_collection(blocks, background)
    return Averaged(value, len(background.test_users), NO_USERS, np.empty(0))


def measure_ranked(
    measures: Iterable[Measure], ranked: Ranked, owners: ListOwners, background: Background, protocol: Protocol
) -> dict[str, Averaged]:
    """The number of each measure for lists that are ranked already, by its full name."""
    listed = list(measures)
    values = measure_values(listed, ranked, background)
    return {
        measure.full_name: average_lists(measure, [values[measure.full_name]], owners, background, protocol)
        for measure in listed
    }


@dataclass(frozen=True, eq=False)
class TiedRatios:
    """The numbers of the lists with tied held-out items, by the name of the measure, in two orders of tied items.

    rows         which lists they are
    worst, best  in the order that gives the list its worst, or its best value
    """

    rows: npt.NDArray[np.intp]
    worst: dict[str, Ratio]
    best: dict[str, Ratio]

    @classmethod
    def joined(cls, parts: Sequence[TiedRatios]) -> TiedRatios | None:
        """Those of several blocks, whose rows are counted over all blocks; None where there are none."""
        if not parts:
            return None
        worst, best = (
            {name: Ratio.joined([getattr(part, order)[name] for part in parts]) for name in parts[0].worst}
            for order in TIE_ORDERS
        )
        return cls(np.concatenate([part.rows for part in parts]), worst, best)


def measure_tied(measures: Iterable[Measure], ranked: Ranked, background: Background) -> TiedRatios | None:
    """The values of lists with tied held-out items in the worst and in the best order of these; None without any."""
    bounded = [measure for measure in measures if has_tie_interval(measure)]
    tied = tied_lists(ranked) if bounded else None
    if tied is None:
        return None
    worst, best = (
        {measure.full_name: measure.of_extreme_order(tied.lists, background, order) for measure in bounded}
        for order in TIE_ORDERS
    )
    return TiedRatios(tied.rows, worst, best)


def tie_intervals(
    measures: Iterable[Measure],
    values: Mapping[str, Any],
    numbers: Mapping[str, float],
    tied: TiedRatios | None,
    owners: ListOwners,
    protocol: Protocol,
) -> dict[str, Interval]:
    """The lowest and the highest number of each measure over all orders of tied items, where they are known.

    ``values`` are the values of all lists and ``numbers`` their averages, by the full name of the measure.
    """
    intervals: dict[str, Interval] = {}
    for name, measure in ((measure.full_name, measure) for measure in measures if has_tie_interval(measure)):
        ends = [numbers[name]]
        if tied is not None:
            extremes = (with_rows(values[name], tied.rows, order[name]) for order in (tied.worst, tied.best))
            ends = [average(measure, ratio, owners, protocol).value for ratio in extremes]
        intervals[name] = (min(ends), max(ends))
    return intervals


def resolve(
    scores: Scores, test: Interactions, train: Interactions, scale: tuple[float, float], protocol: Protocol
) -> Predictions:
    """The predicted ratings as they count by the ``predict`` decisions; ``scores`` are those of the test rows."""
    return resolve_predictions(scores, test.ratings, test.users, test.items, protocol, TrainRatings.of(train, scale))
