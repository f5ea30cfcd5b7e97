"""A scorer of LensKit's own base class with given scores, in LensKit's own pipeline for lists and predictions."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pandas as pd
from lenskit.batch import predict, recommend
from lenskit.data import Dataset, ItemList, ItemListCollection, QueryInput, RecQuery, UserIDKey, from_interactions_df
from lenskit.pipeline import Component, Pipeline, topn_pipeline

from repro.plugin import Case


class GivenScores(Component[ItemList]):
    """Scores of the users and items of a case, by their ids. Its ``case`` is set before the pipeline is trained."""

    config: None
    case: Case

    def __call__(self, query: QueryInput, items: ItemList) -> ItemList:
        (user,) = self.case.test.user_codes([RecQuery.create(query).user_id])
        return ItemList(items, scores=self.case.scores.values[user, self.case.test.item_codes(items.ids().tolist())])


def recommended(case: Case, n: int | None) -> ItemListCollection[Any]:
    """LensKit's recommendations for the tested users."""
    users = [UserIDKey(user) for user in case.test.user_ids[case.tested].tolist()]
    return recommend(_trained(case, predicts=False), users, n=n, n_jobs=1)


def predicted(case: Case, test: ItemListCollection[Any]) -> ItemListCollection[Any]:
    """LensKit's predictions for the held-out items: scores or, for a missing score, a bias model's prediction."""
    with _quiet():
        return predict(_trained(case, predicts=True), test, n_jobs=1)


def dataset(case: Case) -> Dataset:
    """The training rows."""
    rows = case.train
    columns = {"user_id": rows.user_ids[rows.users], "item_id": rows.item_ids[rows.items], "rating": rows.ratings}
    return from_interactions_df(pd.DataFrame(columns))


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress LensKit's warnings about training data that is too small."""
    logger = logging.getLogger("lenskit")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _trained(case: Case, *, predicts: bool) -> Pipeline:
    """The pipeline, with all its components trained again."""
    pipeline, scorer = _pipeline(predicts)
    scorer.case = case
    pipeline.train(dataset(case))
    return pipeline


@cache
def _pipeline(predicts: bool) -> tuple[Pipeline, GivenScores]:
    """Made once, because that takes longer than training it."""
    scorer = GivenScores()
    return topn_pipeline(scorer, predicts_ratings=predicts), scorer
