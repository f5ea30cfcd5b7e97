"""Expected utility: the probability that the item is chosen, times its utility."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repro.data.interactions import CodeArray, Interactions
from repro.plugin import Algorithm, Parameter, Queries, Recommender, Scores
from repro_reference.checks import at_least, one_of
from repro_reference.item_conditional import ItemConditional
from repro_reference.item_mean import ItemMean
from repro_reference.knn import UserKNN

PROBABILITIES = ("item-conditional", "prediction")
UTILITIES = ("item-mean", "prediction")


@dataclass(eq=False, kw_only=True)
class ExpectedUtility:
    """score(u, i) = pr(i | u) x utility(u, i), each from an algorithm (Gunawardana & Shani 2009, section 6.2.4).

    The probability is that of ``item-conditional``, or a predicted rating divided by the highest one in training,
    clipped to 0 and 1. The utility is the mean rating of the item (the rating is the value of a choice, such as its
    profit), or the predicted rating. Predictions are those of ``user-knn`` with Pearson's correlation around user
    means. A pair is unscored if either estimate is.
    """

    probability: str = "item-conditional"
    utility: str = "item-mean"
    k: int = 25

    def __post_init__(self) -> None:
        one_of(self, probability=PROBABILITIES, utility=UTILITIES)
        at_least(self, k=1)

    def fit(self, train: Interactions, *, seed: int) -> None:
        prediction = UserKNN(k=self.k, similarity="pearson", center="mean")
        self.probability_: Recommender = prediction if self.probability == "prediction" else ItemConditional()
        self.utility_: Recommender = prediction if self.utility == "prediction" else ItemMean()
        self.highest_ = float(train.ratings.max())
        self.probability_.fit(train, seed=seed)
        if self.utility_ is not self.probability_:
            self.utility_.fit(train, seed=seed)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        probability = self.probability_.score(queries, items)
        utility = self.utility_.score(queries, items)
        chances = probability.values
        if self.probability == "prediction":
            chances = np.clip(chances / self.highest_, 0.0, 1.0)
        expected = chances * utility.values
        return Scores.where(~np.isnan(expected), expected)  # NaN where either is unscored


declaration = Algorithm(
    "expected-utility",
    "probability of choosing the item times its utility",
    ExpectedUtility,
    parameters=(
        Parameter("probability", "item-conditional", "item-to-item, or predicted over highest rating", PROBABILITIES),
        Parameter("utility", "item-mean", "mean rating of the item, or predicted rating", UTILITIES),
        Parameter("k", 25, "neighbours of the predictions"),
    ),
    cite="Gunawardana & Shani (2009), JMLR 10, section 6.2.4",
)
