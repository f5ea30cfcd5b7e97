"""RecTools' own evaluation: ``calc_metrics`` of what a model recommends, or of lists with their ranks.

RecTools numbers items in the order of the training rows, which is therefore the order of presentation. It has no
ratings: every held-out item is relevant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from repro.data.interactions import Interactions
from repro.plugin import Case, Evaluator, Observed

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Measure:
    """A metric of RecTools.

    metric    the corresponding metric of the core
    name      of its class
    inputs    what it needs besides recommendations, as parameters of ``calc_metrics``
    options   arguments besides k
    per_user  whether it has a value for each user
    """

    metric: str
    name: str
    inputs: tuple[str, ...] = ("interactions",)
    options: Mapping[str, Any] = field(default_factory=dict)
    per_user: bool = True

    @property
    def label(self) -> str:
        """As it is written in Python, without k."""
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.name}({options})" if options else self.name


_MEASURES = (
    Measure("precision@k", "Precision"),
    Measure("recall@k", "Recall"),
    Measure("f1@k", "F1Beta"),
    Measure("hit@k", "HitRate"),
    Measure("ap@k", "MAP"),
    Measure("ndcg@k", "NDCG"),
    Measure("rr@k", "MRR"),
    Measure("auc@k", "PartialAUC"),
    Measure("auc@k", "PAP"),
    Measure("novelty@k", "MeanInvUserFreq", ("prev_interactions",)),
    Measure("intra-list-diversity@k", "IntraListDiversity", ()),
    Measure("serendipity@k", "Serendipity", ("interactions", "prev_interactions", "catalog")),
    Measure("catalogue-coverage@k", "CatalogCoverage", ("catalog",), per_user=False),
    Measure("user-coverage@k", "CoveredUsers"),
)
_OPTIONS = (
    Measure("precision@k", "Precision", options={"r_precision": True}),
    Measure("ap@k", "MAP", options={"divide_by_k": True}),
    Measure("ndcg@k", "NDCG", options={"divide_by_achievable": True}),
    Measure("auc@k", "PartialAUC", options={"insufficient_handling": "exclude"}),
    Measure("auc@k", "PAP", options={"insufficient_handling": "exclude"}),
    Measure("catalogue-coverage@k", "CatalogCoverage", ("catalog",), {"normalize": True}, per_user=False),
)
_BY_LABEL = {measure.label: measure for measure in (*_MEASURES, *_OPTIONS)}


def recommended(case: Case, k: int) -> pd.DataFrame:
    """The first k items for each tested user with a list, ranked by RecTools, without those of training."""
    from rectools.dataset import Dataset  # type: ignore[import-not-found, unused-ignore]

    from repro_rectools.given_scores import GivenScores

    dataset = Dataset.construct(frame_of(case.presented(case.train)))
    users = case.test.user_ids[[user for user in case.tested if len(case.list_of(user))]]
    return GivenScores(case).fit(dataset).recommend(users, dataset, k=k, filter_viewed=True)


def ranked(case: Case, k: int) -> pd.DataFrame:
    """The lists as they are, with ranks from 1; without ties, scores have only one order."""
    import pandas as pd
    from rectools import Columns  # type: ignore[import-not-found, unused-ignore]

    lists = {user: case.list_of(user) for user in case.tested.tolist()}
    lists = {user: items[np.argsort(-case.scores.values[user, items])] for user, items in lists.items()}
    lengths = [len(items) for items in lists.values()]
    return pd.DataFrame(
        {
            Columns.User: case.test.user_ids[np.repeat(list(lists), lengths)],
            Columns.Item: case.test.item_ids[np.concatenate(list(lists.values()))],
            Columns.Rank: np.concatenate([np.arange(1, length + 1) for length in lengths]),
        }
    )


def frame_of(rows: Interactions) -> pd.DataFrame:
    """The rows as RecTools' table of interactions, all with the same time."""
    import pandas as pd
    from rectools import Columns

    return pd.DataFrame(
        {
            Columns.User: rows.user_ids[rows.users],
            Columns.Item: rows.item_ids[rows.items],
            Columns.Weight: rows.ratings,
            Columns.Datetime: np.zeros(len(rows), dtype="datetime64[s]"),
        }
    )


def evaluate(lists: Callable[[Case, int], pd.DataFrame], case: Case, label: str, k: int | None) -> Observed:
    """The value of ``calc_metrics``, and the metric's value for each user."""
    import rectools.metrics  # type: ignore[import-not-found, unused-ignore]

    assert k is not None
    measure = _BY_LABEL[label]
    options = dict(measure.options)
    if measure.name == "IntraListDiversity":
        from repro_rectools.co_ratings import CoRatings

        options["distance_calculator"] = CoRatings(case.train)
    metric = getattr(rectools.metrics, measure.name)(k=k, **options)
    # An area needs all relevant items and the first k of the others.
    reco = lists(case, k + int(case.test.user_counts().max()) if measure.metric == "auc@k" else k)
    inputs = {name: _INPUTS[name](case) for name in measure.inputs}
    value = rectools.metrics.calc_metrics({label: metric}, reco=reco, **inputs)[label]
    if not measure.per_user:
        return Observed(value)
    per_user = metric.calc_per_user(reco, *inputs.values())
    return Observed(value, dict(zip(case.test.user_codes(per_user.index.tolist()), per_user, strict=True)))


def _catalog(case: Case) -> Any:
    """The items of the training rows, as ``cross_validate`` has them."""
    return case.train.item_ids[np.unique(case.train.items)]


_INPUTS: Mapping[str, Callable[[Case], Any]] = {
    "interactions": lambda case: frame_of(case.presented(case.test)),
    "prev_interactions": lambda case: frame_of(case.presented(case.train)),
    "catalog": _catalog,
}


def _evaluator(
    name: str,
    summary: str,
    lists: Callable[[Case, int], pd.DataFrame],
    measures: Sequence[Measure],
    cannot: Mapping[str, str],
) -> Evaluator:
    by_label = {measure.label: measure.metric for measure in measures}
    return Evaluator(f"rectools/{name}", summary, partial(evaluate, lists), by_label, {**_MARKS, **cannot})


_MARKS = {"fallback": "a recommendation has no such mark"}
_OF_MODELS = {"partial-lists": "a model ranks all items that it knows"}
_OF_LISTS = {"ties": "lists come with ranks", "missing": "lists come with ranks"}
EVALUATORS = (
    _evaluator(
        "calc_metrics", "calc_metrics of what a model with given scores recommends", recommended, _MEASURES, _OF_MODELS
    ),
    _evaluator("calc_metrics-options", "the same, with the metrics' other options", recommended, _OPTIONS, _OF_MODELS),
    _evaluator("calc_metrics-lists", "calc_metrics of lists that come with their ranks", ranked, _MEASURES, _OF_LISTS),
)
