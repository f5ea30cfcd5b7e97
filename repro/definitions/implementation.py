"""An implementation of an algorithm: something that can be fitted and scores pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from repro.data.interactions import Interactions
from repro.definitions.comparison import Answer
from repro.definitions.training_sets import interactions
from repro.errors import PluginError
from repro.models import GivenModel, read_model
from repro.plugin import CheckedRecommender, ParameterValue, plugins
from repro.plugin.api.relabelling import without_order
from repro.plugin.api.scores import FALLBACK, UNSCORED
from repro.plugin.host.validation import parameters_of

NO_ROWS = interactions([], [], [], (0, 0))


@dataclass(frozen=True, eq=False)
class Implementation:
    """An implementation of an algorithm, as a black box.

    label       ``framework/algorithm``, or ``module:Class``
    make        makes a recommender that has not been fitted
    parameters  the values of its parameters
    version     of the framework; empty where it is unknown
    canonical   the canonical name of the algorithm; empty where there is none
    training    whether the scores of training pairs matter
    tolerance   the largest relative difference of equal scores, where another side is less precise than the scores
    clips       whether its predictions are taken to be clipped to the range of the training ratings
    order_free  whether scores that depend on the order of users and items do not matter
    rates       whether its scores are predicted ratings, so that the same order is not enough
    """

    label: str
    make: Callable[[], CheckedRecommender]
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    version: str = ""
    canonical: str = ""
    rates: bool = False
    order_free: bool = False
    training: bool = True
    clips: bool = False
    tolerance: float | None = None

    @classmethod
    def of_plugin(cls, label: str, stated: Mapping[str, ParameterValue]) -> Implementation:
        """An algorithm of a plug-in with these parameters, and the defaults of the others."""
        installed = plugins()
        framework, algorithm = installed.algorithm(label)
        parameters = parameters_of(algorithm, dict(stated))

        def make() -> CheckedRecommender:
            return installed.recommender(label, dict(parameters))

        return cls(
            label,
            make,
            parameters,
            framework.version,
            algorithm.name,
            algorithm.kind_of_scores(parameters) == "ratings",
        )

    @classmethod
    def of_object(cls, model: Any, label: str = "") -> Implementation:
        """A model given in Python: an object with ``fit`` and ``score`` or ``predict`` (:mod:`repro.models`)."""
        given = model if isinstance(model, GivenModel) else read_model(model)
        if not given.is_fitted_here:
            raise PluginError(
                f"{given.name} is {given.kind}; an audit fits it to small training sets, so give an object with fit "
                "and score"
            )
        name = label or ".".join(filter(None, (given.module, given.name)))

        def make() -> CheckedRecommender:
            return given.recommender(given.parameters, NO_ROWS, name)

        return cls(name, make, given.parameters, given.package, rates=given.algorithm.scores == "ratings")

    def fitted(self, train: Interactions, seed: int = 0) -> CheckedRecommender:
        """A recommender that was fitted to the training set."""
        recommender = self.make()
        recommender.fit(train, seed=seed)
        return recommender

    def answer(self, train: Interactions) -> Answer:
        """The scores of all pairs of users and items after fitting the training set."""
        answer = self._answer(train)
        if self.order_free:
            values = without_order(answer.values, train, lambda other: self._answer(other).values)
            answer = replace(answer, open=np.isposinf(values))
        if not self.training:
            answer = replace(answer, open=answer.trained)
        return answer

    def _answer(self, train: Interactions) -> Answer:
        users, items = np.arange(train.n_users, dtype=np.int32), np.arange(train.n_items, dtype=np.int32)
        scores = self.fitted(train).score_users(users, items)
        values = np.where(scores.states == UNSCORED, np.nan, scores.values)
        return Answer(values, scores.states == FALLBACK, train, self.tolerance, clipped=self.clips)
