"""Every call into a plug-in goes through here: errors get the plug-in's name, results are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, Interactions
from repro.errors import PluginError
from repro.plugin.interfaces import FALLBACK, RatingPredictor, Recommender, Scores


class Guarded:
    """A recommender behind the border; ``label`` is how messages call it (``reference/item-knn``)."""

    def __init__(self, recommender: Recommender, label: str) -> None:
        self._recommender = recommender
        self.label = label

    def fit(self, train: Interactions, *, seed: int) -> None:
        self._call("fit", train, seed=seed)

    def score(self, users: CodeArray, items: CodeArray) -> Scores:
        return self._checked("score", self._call("score", users, items), (len(users), len(items)))

    @property
    def predicts(self) -> bool:
        return isinstance(self._recommender, RatingPredictor)

    def predict(self, users: CodeArray, items: CodeArray) -> Scores:
        return self._checked("predict", self._call("predict", users, items), (len(users),))

    def _call(self, method: str, *args: Any, **keywords: Any) -> Any:
        try:
            return getattr(self._recommender, method)(*args, **keywords)
        except Exception as error:
            raise PluginError(f"{self.label} failed in {method}: {type(error).__name__}: {error}") from error

    def _checked(self, method: str, result: object, shape: tuple[int, ...]) -> Scores:
        if not isinstance(result, Scores):
            raise PluginError(
                f"{self.label} returned {type(result).__name__} from {method}; expected repro.plugin.Scores"
            )
        values: npt.NDArray[np.float64] = np.ascontiguousarray(result.values, dtype=np.float64)
        if values.shape != shape:
            raise PluginError(
                f"{self.label} returned scores of shape {values.shape} from {method}; expected {shape}: "
                + ("users by items" if len(shape) == 2 else "one for each pair")
            )
        state = result.state
        if state is not None:
            state = np.ascontiguousarray(state, dtype=np.uint8)
            if state.shape != shape or (state.size and int(state.max()) > FALLBACK):
                raise PluginError(
                    f"{self.label} returned states of shape {state.shape} from {method}; expected {shape} with "
                    "0 (scored), 1 (unscored) or 2 (fallback)"
                )
        return Scores(values, state)
