"""Recommenders, evaluators and pipelines of installed plug-ins, for tests."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pytest

from repro.data.interactions import Interactions
from repro.plugin import (
    Algorithm,
    Case,
    CheckedRecommender,
    Observed,
    ParameterValue,
    PipelineFold,
    Recommender,
    parameters_of,
    plugins,
)
from repro.testing.checks import SEED, bits, score_all

Parameters = Mapping[str, ParameterValue]


def make(reference: str, parameters: Mapping[str, ParameterValue] = {}) -> CheckedRecommender:
    """A new recommender, such as ``lenskit/bias``; parameters that are not stated have their defaults."""
    return plugins().recommender(reference, parameters_of(plugins().algorithm(reference)[1], dict(parameters)))


def fitted(reference: str, parameters: Parameters, train: Interactions, seed: int = SEED) -> CheckedRecommender:
    """A fitted recommender."""
    recommender = make(reference, parameters)
    recommender.fit(train, seed=seed)
    return recommender


def all_bits(reference: str, parameters: Parameters, train: Interactions, seed: int = SEED) -> npt.NDArray[np.uint64]:
    """The bits of the scores of all users and items."""
    return bits(score_all(fitted(reference, parameters, train, seed), train))


def check_options(algorithm: Algorithm) -> None:
    """A recommender can be made with every option of every parameter."""
    settings = [{p.name: option} for p in algorithm.parameters for option in p.options]
    for parameters in [{}, *settings]:
        made = algorithm.make(**parameters_of(algorithm, parameters))
        assert isinstance(made, Recommender), f"{algorithm.name} with {parameters} is {made!r}"


def observed(evaluator: str, case: Case, measure: str, k: int | None = None) -> Observed:
    """The answer of an evaluator, such as ``lenskit/RunAnalysis``."""
    return plugins().evaluate(plugins().evaluators()[evaluator], case, measure, k)


def answer(
    evaluator: str, case: Case, measure: str, k: int | None = None
) -> tuple[float | None, dict[int, float] | None]:
    """The average of an evaluator, and its values of users by their ids; None if it has none."""
    result = observed(evaluator, case, measure, k)
    if result.per_user is None:
        return result.value, None
    return result.value, {int(case.test.user_ids[user]): value for user, value in result.per_user.items()}


def values_by_id(evaluator: str, case: Case, measure: str, k: int | None = None) -> dict[int, float]:
    """The value of each user that an evaluator has one for, by the user's id."""
    per_user = answer(evaluator, case, measure, k)[1]
    assert per_user is not None, f"{evaluator} has no values of users for {measure}"
    return per_user


def check_pipeline_fold(name: str, rows: Interactions, fold: PipelineFold) -> None:
    """A pipeline's evaluator gives the numbers that the pipeline reported, for its scores and its rows."""
    pipeline = plugins().pipelines()[name]
    scale = float(rows.ratings.min()), float(rows.ratings.max())
    order = np.arange(rows.n_items, dtype=np.int32)
    case = Case(fold.scores, rows.select(fold.train), rows.select(fold.test), order, scale)
    for measure, value in fold.reported.items():
        assert observed(pipeline.evaluator, case, measure, pipeline.k).value == pytest.approx(value, abs=1e-12), measure
