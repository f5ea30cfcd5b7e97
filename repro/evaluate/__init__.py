"""Evaluate recommendations that are already there: two data frames in, numbers out."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from repro.data.interactions import IdArray
from repro.errors import ProtocolError
from repro.evaluate.frames import Frames, read_frames
from repro.evaluate.measuring import Asked, measure, measure_lists, rank
from repro.metrics import Averaged, parse_measure
from repro.metrics import metrics as known_metrics
from repro.protocol import Protocol, resolve

DEFAULT_METRICS = ("ndcg@10", "precision@10", "recall@10")

__all__ = [
    "DEFAULT_METRICS",
    "Frames",
    "default_protocol",
    "evaluate",
    "evaluate_frames",
    "measure_lists",
    "rank",
    "read_frames",
]


def evaluate(
    recommendations: pd.DataFrame,
    truth: pd.DataFrame,
    protocol: Protocol | str | Path | None = None,
    metrics: Sequence[str] = DEFAULT_METRICS,
    train: pd.DataFrame | None = None,
    per_user: bool = False,
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Measure lists that were recommended elsewhere.

    recommendations  ``user``, ``item`` and ``score`` (higher is better; an empty one is a missing score) or,
                     without it, ``rank`` (lower is better); the order of the rows does not matter
    truth            the held-out ``user``, ``item`` and, if there are any, ``rating``. Its users are the test
                     users; one of them without recommendations has an empty list
    protocol         by name, file or object: what is relevant, what missing and tied scores mean, the variants of
                     metrics, who is averaged. Splits and candidates are as given. By default a rating above 0 is
                     relevant (as trec_eval has it; without ratings, everything is), and the rest as in every protocol
    metrics          names such as ``"ndcg@10"`` or ``"ndcg[gain=exp2]@10"``
    train            ``user``, ``item`` and ``rating`` of the training rows, where decisions ask for their means
    per_user         one row for each user and metric, in place of averages
    columns          other names of the columns, such as ``{"user": "userId"}``
    seed             of ``ties.break = "random"``

    Gives the columns ``metric``, ``value`` and ``users`` (how many are averaged), or ``user``, ``metric`` and
    ``value``. Coverage is a share of the test users, or of the items that are in any of the frames.
    """
    frames = read_frames(recommendations, truth, train, columns)
    return evaluate_frames(frames, protocol, metrics, per_user, seed)


def evaluate_frames(
    frames: Frames,
    protocol: Protocol | str | Path | None = None,
    metrics: Sequence[str] = DEFAULT_METRICS,
    per_user: bool = False,
    seed: int = 0,
) -> pd.DataFrame:
    """:func:`evaluate` for frames that :func:`read_frames` has read, to ask them more than once."""
    protocol = _protocol(protocol, frames)
    names = [metrics] if isinstance(metrics, str) else metrics
    asked = {name.strip(): parse_measure(name, protocol, known_metrics()) for name in names}
    if not asked:
        raise ProtocolError(f"no metric is asked for; metrics: {', '.join(known_metrics())}")
    found = measure(frames, asked, protocol, seed)
    if per_user:
        return _user_table(found, asked, frames.truth.user_ids)
    return pd.DataFrame(
        {
            "metric": list(found),
            "value": [averaged.value for averaged in found.values()],
            "users": [averaged.users_counted for averaged in found.values()],
        }
    )


def _protocol(given: Protocol | str | Path | None, frames: Frames) -> Protocol:
    protocol = Protocol.load(given) if isinstance(given, str | Path) else given
    if protocol is None:
        return default_protocol(frames.truth.explicit)
    if protocol["candidates.relevant"] == "one":
        raise ProtocolError(
            'the protocol has candidates.relevant = "one" (1R), a list for each relevant item, and frames have one '
            'list for each user; use a protocol with candidates.relevant = "all", or run a study'
        )
    return protocol


@cache
def default_protocol(rated: bool) -> Protocol:
    """The protocol of :func:`evaluate` where none is given; ``rated`` says whether the truth has ratings."""
    as_given = {"split.strategy": "files", "split.train_file": "-", "split.test_file": "-"}
    as_given |= {"candidates.base": "file", "candidates.file": "-"}
    relevance: dict[str, str | float | bool] = {"relevance.rule": "any"}
    if rated:
        relevance = {"relevance.rule": "threshold", "relevance.threshold": 0.0, "relevance.inclusive": False}
    stated = {**as_given, **relevance}
    return resolve(stated, dict.fromkeys(stated, "repro.evaluate"))


def _user_table(found: Mapping[str, Averaged], asked: Asked, user_ids: IdArray) -> pd.DataFrame:
    """One row for each user and metric."""
    for name, one in asked.items():
        if not one.per_user:
            raise ProtocolError(f"metric {name} is about all users together; leave it out, or ask without per_user")
    return pd.DataFrame(
        {
            "user": np.concatenate([user_ids[averaged.users] for averaged in found.values()]),
            "metric": np.repeat(list(found), [len(averaged.users) for averaged in found.values()]),
            "value": np.concatenate([averaged.values for averaged in found.values()]),
        }
    )


class _Callable(ModuleType):
    """Lets ``repro.evaluate(...)`` work: importing a module puts it, not its function, at that name."""

    def __call__(self, *args: Any, **kwargs: Any) -> pd.DataFrame:
        return evaluate(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
