"""What RecBole's trainer is given: a model of its own base class with given scores. Imported where RecBole is."""

from __future__ import annotations

from typing import Any

from recbole.evaluator import Collector
from recbole.model.abstract_recommender import GeneralRecommender
from recbole.utils import InputType
from torch import Tensor, nn


class GivenScores(GeneralRecommender):
    """Says of users and items what it was told, by RecBole's inner ids."""

    input_type = InputType.POINTWISE

    def __init__(self, config: Any, dataset: Any, scores: Tensor) -> None:
        super().__init__(config, dataset)
        self.scores = nn.Parameter(scores, requires_grad=False)

    def full_sort_predict(self, interaction: Any) -> Tensor:
        return self.scores[interaction[self.USER_ID]].view(-1)

    def predict(self, interaction: Any) -> Tensor:
        return self.scores[interaction[self.USER_ID], interaction[self.ITEM_ID]]


class UncopiedCollector(Collector):
    """Hands over what it has collected as it is, numbers of items too, which RecBole's takes for tensors."""

    def get_data_struct(self) -> Any:
        return self.data_struct
