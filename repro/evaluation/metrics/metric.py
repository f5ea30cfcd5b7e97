"""Metrics: what a metric declares, and the input and output of its function.

The modules of metrics import the types of the arguments from here, too (``Background as Background``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import reduce
from itertools import product
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from repro.data.impact import Impact
from repro.data.interactions import CodeArray, FloatArray
from repro.evaluation.metrics.background import Background as Background
from repro.evaluation.metrics.shared.declarations import Range as Range
from repro.evaluation.metrics.shared.declarations import Variants as Variants
from repro.evaluation.metrics.tie_order import Extreme, TieOrder
from repro.evaluation.ranking.ranked import Ranked as Ranked
from repro.protocol import OF_LISTS, OF_PREDICTIONS, Decision, Protocol, Stage

# The deepest cut-off, and that of a metric without one: ranks are stored doubled, in 32 bits.
DEEPEST = 2**29

# What a list without a value counts, by the option of the protocol; "skip" leaves it out.
FILLERS = {"zero": 0.0, "half": 0.5, "one": 1.0, "nan": math.nan}

Kind = Literal["ranking", "collection", "prediction"]
# The tasks of Gunawardana & Shani (2009), and none of them.
Task = Literal[
    "predict ratings", "recommend some good items", "recommend all good items", "optimise utility", "beyond accuracy"
]
Need = Literal["ratings", "train", "test", "catalogue", "timestamps", "features", "previous", "scores"]
Better = Literal["higher", "lower", "neither"]
RangeOf = Callable[[int | None, Variants, Protocol], Range]
TieOrderOf = Callable[[int | None, Variants], TieOrder | str]
Compute = Callable[[Ranked, int | None, Variants, Background], "Ratio"]
Tied = Literal["best", "worst"]
EXTREMES: tuple[Tied, ...] = ("best", "worst")
Mask = npt.NDArray[np.bool_]

# Why a list has no value: the numerator if the denominator is 0.
NO_RELEVANT, NO_NEGATIVES, NONE_LISTED = 0.0, 1.0, 2.0


class Ratio(NamedTuple):
    """A metric of each list as numerator and denominator.

    The value is their ratio. The denominator is 0 exactly where the metric is undefined (``RankingMetric.undefined``).
    The numerator then gives the reason: 0, the list has no relevant items; 1, it has some and no negatives; 2, it has
    some and ranks none of them, and the metric leaves out what is not ranked. Numerators and denominators of several
    lists can also be pooled.
    """

    numerator: FloatArray
    denominator: FloatArray

    @property
    def values(self) -> FloatArray:
        """The value of each list, not a number where it is undefined."""
        undefined = self.denominator == 0
        return np.where(undefined, np.nan, self.numerator / np.where(undefined, 1.0, self.denominator))

    @staticmethod
    def joined(parts: Sequence[Ratio]) -> Ratio:
        """The numbers of several blocks or folds, one after the other."""
        numerators, denominators = zip(*parts, strict=True)
        return Ratio(np.concatenate(numerators), np.concatenate(denominators))


@dataclass(frozen=True, eq=False)
class Predictions:
    """Test pairs, their ratings, and their predictions under the ``predict.*`` decisions.

    values  the prediction of each pair; NaN if it has none, and the pair is left out
    own     whether the algorithm itself predicted it; False if there is no prediction, or a fallback of the framework
    scale   the lowest and the highest rating of the scale
    spoils  whether a pair without a prediction is not left out: every error that includes it is then not a number
    """

    users: CodeArray
    items: CodeArray
    ratings: FloatArray
    values: FloatArray
    own: Mask
    scale: Range
    impacts: tuple[Impact, ...] = ()
    spoils: bool = False

    def __len__(self) -> int:
        return len(self.users)

    @property
    def errors(self) -> FloatArray:
        """Prediction minus rating, of the pairs that are not left out."""
        errors = self.values - self.ratings
        return errors if self.spoils else errors[~np.isnan(errors)]

    def select(self, rows: npt.NDArray[np.intp] | Mask | slice) -> Predictions:
        """Some of the pairs, without the impacts of decisions."""
        columns = ("users", "items", "ratings", "values", "own")
        return replace(self, impacts=(), **{name: getattr(self, name)[rows] for name in columns})


def add_up(blocks: Sequence[FloatArray]) -> FloatArray:
    """The sum of the arrays of all blocks, one after the other."""
    return reduce(np.add, blocks)


@dataclass(frozen=True)
class Metric:
    """The fields of all metrics: :class:`RankingMetric`, :class:`CollectionMetric` and :class:`PredictionMetric`.

    name        as it is written in a study: ``ndcg``
    title       its name in words
    cutoff      whether the name takes ``@k``; without one the whole list counts
    variants    decisions ``metric.NAME.VARIANT``
    shared      decisions outside ``metric.NAME`` that the name can state like a variant, by their last name
                (``predict.average`` as ``average``)
    reads       other decisions that variants depend on; if they have an effect, ``compute`` gets them among
                the variants by their last name (``relevance.threshold`` as ``threshold``)
    needs       what must be known besides the lists, in the background or as scores of listed items
    also_needs  ``also_needs(variants)`` names what these variants need besides that
    whole_list  whether all held-out items of a list must have their ranks, also those below the cut-off
    objection   ``objection(variants, protocol)`` says why these variants cannot be computed under the protocol, and
                what to use instead; an empty text if they can
    parts       ``parts(k, variants)`` names the measures whose values ``join(values, variants)`` combines into
                this one; if it names none, the metric computes by itself
    better      which of two values is the better one
    range       the lowest and the highest possible value, or ``range(k, variants, protocol)``, which gives them;
                infinite if there is no bound, or none is known
    tie_order   which order of tied items gives the highest and which the lowest value, or ``tie_order(k, variants)``,
                which gives that order; a text says why there is none; None if it is not known
    aliases     other names, with the variants that they state
    ambiguity   what sources define otherwise under its other names, as a sentence
    undefined_in_1r  why it has no meaning for lists with one relevant item, and what to use instead
    not_audited      why it cannot be audited, and what to audit instead
    task        the task for which it compares algorithms; None if the author does not state it
    shows       what it shows, and what it does not, in a few words
    cite        where it comes from
    """

    kind: ClassVar[Kind]
    stages: ClassVar[tuple[Stage, ...]]

    name: str
    title: str
    _: KW_ONLY
    cutoff: Literal["required", "optional", "none"] = "none"
    variants: tuple[Decision, ...] = ()
    shared: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    also_needs: Callable[[Variants], tuple[Need, ...]] | None = None
    whole_list: bool = False
    objection: Callable[[Variants, Protocol], str] | None = None
    parts: Callable[[int | None, Variants], tuple[str, ...]] | None = None
    join: Callable[[Sequence[float], Variants], float] | None = None
    better: Better = "higher"
    range: Range | RangeOf = (-math.inf, math.inf)
    tie_order: TieOrder | TieOrderOf | str | None = None
    aliases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    ambiguity: str = ""
    undefined_in_1r: str = ""
    not_audited: str = ""
    task: Task | None = None
    shows: str = ""
    cite: str = ""

    @property
    def suits(self) -> str:
        """The task in words, with the survey that distinguishes tasks; empty if none is stated."""
        if self.task is None:
            return ""
        task = "none of the tasks of accuracy" if self.task == "beyond accuracy" else self.task
        return f"{task} (Gunawardana & Shani 2009)"

    @property
    def variant_ids(self) -> dict[str, str]:
        """The decisions that a name can state, by their short names."""
        return {key.rpartition(".")[2]: key for key in (*(d.id for d in self.variants), *self.shared)}

    def order_of_ties(self, k: int | None, variants: Variants) -> TieOrder | str:
        """The order of tied items that gives the highest (reversed, the lowest) value; or why there is none."""
        if self.tie_order is None:
            return "the metric does not state which order of tied items gives its highest value (Metric.tie_order)"
        return self.tie_order(k, variants) if callable(self.tie_order) else self.tie_order

    def extreme(self, which: Tied) -> Extreme:
        """Whether the best (worst) value is the highest or the lowest one; the highest is best if neither is better."""
        return "highest" if (which == "best") == (self.better != "lower") else "lowest"

    def widest_range(self, protocol: Protocol) -> Range:
        """The range over all variants and cut-offs, for lists that are ranked under the protocol."""
        if not callable(self.range):
            return self.range
        names = [decision.id.rpartition(".")[2] for decision in self.variants]
        combinations = product(*(decision.tried or (decision.minimum or 0.0,) for decision in self.variants))
        k = DEEPEST if self.cutoff == "required" else None
        ranges = [self.range(k, dict(zip(names, values, strict=True)), protocol) for values in combinations]
        return min(low for low, _ in ranges), max(high for _, high in ranges)


@dataclass(frozen=True)
class RankingMetric(Metric):
    """A metric of each list: ``compute(ranked, k, variants, background)`` gives a Ratio for the lists of a block.

    undefined   the meaning of a denominator of 0: "no-relevant", the list has no relevant items, and
                ``average.no_relevant`` says what it counts; "left-out", the metric has no value for the list
    empty       the value of an empty list, or ``empty(variants)``, which gives it, if that does not depend on what is
                relevant; not a number if there is none
    negatives   whether a list without negative items has no value, so that ``average.no_negatives`` applies
    pooled      ``pooled(variants)`` says whether numerators and denominators are added up over lists before they
                are divided, whatever ``average.over`` says
    """

    kind: ClassVar[Kind] = "ranking"
    stages: ClassVar[tuple[Stage, ...]] = OF_LISTS

    compute: Compute
    _: KW_ONLY
    undefined: Literal["no-relevant", "left-out"] = "no-relevant"
    empty: float | Callable[[Variants], float] = 0.0
    negatives: bool = False
    pooled: Callable[[Variants], bool] | None = None

    def of_empty_list(self, variants: Variants) -> float:
        """The value of an empty list."""
        return self.empty(variants) if callable(self.empty) else self.empty


@dataclass(frozen=True)
class CollectionMetric(Metric):
    """One number about all lists together.

    compute   ``compute(ranked, k, variants, background)`` gives an array for a block (all lists of a user are in one
              block)
    finish    ``finish(merged, variants, background)`` gives the number from the merged arrays of all blocks
    merge     joins the arrays of blocks, in the order of users; by default it adds them up
    """

    kind: ClassVar[Kind] = "collection"
    stages: ClassVar[tuple[Stage, ...]] = tuple(stage for stage in OF_LISTS if stage != "average")

    compute: Callable[[Ranked, int | None, Variants, Background], FloatArray]
    finish: Callable[[FloatArray, Variants, Background], float]
    _: KW_ONLY
    merge: Callable[[Sequence[FloatArray]], FloatArray] = add_up


@dataclass(frozen=True)
class PredictionMetric(Metric):
    """A metric of predicted ratings: ``compute(predictions, variants)`` gives the number of some test pairs."""

    kind: ClassVar[Kind] = "prediction"
    stages: ClassVar[tuple[Stage, ...]] = OF_PREDICTIONS

    compute: Callable[[Predictions, Variants], float]
