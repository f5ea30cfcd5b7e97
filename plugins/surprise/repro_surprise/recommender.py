"""A class of Surprise as a recommender."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import ParameterValue, Queries, Scores, by_code
from repro_surprise.classes import SurpriseClass, check
from repro_surprise.fitted import fit

# NumPy's RandomState takes seeds of 32 bits.
SEEDS = 1 << 32


class SurpriseRecommender:
    """Fits as Surprise does and scores with the arrays of the fitted algorithm.

    Scores are the estimates that Surprise's ``predict`` gives, not clipped to the rating scale.

    An impossible prediction (``was_impossible``) is a fallback with Surprise's value: the mean of all training ratings.
    All others are scored, even if Surprise has only a mean or biases for them.

    ``known_as`` has the names of parameters in messages, where these are not Surprise's own.
    """

    def __init__(
        self,
        of: SurpriseClass,
        parameters: Mapping[str, ParameterValue],
        known_as: Mapping[str, str] | None = None,
    ) -> None:
        check(parameters, known_as or {})
        self.of = of
        self.parameters = dict(parameters)

    def fit(self, train: Interactions, *, seed: int) -> None:
        fitted = fit(self.of.make(self.parameters, seed % SEEDS), train, seed)
        self.estimates_ = self.of.estimates(fitted)
        self.fitted_ = fitted

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return self.estimates_.block(queries.users, items)

    def state(self) -> dict[str, FloatArray]:
        """The arrays that Surprise's classes call pu, qi, yj, bu and bi; empty where the class has neither."""
        algorithm, users, items = self.fitted_.algorithm, self.fitted_.inner_users, self.fitted_.inner_items
        names = {
            "user_factors": ("pu", users),
            "item_factors": ("qi", items),
            "implicit_factors": ("yj", items),
            "user_bias": ("bu", users),
            "item_bias": ("bi", items),
        }
        state = {
            name: by_code(getattr(algorithm, own), inner)
            for name, (own, inner) in names.items()
            if getattr(algorithm, own, None) is not None
        }
        if not getattr(algorithm, "biased", True):
            state = {name: values for name, values in state.items() if not name.endswith("bias")}
        if "user_bias" in state:
            state["mean"] = np.asarray(self.fitted_.mean, dtype=np.float64)
        return state

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        return self.estimates_.pairs(queries.users, items)
