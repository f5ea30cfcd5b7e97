"""NormalPredictor as Surprise's ``cross_validate`` has it: one draw after the other, fold after fold."""

from __future__ import annotations

import numpy as np

from repro.data.interactions import CodeArray, Interactions
from repro.errors import PluginError
from repro.plugin import Parameter, Queries, Scores
from repro_surprise.classes import CLASSES
from repro_surprise.normal import NormalRatings
from repro_surprise.recommender import SEEDS, SurpriseRecommender

# Held-out rows are asked for together up to this number.
_MOST = 1 << 18


class DrawnInTurn(SurpriseRecommender):
    """The draws of a script that seeds NumPy's global generator once and then cross-validates NormalPredictor.

    The first held-out row of a fold gets the draw after the last of the fold before, so that a number hangs on the
    order of the rows: it is that of the script with ``data.order = "splitter"``, ``split.strategy = "surprise/KFold"``
    and the seed of the script as the seed of every fit. Scores of lists are those of NormalPredictor.
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
        users = queries.users
        normal = self.estimates_
        assert isinstance(normal, NormalRatings)
        drawn = np.random.RandomState(self._seed).standard_normal(self.before_ + len(users))
        return Scores(normal.mean + normal.deviation * drawn[self.before_ :])


def rows_before(train_rows: int, fold: int, folds: int) -> int:
    """How many rows the folds before a fold (from 0) of KFold hold out, told from its training rows.

    The first folds have a row more where the rows cannot be shared out evenly. Two numbers of rows may leave a fold
    with the same training rows; the folds before it hold out the same then.
    """
    size, over = divmod(train_rows, folds - 1)
    return fold * size + min(fold, over)
