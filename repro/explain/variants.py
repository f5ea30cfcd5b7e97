"""The numbers of kept scores under many protocols, with the work that they share done once.

An evaluation has stages: held-out items are judged, candidates chosen, lists ranked, measured and averaged. A stage
hangs on what the stage before gave and on decisions of its own, so one set of candidates serves all rules for ties, and
one ranking all variants and cut-offs of metrics. The numbers are those of a run of its own, bit for bit: the same
functions compute them from the same scores.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray
from repro.errors import ReproError, StudyError
from repro.evaluation.blocks import take_scores
from repro.evaluation.candidates import Judgements, ListBlock, unlisted_users
from repro.evaluation.metrics import (
    Background,
    ListOwners,
    Measure,
    Predictions,
    Ratio,
    TrainRatings,
    average,
    average_predictions,
    lacking,
    metrics,
    parse_measure,
    resolve_predictions,
    simple_measures,
)
from repro.evaluation.ranking import Ranked, RankingRules, listed_scores, rank
from repro.explain.kept import KeptFold, KeptRun
from repro.explain.mixing import lists_hang_on_relevance
from repro.plugin import FALLBACK, UNSCORED, Scores
from repro.protocol import Protocol

Values = npt.NDArray[np.float64]
Tell = Callable[[str, int, int], None]
Key = tuple[object, ...]


@dataclass(frozen=True)
class Numbers:
    """The numbers of some protocols: protocols by algorithms by metrics, all folds together.

    ``refusals`` says of protocols (by their place) and metrics why there are none.
    """

    algorithms: tuple[str, ...]
    metrics: tuple[str, ...]
    values: Values
    refusals: Mapping[tuple[int, str], str]


def measure_variants(
    run: KeptRun,
    protocols: Sequence[Protocol],
    metric_names: Sequence[str],
    algorithms: Sequence[str] | None = None,
    tell: Tell | None = None,
) -> Numbers:
    """The numbers that the kept scores of a run have under each protocol.

    Only decisions about evaluation may differ from those of the run: what is held out, and what was fitted, stays.
    """
    labels, names = run.chosen(algorithms), tuple(metric_names)
    asked, refusals = _asked(protocols, names)
    folded = {number: [_Folds(one) for _ in labels] for number, one in asked.items()}
    total, done = len(run.plan.split.folds) * len(labels) * len(asked), 0
    for fold in run.folds():
        stages = _Stages(run, fold)
        groups, unlisted = stages.groups(asked)
        for number, why in unlisted.items():
            for one in folded[number]:
                one.refuse(why)
        for place, label in enumerate(labels):
            own = _AlgorithmStages(stages, label, _deepest(asked.values()), _with_scores(asked.values()))
            for listed, group in groups.items():
                for number in own.in_order(group, asked) if listed else group:
                    folded[number][place].add(own)
                done += len(group)
                if tell:
                    tell("variants", done, total)
    values = np.full((len(protocols), len(labels), len(names)), math.nan)
    for number, found in folded.items():
        for at, name in enumerate(names):
            whys = [why for one in found if (why := one.refusal(name))]
            if whys:
                refusals[number, name] = whys[0]
            elif name in asked[number].measures:
                values[number, :, at] = [one.value(name) for one in found]
    return Numbers(labels, names, values, refusals)


@dataclass(frozen=True, eq=False)
class _Asked:
    """What is asked of the scores under one protocol: measures, by the names that they were asked for with."""

    protocol: Protocol
    measures: Mapping[str, Measure]

    @cached_property
    def families(self) -> dict[str, Key]:
        """The decisions that have an effect, by family: what tells protocols apart at each stage."""
        found: dict[str, list[object]] = {}
        for name, value in self.protocol.items():
            found.setdefault(name.partition(".")[0], []).append((name, value))
        return {family: tuple(decisions) for family, decisions in found.items()}

    @cached_property
    def simple(self) -> list[Measure]:
        """Those that compute by themselves."""
        return simple_measures(self.measures.values())

    @cached_property
    def has_lists(self) -> bool:
        return any(one.metric.kind != "prediction" for one in self.simple)


def _asked(protocols: Sequence[Protocol], names: Sequence[str]) -> tuple[dict[int, _Asked], dict[tuple[int, str], str]]:
    known = metrics()
    asked: dict[int, _Asked] = {}
    refusals: dict[tuple[int, str], str] = {}
    for number, protocol in enumerate(protocols):
        measures: dict[str, Measure] = {}
        for name in names:
            try:
                measures[name] = parse_measure(name, protocol, known)
            except ReproError as error:
                refusals[number, name] = str(error)
        if measures:
            asked[number] = _Asked(protocol, measures)
    return asked, refusals


def _deepest(asked: Iterable[_Asked]) -> int | None:
    """How far down lists are ranked; None for to the end."""
    reaches = [one.reach for each in asked for one in each.simple if one.metric.kind != "prediction"]
    known = [reach for reach in reaches if reach is not None]
    return None if len(known) < len(reaches) else max(known, default=1)


def _with_scores(asked: Iterable[_Asked]) -> bool:
    return any("scores" in one.needs for each in asked for one in each.simple)


@dataclass(frozen=True, eq=False)
class _Listed:
    """The lists of a fold before they are ranked; ``rows`` are those of its users in the scores.

    ``ideals`` is what all rankings of them share.
    """

    block: ListBlock
    background: Background
    rows: npt.NDArray[np.intp]
    ideals: dict[Hashable, Values] = field(default_factory=dict)

    def judged_by(self, judgements: Judgements) -> _Listed:
        """Lists of all test users, one for each, with other judgements of the same held-out items."""
        block = replace(self.block, judged_relevant=judgements.relevant, judged_grades=judgements.grades)
        return replace(self, block=block, ideals={})

    @cached_property
    def unjudged(self) -> bytes:
        """A digest of the lists but for what is relevant in them: most rules rank alike whatever that is."""
        digest = hashlib.blake2b(digest_size=16)
        for one in fields(self.block):
            if one.name not in ("judged_relevant", "judged_grades"):
                digest.update(np.ascontiguousarray(getattr(self.block, one.name)).tobytes() + b"|")
        return digest.digest()


@dataclass(frozen=True, eq=False)
class _Part:
    """The number of one measure on one fold, and, where folds are pooled, what it is made of."""

    value: float
    lists: _Lists | None = None
    pairs: Predictions | None = None


class _Lists(NamedTuple):
    """What an average needs: the numbers of lists, and whose they are."""

    ratio: Ratio
    owners: ListOwners


class _Folds:
    """The numbers of one algorithm under one protocol, fold after fold."""

    def __init__(self, asked: _Asked) -> None:
        self._asked = asked
        self._parts: list[dict[str, _Part]] = []
        self._refusals: dict[str, str] = {}

    def refuse(self, why: str) -> None:
        """There are no lists to be measured."""
        self._refusals |= {one.full_name: why for one in self._asked.simple if one.metric.kind != "prediction"}

    def add(self, fold: _AlgorithmStages) -> None:
        """The numbers of another fold."""
        pooled = self._asked.protocol["average.folds"] == "pooled"
        parts: dict[str, _Part] = {}
        for one in self._asked.simple:
            if one.full_name in self._refusals:
                continue
            try:
                part = fold.part(one, self._asked)
                parts[one.full_name] = part if pooled else _Part(part.value)
            except ReproError as error:
                self._refusals[one.full_name] = str(error)
        self._parts.append(parts)

    def refusal(self, name: str) -> str:
        """Why the measure has no number; nothing where it has one, or was not to be had at all."""
        measure = self._asked.measures.get(name)
        simple = [] if measure is None else simple_measures([measure])
        return next((self._refusals[one.full_name] for one in simple if one.full_name in self._refusals), "")

    def value(self, name: str) -> float:
        """The number of a measure, all folds together."""
        measure = self._asked.measures[name]
        if self._asked.protocol["average.folds"] == "pooled":
            pooled = self._pooled(measure)
            if pooled is not None:
                return pooled
        values = [_joined(measure, parts) for parts in self._parts]
        return math.fsum(values) / len(values)

    def _pooled(self, measure: Measure) -> float | None:
        if measure.parts:
            assert measure.metric.join is not None
            values = [self._pooled(part) for part in measure.parts]
            known = [value for value in values if value is not None]
            return measure.metric.join(known) if len(known) == len(values) else None
        parts = [fold[measure.full_name] for fold in self._parts]
        lists = [part.lists for part in parts if part.lists is not None]
        if lists:
            ratios, owners = zip(*lists, strict=True)
            return average(measure, Ratio.joined(ratios), ListOwners.joined(owners), self._asked.protocol).value
        pairs = [part.pairs for part in parts if part.pairs is not None]
        return average_predictions(measure, _joined_pairs(pairs)).value if pairs else None


def _joined(measure: Measure, parts: Mapping[str, _Part]) -> float:
    """The number of a measure on a fold, from those of the measures it is made of."""
    return measure.joined({name: (part.value, 0) for name, part in parts.items()})[0]


def _joined_pairs(parts: Sequence[Predictions]) -> Predictions:
    def every(name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in parts])

    return replace(parts[0], **{name: every(name) for name in ("users", "items", "ratings", "values", "own")})


class _Stages:
    """What all algorithms share on a fold: judgements and lists."""

    def __init__(self, run: KeptRun, fold: KeptFold) -> None:
        self.run = run
        self.fold = fold
        self._judged: dict[Key, Judgements] = {}
        self._judgements: dict[bytes, Judgements] = {}
        self._listed: dict[Key, _Listed] = {}
        self._unjudged: dict[Key, _Listed] = {}
        self._rules: dict[Key, RankingRules] = {}

    def groups(self, asked: Mapping[int, _Asked]) -> tuple[dict[bytes, list[int]], dict[int, str]]:
        """The protocols by what is in their lists (nothing where they have none), and why some have none."""
        groups: dict[bytes, list[int]] = {}
        unlisted: dict[int, str] = {}
        for number, one in asked.items():
            lists = b""
            try:
                lists = self.list(one).unjudged if one.has_lists else b""
            except ReproError as error:
                unlisted[number] = str(error)
            groups.setdefault(lists, []).append(number)
        return groups, unlisted

    def judge(self, asked: _Asked) -> Judgements:
        """The held-out items; those that are judged alike are one and the same object."""
        key = asked.families["relevance"]
        if key not in self._judged:
            made = self.fold.parts.judge(asked.protocol)
            content = made.relevant.tobytes() + made.grades.tobytes()
            self._judged[key] = self._judgements.setdefault(content, made)
        return self._judged[key]

    def list(self, asked: _Asked) -> _Listed:
        """The lists, and what metrics need beside them."""
        judgements, protocol = self.judge(asked), asked.protocol
        # The rule of relevance also says which training items are left out, where not all of them are.
        trained = asked.families["relevance"] if protocol.get("candidates.exclude_train") == "relevant" else ()
        key = (id(judgements), asked.families["candidates"], trained)
        if key not in self._listed:
            if not lists_hang_on_relevance(protocol):
                same = self._unjudged.get(asked.families["candidates"])
                if same is not None:
                    self._listed[key] = same.judged_by(judgements)
                    return self._listed[key]
            self._listed[key] = self._candidates(judgements, protocol)
            self._unjudged[asked.families["candidates"]] = self._listed[key]
        return self._listed[key]

    def rules(self, asked: _Asked) -> RankingRules:
        """How missing and tied scores are ranked."""
        key = (asked.families["missing"], asked.families["ties"])
        if key not in self._rules:
            self._rules[key] = self.fold.parts.ranking_rules(asked.protocol, self.run.study.seed)
        return self._rules[key]

    def _candidates(self, judgements: Judgements, protocol: Protocol) -> _Listed:
        candidates = self.fold.parts.candidates(protocol, self.run.study.seed, judgements)
        rows = np.flatnonzero(np.isin(self.fold.test_users, candidates.users))
        return _Listed(candidates.block(candidates.users), self.fold.parts.background(candidates.items), rows)


class _AlgorithmStages:
    """What is an algorithm's own on a fold: rankings, numbers of lists, averages, predictions.

    Of rankings only the last one is kept, so protocols are asked in the order of :meth:`in_order`.
    """

    def __init__(self, shared: _Stages, label: str, depth: int | None, with_scores: bool) -> None:
        self._shared = shared
        self._label = label
        self._depth = depth
        self._with_scores = with_scores
        self._scores: Scores | None = None
        self._taken: tuple[Key, Scores, _Facts] | None = None
        self._ranked: tuple[Key, _Listed, _Rejudged] | None = None
        self._judged: tuple[Key, Ranked] | None = None
        self._ratios: dict[Key, Any] = {}
        self._parts: dict[Key, _Part] = {}
        self._predicted: dict[Key, _Part] = {}

    def in_order(self, group: Sequence[int], asked: Mapping[int, _Asked]) -> list[int]:
        """Protocols with the same items in their lists, those that rank and judge alike next to each other."""
        _, facts = self._take(self._shared.list(asked[group[0]]))

        def order(number: int) -> tuple[str, int]:
            return repr(facts.rules_that_matter(asked[number])), id(self._shared.list(asked[number]))

        return sorted(group, key=order)

    def part(self, measure: Measure, asked: _Asked) -> _Part:
        """The number of a measure that computes by itself."""
        if measure.metric.kind == "prediction":
            return self._of_predictions(measure, asked)
        listed = self._shared.list(asked)
        if lack := lacking(measure.needs, listed.background):
            raise StudyError(f"metric {measure.name} needs {lack}")
        ranked = self._rank(listed, asked)
        key = (_named(measure), asked.families["average"])
        if key not in self._parts:
            unlisted = unlisted_users(self._shared.judge(asked), asked.protocol)
            self._parts[key] = self._measured(measure, asked.protocol, listed, ranked, unlisted)
        return self._parts[key]

    def _measured(
        self, measure: Measure, protocol: Protocol, listed: _Listed, ranked: Ranked, unlisted: CodeArray
    ) -> _Part:
        name = _named(measure)
        if name not in self._ratios:
            self._ratios[name] = measure.of_lists(ranked, listed.background)
        ratio = self._ratios[name]
        if measure.metric.kind == "collection":
            return _Part(measure.of_collection([ratio], listed.background))
        lists = _Lists(ratio, ListOwners.of(ranked, unlisted))
        return _Part(average(measure, ratio, lists.owners, protocol).value, lists=lists)

    def _rank(self, listed: _Listed, asked: _Asked) -> Ranked:
        scores, facts = self._take(listed)
        ranked_by = (listed.unjudged, facts.rules_that_matter(asked))
        key = (id(listed), *ranked_by)
        if self._judged is None or self._judged[0] != key:
            if self._ranked is None or self._ranked[0] != ranked_by:
                self._ranked = (ranked_by, listed, _Rejudged(self._ranking(scores, listed, asked)))
            _, of, made = self._ranked
            judged = made.ranked if of is listed else made.judged_by(listed.block)
            self._judged = (key, replace(judged, ideals=listed.ideals))
            self._ratios, self._parts = {}, {}
        return self._judged[1]

    def _ranking(self, scores: Scores, listed: _Listed, asked: _Asked) -> Ranked:
        rules = self._shared.rules(asked)
        ranked, _ = rank(scores, listed.block, rules, depth=self._depth)
        if not self._with_scores:
            return ranked
        return replace(ranked, scores=listed_scores(ranked, scores, listed.block, rules))

    def _take(self, listed: _Listed) -> tuple[Scores, _Facts]:
        """The scores of the lists' users and items, and what is in them."""
        if self._scores is None:
            self._scores = self._shared.run.scores(self._label, self._shared.fold)
        key = (listed.rows.tobytes(), listed.block.items.tobytes())
        if self._taken is None or self._taken[0] != key:
            taken = take_scores(self._scores, listed.rows, listed.block.items)
            self._taken = (key, taken, _Facts.of(taken))
        return self._taken[1:]

    def _of_predictions(self, measure: Measure, asked: _Asked) -> _Part:
        key = (_named(measure), asked.families["predict"])
        if key not in self._predicted:
            shared = self._shared
            predicted, test = shared.run.predictions(self._label, shared.fold.name), shared.fold.parts.test
            if predicted is None:
                self._predicted[key] = _Part(math.nan)
            else:
                train = TrainRatings.of(shared.fold.parts.train, shared.run.scale)
                pairs = resolve_predictions(predicted, test.ratings, test.users, test.items, asked.protocol, train)
                self._predicted[key] = _Part(average_predictions(measure, pairs).value, pairs=pairs)
        return self._predicted[key]


@dataclass(frozen=True, eq=False)
class _Rejudged:
    """Ranked lists that can be had with other judgements of the same held-out items."""

    ranked: Ranked

    def judged_by(self, block: ListBlock) -> Ranked:
        """The same lists, ranked alike, as the block judges them."""
        owners, places = self._order
        relevant, grades = np.empty_like(self.ranked.relevant), np.empty_like(self.ranked.grades)
        relevant[places], grades[places] = block.judged_relevant, block.judged_grades
        counts = np.bincount(owners[relevant == 1], minlength=len(self.ranked)).astype(np.int32)
        return replace(self.ranked, relevant=relevant, grades=grades, n_relevant=counts)

    @cached_property
    def _order(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The list of each hit, and where the hits are that a block has in ascending order of its lists and items."""
        owners = np.repeat(np.arange(len(self.ranked)), np.diff(self.ranked.offsets))
        return owners, np.lexsort((self.ranked.hit_items, owners))


@dataclass(frozen=True)
class _Facts:
    """What is among some scores; rules about what is not there cannot matter."""

    unscored: bool
    fallback: bool
    zero: bool
    negative: bool
    infinite: bool

    @classmethod
    def of(cls, scores: Scores) -> _Facts:
        values, state = scores.values, scores.state
        return cls(
            bool(np.isnan(values).any() or (state is not None and (state == UNSCORED).any())),
            bool(state is not None and (state == FALLBACK).any()),
            bool((values == 0).any()),
            bool((values < 0).any()),
            bool(np.isinf(values).any()),
        )

    def rules_that_matter(self, asked: _Asked) -> Key:
        """The decisions about missing and tied scores, each option that changes nothing here as one that says so."""
        protocol = asked.protocol
        fallback = protocol["missing.fallback"] if self.fallback else "accept"
        zero = protocol["missing.zero"]
        if zero == "missing-or-below" and not self.negative:
            zero = "missing"
        if zero == "missing" and not self.zero:
            zero = "scored"
        infinite = protocol["missing.infinite"] if self.infinite else "scored"
        none_missing = not self.unscored and (fallback, zero, infinite) == ("accept", "scored", "scored")
        where = () if none_missing else (protocol["missing.rank"], protocol.get("missing.constant"))
        return (fallback, zero, infinite, where, asked.families["ties"])


def _named(measure: Measure) -> Key:
    """A measure with all that its variants and the decisions that it reads say."""
    return (measure.metric.name, measure.cutoff, *sorted(measure.variants.items()))
