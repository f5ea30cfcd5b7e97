"""Evaluators that no plug-in wraps, as functions that `repro audit infer` can ask."""

from __future__ import annotations

import pandas as pd
import recommenders.evaluation.python_evaluation as recommenders
import rexmex.metrics.ranking as rexmex
import torch
from torchmetrics.functional import retrieval


def recommenders_ndcg(scores, truth, train, k):
    return recommenders.ndcg_at_k(*_named(scores, truth), k=k)


def recommenders_precision(scores, truth, train, k):
    return recommenders.precision_at_k(*_named(scores, truth), k=k)


def recommenders_recall(scores, truth, train, k):
    return recommenders.recall_at_k(*_named(scores, truth), k=k)


def recommenders_ap(scores, truth, train, k):
    return recommenders.map_at_k(*_named(scores, truth), k=k)


def recommenders_rmse(scores, truth, train, k):
    return recommenders.rmse(*_named(scores, truth))


def rexmex_ap(scores, truth, train, k):
    lists = scores.sort_values("score", ascending=False, kind="stable").groupby("user").item.apply(list)
    relevant = truth.groupby("user").item.apply(list)
    return rexmex.mean_average_precision_at_k(relevant.to_list(), [lists.get(user, []) for user in relevant.index], k)


def torchmetrics_ndcg(scores, truth, train, k):
    return {
        user: float(retrieval.retrieval_normalized_dcg(mine, grades, top_k=k))
        for user, mine, grades in _tensors(scores, truth)
    }


def torchmetrics_ap(scores, truth, train, k):
    return {
        user: float(retrieval.retrieval_average_precision(mine, grades > 0, top_k=k))
        for user, mine, grades in _tensors(scores, truth)
    }


def torchmetrics_hit(scores, truth, train, k):
    return {
        user: float(retrieval.retrieval_hit_rate(mine, grades > 0, top_k=k))
        for user, mine, grades in _tensors(scores, truth)
    }


def torchmetrics_fallout(scores, truth, train, k):
    return {
        user: float(retrieval.retrieval_fall_out(mine, grades > 0, top_k=k))
        for user, mine, grades in _tensors(scores, truth)
    }


def _named(scores: pd.DataFrame, truth: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What was held out and what was predicted, under the names of `recommenders`."""
    names = {"user": "userID", "item": "itemID", "score": "prediction"}
    return truth.rename(columns=names), scores.rename(columns=names)


def _tensors(scores: pd.DataFrame, truth: pd.DataFrame):
    for user, mine in scores.groupby("user"):
        rated = truth[truth.user == user].set_index("item").rating
        yield user, torch.tensor(mine.score.to_numpy()), torch.tensor([float(rated.get(item, 0)) for item in mine.item])
