"""The rows of one fold, and the judgements and candidates that an evaluation derives from them before any fit."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING

from repro.data import Interactions
from repro.data.interactions import CodeArray, FloatArray
from repro.evaluation.caches import content
from repro.evaluation.candidates import Candidates, FoldRows, Judgements, ListBlock, judge, plan_candidates
from repro.evaluation.metrics import Background
from repro.evaluation.ranking import RankingRules, refuse_rows
from repro.plugin import History, Queries
from repro.protocol import Protocol

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_JUDGEMENTS = ("judged_relevant", "judged_grades")


@dataclass(frozen=True, eq=False)
class Lists:
    """The lists of a fold before they are ranked, and what metrics know besides them.

    ``ideals`` are the values of ideal lists, which all rankings of these lists share.
    """

    block: ListBlock
    background: Background = field(compare=False)
    ideals: dict[Hashable, FloatArray] = field(default_factory=dict, compare=False)

    def judged_by(self, judgements: Judgements) -> Lists:
        """The same lists with other judgements of the same held-out items; each test user has exactly one list."""
        block = replace(self.block, judged_relevant=judgements.relevant, judged_grades=judgements.grades)
        return Lists(block, self.background)

    @cached_property
    def cells(self) -> Hashable:
        """The users and items whose scores the lists are ranked by."""
        return content((self.block.users, self.block.items))

    @cached_property
    def unjudged(self) -> Hashable:
        """The content of the lists without the judgements: lists that are alike in it are ranked alike."""
        names = (field.name for field in fields(self.block))
        return content(tuple(getattr(self.block, name) for name in names if name not in _JUDGEMENTS))


@dataclass(frozen=True, eq=False)
class FoldData(FoldRows):
    """The rows of a fold, and features of the items.

    ``to_fit`` are the rows that algorithms are fitted on, where these are not the training rows as they are: training
    and validation rows together, or rows with binary ratings. ``scale`` is the rating scale, by default that of all
    rows.
    """

    features: csr_array | None = None
    to_fit: Interactions | None = None
    scale: tuple[float, float] | None = None

    @property
    def fitted(self) -> Interactions:
        """The rows that algorithms are fitted on."""
        return self.train if self.to_fit is None else self.to_fit

    @property
    def rating_scale(self) -> tuple[float, float] | None:
        """The rating scale, where it is known."""
        if self.scale is not None or not len(self.whole):
            return self.scale
        return float(self.whole.ratings.min()), float(self.whole.ratings.max())

    @cached_property
    def history(self) -> History:
        """The rows that algorithms are fitted on, as the history of the users in queries."""
        return History(self.fitted)

    def queries(self, users: CodeArray) -> Queries:
        """Queries of these users."""
        return Queries(users, self.history)

    def judge(self, protocol: Protocol) -> Judgements:
        """The held-out items that are relevant."""
        return judge(self.train, self.test, protocol)

    def candidates(self, protocol: Protocol, seed: int, judgements: Judgements | None = None) -> Candidates:
        """The items that each list ranks; ``judgements`` are those of :meth:`judge`, where they are known already."""
        return plan_candidates(self, protocol, seed, judgements)

    def lists(self, protocol: Protocol, seed: int, judgements: Judgements) -> Lists:
        """The lists of all test users before they are ranked, in one block."""
        candidates = self.candidates(protocol, seed, judgements)
        return Lists(candidates.block(candidates.users), self.background(candidates.items))

    def ranking_rules(self, protocol: Protocol, seed: int) -> RankingRules:
        """The rules for ranking missing and tied scores."""
        refuse_rows(protocol)
        return RankingRules.from_protocol(
            protocol, self.whole, train=self.train, data_items=self.whole.items, seed=seed, scale=self.rating_scale
        )

    def background(self, items: CodeArray) -> Background:
        """The inputs of metrics besides the lists; ``items`` are those that can be recommended."""
        return Background(self.test, items, self.train, self.features)
