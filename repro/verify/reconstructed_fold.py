"""A fold of a stored run as numbers are computed from it again: with its data made again, or with what was kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from repro.data import Interactions
from repro.evaluation.candidates import Judgements, judge
from repro.evaluation.fold import FoldData
from repro.evaluation.metrics import Background, Measure
from repro.protocol import Protocol
from repro.study.fold_data import fold_data
from repro.study.plan import Plan
from repro.verify.relist import why_not_from_lists

WITHOUT_TRAINING = {"test", "ratings"}


@dataclass(frozen=True, eq=False)
class ReconstructedFold:
    """The held-out rows of a fold with their judgements; ``parts`` where the data could be had and split again."""

    test: Interactions
    protocol: Protocol
    seed: int
    parts: FoldData | None = None

    @classmethod
    def of_plan(cls, plan: Plan, fold: str) -> ReconstructedFold:
        made = next(one for one in plan.split.folds if one.name == fold)
        parts = fold_data(plan, made)
        return cls(parts.test, plan.study.protocol, plan.study.seed, parts)

    @classmethod
    def of_stored(cls, test: pd.DataFrame, listed: list[Any], protocol: Protocol, seed: int) -> ReconstructedFold:
        """From the stored test part, with ``listed`` items that only lists have among its ids."""
        others = list(dict.fromkeys(listed))
        rows = pd.concat([test, test.iloc[[0] * len(others)].assign(item=others)], ignore_index=True)
        return cls(Interactions.from_frame(rows).select(np.arange(len(test))), protocol, seed)

    @property
    def _train(self) -> Interactions:
        return self.test.select(np.arange(0)) if self.parts is None else self.parts.train

    @cached_property
    def judgements(self) -> Judgements:
        return judge(self._train, self.test, self.protocol)

    @cached_property
    def background(self) -> Background:
        if self.parts is None:
            return Background(self.test, np.empty(0, dtype=np.int32))
        return self.parts.background(self.parts.candidates(self.protocol, self.seed, self.judgements).items)

    def why_not(self, measure: Measure) -> str:
        """Why a measure of lists cannot be computed from the stored ones; nothing where it can."""
        if why := why_not_from_lists(measure, self.protocol):
            return why
        if self.parts is not None:
            return ""
        about_all = measure.metric.kind == "collection" or not set(measure.needs) <= WITHOUT_TRAINING
        if about_all or self.protocol["relevance.rule"] == "user-mean":
            return "it goes by more than lists and held-out rows, and the data of the run is not at hand"
        return ""
