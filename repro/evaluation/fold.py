"""The rows of one fold, and what an evaluation makes of them before any algorithm has a say."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.sparse import csr_array

from repro.data import Interactions
from repro.data.interactions import CodeArray
from repro.evaluation.candidates import Candidates, Judgements, judge, plan_candidates
from repro.evaluation.metrics import Background
from repro.evaluation.ranking import RankingRules, refuse_rows
from repro.protocol import Protocol


@dataclass(frozen=True, eq=False)
class FoldData:
    """Training, validation and test rows of a fold, the data set they come from, and features of its items.

    ``removed_items`` are the head items that no list has (``split.head``). ``joined`` are training and validation rows
    together, where algorithms are fitted on both.
    """

    whole: Interactions
    train: Interactions
    test: Interactions
    validation: Interactions | None
    removed_items: CodeArray
    features: csr_array | None = None
    joined: Interactions | None = None

    @property
    def fitted(self) -> Interactions:
        """The rows that algorithms are fitted on."""
        return self.train if self.joined is None else self.joined

    def judge(self, protocol: Protocol) -> Judgements:
        """Which held-out items are relevant."""
        return judge(self.train, self.test, protocol)

    def candidates(self, protocol: Protocol, seed: int, judgements: Judgements | None = None) -> Candidates:
        """The items that each list ranks; ``judgements`` are those of :meth:`judge`, where they are known already."""
        return plan_candidates(
            self.train,
            self.test,
            protocol,
            seed,
            judgements=judgements,
            removed_items=self.removed_items,
            validation=self.validation,
            all_interactions=self.whole,
        )

    def ranking_rules(self, protocol: Protocol, seed: int) -> RankingRules:
        """How missing and tied scores are ranked."""
        refuse_rows(protocol)
        return RankingRules.from_protocol(
            protocol, self.whole, train=self.train, data_items=self.whole.items, seed=seed
        )

    def background(self, items: CodeArray) -> Background:
        """What metrics know beside the lists; ``items`` are those that can be recommended."""
        return Background(self.test, items, self.train, self.features)
