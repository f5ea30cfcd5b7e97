"""NormalPredictor as in Surprise's ``cross_validate``: one draw after the other, fold after fold."""

from __future__ import annotations

import numpy as np

from repro.data.interactions import CodeArray, Interactions
from repro.errors import PluginError
from repro.plugin import Parameter, Queries, Scores
from repro_surprise.classes import CLASSES
from repro_surprise.normal import NormalRatings
from repro_surprise.recommender import SEEDS, SurpriseRecommender

# Up to this number, the held-out rows of a fold are predicted in one call.
_MOST = 1 << 18


class DrawnInTurn(SurpriseRecommender):
    """The draws of a script that seeds NumPy's global generator once and then cross-validates NormalPredictor.

    The first held-out row of a fold gets the draw after the last one of the previous fold, so that draws depend on the
    order of the rows: they are those of the script with ``data.order = "splitter"``, ``split.strategy =
    "surprise/KFold"`` and the seed of the script as the seed of every fit. Scores of lists are those of
    NormalPredictor.
    """

    PARAMETERS = (Parameter("n_splits", 5, "how many folds the splitter makes"),)

    def __init__(self, n_splits: int = 5) -> None:
        super().__init__(CLASSES["NormalPredictor"], {})
        if n_splits < 2:
            raise PluginError(f"n_splits = {n_splits} is too few; KFold makes at least 2 folds")
        self.n_splits = n_splits
        self._fold = 0

    def on_fold(self, name: str) -> None:
        self._fold = int(name) - 1 if name.isdigit() else 0

    def fit(self, train: Interactions, *, seed: int) -> None:
        super().fit(train, seed=seed)
        self._seed = seed % SEEDS
        self.before_ = rows_before(len(train), self._fold, self.n_splits)
        if len(train) // (self.n_splits - 1) >= _MOST:
            raise PluginError(
                f"draws in turn are for fewer than {_MOST:,} held-out rows of a fold; these folds have more"
            )

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        normal = self.estimates_
        assert isinstance(normal, NormalRatings)
        drawn = np.random.RandomState(self._seed).standard_normal(self.before_ + len(queries))
        return Scores(normal.mean + normal.deviation * drawn[self.before_ :])


def rows_before(train_rows: int, fold: int, folds: int) -> int:
    """The number of rows in the test parts before a fold (from 0) of KFold, from the number of its training rows.

    The first folds have one row more if the rows cannot be divided evenly. Two numbers of rows may leave a fold with
    the same number of training rows; the folds before it then hold out the same number.
    """
    size, remainder = divmod(train_rows, folds - 1)
    return fold * size + min(fold, remainder)
