"""One fold under many protocols, with the work that the protocols share done once.

:class:`FoldStages` has what all algorithms share on a fold: judgements and lists. :class:`ScoreStages` has what the
scores of one algorithm give: rankings, values and averages. A result is reused for every protocol that makes the same
decisions about the stages up to it, so that one set of candidates serves all tie rules, and one ranking all variants
and cut-offs of metrics. The functions that compute the results are those of :mod:`repro.evaluation.stages`, so a number
does not depend on the cache.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from typing import Protocol as Interface

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray
from repro.evaluation.blocks import take_scores
from repro.evaluation.caches import Cache, ContentCache, content
from repro.evaluation.candidates import Judgements, ListBlock, relevant_in_train, unlisted_users
from repro.evaluation.fold import FoldData, Lists
from repro.evaluation.metrics import EXTREMES, Averaged, ListOwners, Measure, Predictions, average, average_predictions
from repro.evaluation.ranking import Ranked, RankingRules
from repro.evaluation.ranking.kernels import N_MISSING
from repro.evaluation.stages import StageKeys, lists_depend_on_relevance, measure_collection, rank_block, resolve
from repro.plugin import FALLBACK, UNSCORED, Scores
from repro.protocol import Protocol


class Decided(Interface):
    """A protocol, and the keys by which each stage compares it with others."""

    @property
    def protocol(self) -> Protocol: ...

    @property
    def keys(self) -> StageKeys: ...


class ScoreSource(Interface):
    """The source of an algorithm's scores."""

    @property
    def users(self) -> CodeArray:
        """The users whom rows of scores belong to, ascending."""

    def scores(self) -> Scores:
        """The scores of these users for all items."""

    def predictions(self) -> Scores | None:
        """The ratings predicted for the test rows; None where the algorithm predicts none."""


@dataclass(frozen=True)
class Caching:
    """The rules for keeping results.

    by_content   equal results become one object, and rankings without ties serve every tie rule: for small cases
    rankings     how many rankings are kept at once, with what is computed from them; None for all
    """

    by_content: bool
    rankings: int | None

    def cache(self) -> Cache[Any]:
        return ContentCache() if self.by_content else Cache()


BY_DECISION = Caching(by_content=False, rankings=1)
BY_CONTENT = Caching(by_content=True, rankings=None)


class SharedMeasures:
    """Makes measures that are alike, under several protocols, one and the same object."""

    def __init__(self) -> None:
        self._measures: dict[Hashable, Measure] = {}

    def __call__(self, measure: Measure) -> Measure:
        if measure.parts:
            measure = replace(measure, parts=tuple(map(self, measure.parts)))
        parts, variants = tuple(map(id, measure.parts)), tuple(sorted(measure.variants.items()))
        key = (measure.metric.name, measure.cutoff, variants, parts, measure.stated, measure.by_extreme)
        return self._measures.setdefault(key, measure)


class FoldStages:
    """Judgements, lists and ranking rules of a fold, shared by all algorithms."""

    def __init__(self, fold: FoldData, seed: int, scale: tuple[float, float], caching: Caching) -> None:
        self.fold = fold
        self.scale = scale
        self.caching = caching
        self._seed = seed
        self._judged: Cache[Judgements] = ContentCache()
        self._train: Cache[npt.NDArray[np.bool_]] = ContentCache()
        self._listed: Cache[Lists] = caching.cache()
        self._rules: Cache[RankingRules] = Cache()
        self._unjudged: dict[Hashable, Lists] = {}

    def judged(self, decided: Decided) -> Judgements:
        """The held-out items that are relevant; equal judgements are one object."""
        return self._judged.get(decided.keys.judged, self.fold.judge, decided.protocol)

    def listed(self, decided: Decided) -> Lists:
        """The lists before they are ranked."""
        judgements, protocol, keys = self.judged(decided), decided.protocol, decided.keys
        key: tuple[Hashable, ...] = (judgements, keys.listed)
        if protocol.get("candidates.exclude_train") == "relevant":
            train = self._train.get(keys.judged, relevant_in_train, self.fold.train, protocol)
            key = (*key, id(train))
        return self._listed.get(key, self._list, judgements, decided)

    def rules(self, decided: Decided) -> RankingRules:
        """The rules for ranking missing and tied scores."""
        keys = decided.keys
        key = (keys.completed, keys.compared, keys.ordered)
        return self._rules.get(key, self.fold.ranking_rules, decided.protocol, self._seed)

    def _list(self, judgements: Judgements, decided: Decided) -> Lists:
        if lists_depend_on_relevance(decided.protocol):
            return self.fold.lists(decided.protocol, self._seed, judgements)
        lists = self._unjudged.get(decided.keys.listed)
        if lists is not None:
            return lists.judged_by(judgements)
        lists = self._unjudged[decided.keys.listed] = self.fold.lists(decided.protocol, self._seed, judgements)
        return lists


@dataclass(frozen=True, eq=False)
class RankedLists:
    """Lists in their order; ``tied`` is True if candidates have no score, or the same score as others."""

    lists: Lists
    ranked: Ranked
    tied: bool

    def content(self) -> Hashable:
        """Rankings of other lists are others, whatever their order."""
        return (id(self.lists), content(self.ranked))


class ScoreStages:
    """Rankings, values of lists and averages that the scores of one algorithm give on a fold.

    A measure is known by its object: measures that are alike must be one and the same. Where only the last ranking is
    kept, protocols are best evaluated in the order of :meth:`ranking_key`.
    """

    def __init__(self, fold: FoldStages, source: ScoreSource, depth: int | None, with_scores: bool) -> None:
        self._fold = fold
        self._source = source
        self._depth = depth
        self._with_scores = with_scores
        self._by_content = fold.caching.by_content
        self._taken: Cache[_TakenScores] = Cache(fold.caching.rankings)
        self._ranked: Cache[RankedLists] = ContentCache() if self._by_content else Cache(fold.caching.rankings)
        self._untied: dict[Hashable, RankedLists] = {}
        self._rankings: Cache[_Ranking] = Cache(fold.caching.rankings)
        self._resolved: Cache[Predictions] = Cache()
        self._predicted: Cache[Averaged] = Cache()
        self._forget_values()

    def _forget_values(self) -> None:
        caching = self._fold.caching
        self._values: Cache[Any] = caching.cache()
        self._owners: Cache[ListOwners] = caching.cache()
        self._averages: Cache[Averaged] = Cache()

    def ranking_key(self, decided: Decided) -> tuple[Hashable, ...]:
        """The decisions that the order of the lists depends on, without those that have no effect on these scores."""
        keys = decided.keys
        return (self._taken_scores(self._fold.listed(decided)).completed(decided), keys.compared, keys.ordered)

    def ranked(self, decided: Decided) -> RankedLists:
        """The lists in their order."""
        lists = self._fold.listed(decided)
        taken, keys = self._taken_scores(lists), decided.keys
        untied = (lists, taken.completed(decided), keys.compared)
        ranked = self._untied.get(untied)
        if ranked is None:
            ranked = self._ranked.get((*untied, keys.ordered), self._rank, lists, taken, decided)
            if not ranked.tied:
                self._untied[untied] = ranked
        return ranked

    def values(self, measure: Measure, ranked: RankedLists) -> Any:
        """The Ratio of each list, or what a measure of a collection of lists gives for its block."""
        return self._values.get((ranked, id(measure)), measure.of_lists, ranked.ranked, ranked.lists.background)

    def owners(self, ranked: RankedLists, decided: Decided) -> ListOwners:
        """The owners of the lists."""
        unlisted = unlisted_users(self._fold.judged(decided), decided.protocol)
        return self._owners.get((ranked, len(unlisted)), ListOwners.of, ranked.ranked, unlisted)

    def number(self, measure: Measure, ranked: RankedLists, decided: Decided) -> Averaged:
        """The number of a measure of lists that has no parts."""
        values = self.values(measure, ranked)
        if measure.metric.kind == "collection":
            collection = (ranked, id(measure))
            return self._averages.get(collection, measure_collection, measure, [values], ranked.lists.background)
        owners = self.owners(ranked, decided)
        key = (id(values), id(owners), id(measure), decided.keys.averaged)
        return self._averages.get(key, average, measure, values, owners, decided.protocol)

    def predictions(self, decided: Decided) -> Predictions | None:
        """The predicted ratings as they count; None where the algorithm predicts no ratings."""
        if self._predictions is None:
            return None
        fold = self._fold.fold
        rows = (self._predictions, fold.test, fold.train)
        return self._resolved.get(decided.keys.resolved, resolve, *rows, self._fold.scale, decided.protocol)

    def error(self, measure: Measure, predictions: Predictions) -> Averaged:
        """The number of a measure of predictions."""
        return self._predicted.get((predictions, id(measure)), average_predictions, measure, predictions)

    def _taken_scores(self, lists: Lists) -> _TakenScores:
        return self._taken.get(lists.cells, self._take, lists.block)

    def _take(self, block: ListBlock) -> _TakenScores:
        rows = np.searchsorted(self._source.users, block.users)
        return _TakenScores(take_scores(self._scores, rows, block.items))

    @cached_property
    def _scores(self) -> Scores:
        return self._source.scores()

    @cached_property
    def _predictions(self) -> Scores | None:
        return self._source.predictions()

    def _rank(self, lists: Lists, taken: _TakenScores, decided: Decided) -> RankedLists:
        rules = self._fold.rules(decided)
        if self._by_content:
            with_scores = self._with_scores or rules.ties.rule in EXTREMES
            every = range(1, lists.block.items.size)
            ranked, tally = rank_block(
                taken.scores, lists.block, rules, depth=None, with_scores=with_scores, cutoffs=every, threads=1
            )
            return RankedLists(lists, ranked, bool(tally.lists_tied.any() or tally.scores[N_MISSING]))
        self._forget_values()
        key = (lists.unjudged, taken.completed(decided), decided.keys.compared, decided.keys.ordered)
        ranking = self._rankings.get(key, self._ranking, lists, taken.scores, rules)
        ranked = ranking.ranked if ranking.lists is lists else ranking.judged_by(lists.block)
        return RankedLists(lists, replace(ranked, ideals=lists.ideals), True)

    def _ranking(self, lists: Lists, scores: Scores, rules: RankingRules) -> _Ranking:
        ranked, _ = rank_block(scores, lists.block, rules, depth=self._depth, with_scores=self._with_scores)
        return _Ranking(lists, ranked)


@dataclass(frozen=True, eq=False)
class _Ranking:
    """A ranking of lists that also serves other judgements of the same held-out items."""

    lists: Lists
    ranked: Ranked

    def judged_by(self, block: ListBlock) -> Ranked:
        """The same order, as the block judges it."""
        owners, places = self._order
        relevant, grades = np.empty_like(self.ranked.relevant), np.empty_like(self.ranked.grades)
        relevant[places], grades[places] = block.judged_relevant, block.judged_grades
        counts = np.bincount(owners[relevant == 1], minlength=len(self.ranked)).astype(np.int32)
        return replace(self.ranked, relevant=relevant, grades=grades, n_relevant=counts)

    @cached_property
    def _order(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The list of each hit, and the places of the hits in the order of the block: by list and item."""
        owners = np.repeat(np.arange(len(self.ranked)), np.diff(self.ranked.offsets))
        return owners, np.lexsort((self.ranked.hit_items, owners))


class _TakenScores:
    """The scores of the users and items of lists, and which decisions about missing scores matter to them."""

    def __init__(self, scores: Scores) -> None:
        self.scores = scores
        self._keys: dict[Hashable, tuple[object, ...]] = {}
        values, state = scores.values, scores.state
        self._unscored = bool(np.isnan(values).any() or (state is not None and (state == UNSCORED).any()))
        self._fallback = bool(state is not None and (state == FALLBACK).any())
        self._zero, self._negative = bool((values == 0).any()), bool((values < 0).any())
        self._infinite = bool(np.isinf(values).any())

    def completed(self, decided: Decided) -> tuple[object, ...]:
        """The decisions about missing scores; options that differ in no score of these are replaced by one of them."""
        key = decided.keys.completed
        if key not in self._keys:
            self._keys[key] = self._effective(decided.protocol)
        return self._keys[key]

    def _effective(self, protocol: Protocol) -> tuple[object, ...]:
        fallback = protocol["missing.fallback"] if self._fallback else "accept"
        zero = protocol["missing.zero"]
        if zero == "missing-or-below" and not self._negative:
            zero = "missing"
        if zero == "missing" and not self._zero:
            zero = "scored"
        infinite = protocol["missing.infinite"] if self._infinite else "scored"
        complete = not self._unscored and (fallback, zero, infinite) == ("accept", "scored", "scored")
        rank = () if complete else (protocol["missing.rank"], protocol.get("missing.constant"))
        return (fallback, zero, infinite, rank)
