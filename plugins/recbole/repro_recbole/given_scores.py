"""A model of RecBole's own base class with given scores, for its trainer. Imported only where RecBole is installed."""

from __future__ import annotations

from typing import Any

from recbole.evaluator import Collector
from recbole.model.abstract_recommender import GeneralRecommender
from recbole.utils import InputType
from torch import Tensor, nn


class GivenScores(GeneralRecommender):
    """Has the scores of users and items, by RecBole's inner ids."""

    input_type = InputType.POINTWISE

    def __init__(self, config: Any, dataset: Any, scores: Tensor) -> None:
        super().__init__(config, dataset)
        self.scores = nn.Parameter(scores, requires_grad=False)

    def full_sort_predict(self, interaction: Any) -> Tensor:
        return self.scores[interaction[self.USER_ID]].view(-1)

    def predict(self, interaction: Any) -> Tensor:
        return self.scores[interaction[self.USER_ID], interaction[self.ITEM_ID]]


class UncopiedCollector(Collector):
    """Returns its data as it is; RecBole's own collector copies it, and fails for the number of items, which is no
    tensor."""

    def get_data_struct(self) -> Any:
        return self.data_struct
