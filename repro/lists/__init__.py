"""Evaluate existing recommendations: two tables in, numbers out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from repro.current import once
from repro.data.io.recommendations import read_recommendations, read_train, read_truth
from repro.data.memory import Input
from repro.errors import ProtocolError
from repro.evaluation.metrics import MetricName, metric_texts, parse_measure
from repro.evaluation.metrics import metrics as known_metrics
from repro.evaluation.suspicion import warn
from repro.lists.evaluation import Evaluation, suspicious
from repro.lists.frames import Frames, read_frames
from repro.lists.inputs import Features
from repro.lists.measuring import measure, measure_given, rank_frames
from repro.lists.mismatches import warn_of_mismatches
from repro.protocol import Protocol, resolve

DEFAULT_METRICS = ("ndcg@10", "precision@10", "recall@10")

__all__ = [
    "DEFAULT_METRICS",
    "Evaluation",
    "Frames",
    "default_protocol",
    "evaluate",
    "evaluate_frames",
    "measure_frames",
    "measure_given",
    "rank_frames",
    "read_frames",
    "read_recommendations",
    "read_train",
    "read_truth",
    "suspicious",
]


def evaluate(
    recommendations: Input,
    truth: Input | None = None,
    protocol: Protocol | str | Path | None = None,
    metrics: MetricName | Sequence[MetricName] = DEFAULT_METRICS,
    train: Input | None = None,
    per_user: bool = False,
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
    features: Features | None = None,
    previous: Input | Sequence[Input] = (),
) -> pd.DataFrame:
    """Measure lists that were recommended elsewhere.

    Each of the first two, ``train`` and ``previous`` is a table in memory in one of the forms below, or the path of a
    file: CSV, TSV, Parquet, JSON, RecBole atomic files, TREC runs and qrels, exported predictions of Surprise
    (:mod:`repro.data.io.formats`).

    recommendations  ``user``, ``item`` and ``score`` (higher is better; an empty one is a missing score) or,
                     without it, ``rank`` (lower is better). With both, the score counts and the rank is
                     ignored, as in trec_eval; equal scores are in the order of ``ties.break``. The order of the
                     rows does not matter, unless that is "rows" or "rows-desc". A column ``state`` says
                     whether a score is "scored", "unscored", or a "fallback" of the framework. Or a list of
                     Surprise's predictions, whose impossible ones are fallbacks
    truth            the held-out ``user``, ``item`` and, if there are any, ``rating``. Its users are the test
                     users; one of them without recommendations has an empty list. Predictions with a column
                     ``rating`` (Surprise's have one) contain the truth, and it can be left out
    protocol         by name, file or object: what is relevant, what missing and tied scores mean, the variants of
                     metrics, who is averaged. Splits and candidates are as given. By default a rating above 0 is
                     relevant (as trec_eval has it; without ratings, everything is), and the rest as in every protocol
    metrics          names such as ``"ndcg@10"`` or ``"ndcg[gain=exp2]@10"``, or :class:`repro.Metric`
    train            ``user``, ``item`` and ``rating`` of the training rows, where decisions need their means, or
                     the order of the data set (``ties.break = "data"``: training rows, then truth)
    per_user         one row for each user and metric, in place of averages
    columns          the names of the columns, such as ``{"user": "who"}``, or ``{"truth.user": "who"}`` in one
                     of the tables alone. Common names need not be stated: ``userId``, ``user_id``, ``movieId``,
                     ``prediction`` and others (:data:`repro.data.io.roles.ALIASES`)
    seed             for ``ties.break = "random"``
    features         of the items, for metrics that compare items by them: a frame with a row for each item (columns of
                     words, separated by ``|``, or of numbers), a file (:func:`repro.data.load_item_features`), or the
                     name of a data set, such as ``"ml-100k"``
    previous         earlier recommendations, for temporal diversity and novelty: like ``recommendations``, and
                     ranked by the same rules; or a list of several, the latest first (lists by position: in a list)

    Ids may be numbers, text or other objects, and are compared as text: 7 and "7" are the same.

    **Forms of tables.** A data frame of pandas or Polars (also lazy), a table or batch of PyArrow, a relation of
    DuckDB, and any other table with Arrow's interface:

    >>> import numpy as np, pandas as pd, repro
    >>> lists = pd.DataFrame({"user_id": ["ann", "ann", "bob"], "item_id": ["x", "y", "x"], "score": [0.9, 0.8, 0.7]})
    >>> truth = pd.DataFrame({"user_id": ["ann", "bob"], "item_id": ["y", "x"]})
    >>> def rr(*tables):
    ...     return repro.evaluate(*tables, metrics=["rr"])["value"].tolist()
    >>> rr(lists, truth)
    [0.75]
    >>> import pyarrow
    >>> rr(pyarrow.Table.from_pandas(lists), truth)
    [0.75]

    Dictionaries: ``{user: {item: score}}`` and ``{user: {item: rating}}`` as of pytrec_eval and ranx (also its Run and
    Qrels), ``{user: [(item, score), ...]}``, and ``{user: [items]}``, in order of rank. In the truth the items may be a
    set or a single item as well. A user of the truth without items is no test user.

    >>> rr({"ann": {"x": 0.9, "y": 0.8}, "bob": {"x": 0.7}}, {"ann": {"y": 1}, "bob": {"x": 1}})
    [0.75]
    >>> rr({"ann": ["x", "y"], "bob": ["x"]}, {"ann": {"y"}, "bob": {"x"}})
    [0.75]

    Columns or records: ``{"user": [...], "item": [...], "score": [...]}``, ``[{"user": ..., "item": ..., ...}, ...]``,
    and structured arrays.

    >>> rr(lists.to_dict("list"), truth.to_dict("records"))
    [0.75]

    Lists by position: the ranked items of each user. The id of a user is the position, from 0, so the truth has the
    same length. With other ids, give ``dict(zip(users, lists))``. A NumPy array with a row for each user is the same,
    where -1 stands for no item.

    >>> rr([["x", "y"], ["x"]], [["y"], ["x"]])
    [0.75]
    >>> rr(np.array([[7, 8], [7, -1]]), [[8], [7]])
    [0.75]

    Matrices of users by items: scores, or ratings as the truth. The ids are the numbers of rows and columns, from 0,
    unless :class:`repro.Matrix` states others. Of a sparse matrix of SciPy each stored value is in the table, also a
    stored zero, and an absent one is not. A dense array is taken as a matrix only in :class:`repro.Matrix`; there, NaN
    is not in the list, and 0 is not in the truth.

    >>> from scipy.sparse import csr_array
    >>> rr(csr_array([[0.9, 0.8], [0.7, 0]]), csr_array([[0, 1], [1, 0]]))
    [0.75]
    >>> rr(repro.Matrix([[0.9, 0.8], [0.7, np.nan]], users=["ann", "bob"], items=["x", "y"]), truth)
    [0.75]

    Also :class:`repro.Interactions`, as the truth and as training rows.

    Gives the columns ``metric``, ``value``, ``users`` (how many are averaged), ``lowest`` and ``highest`` (the extremes
    of the value over all orders of tied items, where they are known), or ``user``, ``metric`` and ``value``; its
    ``attrs`` hold the name and hash of the protocol, the full name of each metric, and ``findings``: suspicious
    properties of the numbers, which are also issued as warnings. Coverage is a share of the test users, or
    of the items that are in any of the frames.

    Warns (:class:`repro.errors.ReproWarning`) where lists are empty, have no scores, or share no id with the truth; the
    findings have these warnings too.
    """
    frames = read_frames(recommendations, truth, train, columns, features, previous)
    chosen = protocol_for(protocol, frames)
    table = evaluate_frames(frames, chosen, metrics, per_user, seed)
    mismatched = warn_of_mismatches(frames, chosen)
    table.attrs["findings"] = [*map(asdict, mismatched), *table.attrs["findings"]]
    return table


def evaluate_frames(
    frames: Frames,
    protocol: Protocol | str | Path | None = None,
    metrics: MetricName | Sequence[MetricName] = DEFAULT_METRICS,
    per_user: bool = False,
    seed: int = 0,
) -> pd.DataFrame:
    """:func:`evaluate` for frames that :func:`read_frames` has read, to evaluate them more than once."""
    evaluation = measure_frames(frames, protocol, metrics, seed)
    warn(evaluation.findings, stacklevel=4)
    if not per_user:
        return evaluation.table()
    if evaluation.without_users:
        name = evaluation.without_users[0]
        raise ProtocolError(f"metric {name} is about all users together; leave it out, or ask without per_user")
    return evaluation.per_user()


def measure_frames(
    frames: Frames,
    protocol: Protocol | str | Path | None = None,
    metrics: MetricName | Sequence[MetricName] = DEFAULT_METRICS,
    seed: int = 0,
) -> Evaluation:
    """The averages of :func:`evaluate_frames`, together with the values of each user."""
    protocol = protocol_for(protocol, frames)
    measures = {name: parse_measure(name, protocol, known_metrics()) for name in metric_texts(metrics)}
    if not measures:
        raise ProtocolError(f"no metric is requested; metrics: {', '.join(known_metrics())}")
    return measure(frames, measures, protocol, seed)


def protocol_for(protocol: Protocol | str | Path | None, frames: Frames) -> Protocol:
    """The protocol to evaluate frames by: the given one, if it fits them, or the default."""
    protocol = Protocol.load(protocol) if isinstance(protocol, str | Path) else protocol
    if protocol is None:
        return default_protocol(frames.truth.explicit)
    if protocol["candidates.relevant"] == "one":
        raise ProtocolError(
            'the protocol has candidates.relevant = "one" (1R), a list for each relevant item, and frames have one '
            'list for each user; use a protocol with candidates.relevant = "all", or run a study'
        )
    return protocol


@once
def default_protocol(rated: bool) -> Protocol:
    """The default protocol of :func:`evaluate`; ``rated`` says whether the truth has ratings."""
    as_given = {"split.strategy": "files", "split.train_file": "-", "split.test_file": "-"}
    as_given |= {"candidates.base": "file", "candidates.file": "-"}
    relevance: dict[str, str | float | bool] = {"relevance.rule": "any"}
    if rated:
        relevance = {"relevance.rule": "threshold", "relevance.threshold": 0.0, "relevance.inclusive": False}
    stated = {**as_given, **relevance}
    return resolve(stated, dict.fromkeys(stated, "repro.lists"))
