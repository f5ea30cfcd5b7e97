"""LensKit's own evaluation, fed with known scores: its metrics on item lists, and its pipeline before them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from repro.plugin import Case, Evaluator, Observed

if TYPE_CHECKING:
    from lenskit.data import ItemListCollection
    from lenskit.metrics import RunAnalysisResult

Lists = Callable[[Case, int | None], "ItemListCollection[Any]"]
Read = Callable[["RunAnalysisResult", Case], Observed]

_SETTINGS: Mapping[str, tuple[str, dict[str, Any]]] = {"NDCG_rating": ("NDCG", {"gain": "rating"})}
_GINI = {"ListGini": "gini@k", "ExposureGini": "gini@k"}
OF_LISTS = {
    "NDCG": "ndcg@k",
    "NDCG_rating": "ndcg@k",
    "Precision": "precision@k",
    "Recall": "recall@k",
    "Hit": "hit@k",
    "RecipRank": "rr@k",
    "AveragePrecision": "ap@k",
    "RBP": "rbp@k",
}
OF_PREDICTIONS = {"RMSE": "rmse", "MAE": "mae"}


def measured(make_lists: Lists, read: Read, case: Case, measure: str, k: int | None) -> Observed:
    """Lists, one metric of them, and the number."""
    from lenskit.metrics import RunAnalysis

    metric = metric_of(measure, k, _items(case, make_lists) if measure in _GINI else None)
    result = RunAnalysis(metric).measure(make_lists(case, k), _held_out(case))
    return (read_global if measure in _GINI else read)(result, case)


def read_summary(result: RunAnalysisResult, case: Case) -> Observed:
    """The mean of ``list_summary``, with each metric's default where a list has no value."""
    (mean,) = result.list_summary()["mean"]
    return Observed(mean, _by_code(result.list_metrics(), case))


def read_global(result: RunAnalysisResult, case: Case) -> Observed:
    """The value of ``global_metrics``, and each list's value without defaults for missing ones."""
    (value,) = result.global_metrics()
    values = result.list_metrics(fill_missing=False)
    return Observed(value, None if values.iloc[:, 0].dtype == object else _by_code(values, case))


def _ranked(case: Case, k: int | None) -> ItemListCollection[Any]:
    """Each user's scores as an item list, ranked by ``top_n``."""
    from lenskit.data import ItemList, ItemListCollection, UserIDKey

    ids, values = case.test.item_ids, case.scores.values
    lists = ItemListCollection.empty(UserIDKey)
    for user in case.tested.tolist():
        listed = case.list_of(user)
        if len(listed):
            lists.add(ItemList(item_ids=ids[listed], scores=values[user, listed]).top_n(), case.test.user_ids[user])
    return lists


def _recommended(case: Case, k: int | None) -> ItemListCollection[Any]:
    from repro_lenskit.given_scores import recommended

    return recommended(case, k)


def _scored(case: Case, k: int | None) -> ItemListCollection[Any]:
    """The scores of each user's held-out items, as predictions; users without a list have none."""
    from lenskit.data import ItemList, ItemListCollection, UserIDKey

    lists = ItemListCollection.empty(UserIDKey)
    for user in case.tested.tolist():
        if len(case.list_of(user)):
            items = case.test.items[case.test.users == user]
            items = items if case.listed is None else items[case.listed[user, items]]
            scored = ItemList(item_ids=case.test.item_ids[items], scores=case.scores.values[user, items])
            lists.add(scored, case.test.user_ids[user])
    return lists


def _predicted(case: Case, k: int | None) -> ItemListCollection[Any]:
    from repro_lenskit.given_scores import predicted

    return predicted(case, _held_out(case))


@lru_cache(maxsize=1)
def _held_out(case: Case) -> ItemListCollection[Any]:
    from lenskit.data import ItemList, ItemListCollection, UserIDKey

    test = case.test
    lists = ItemListCollection.empty(UserIDKey)
    for user in case.tested.tolist():
        rows = test.users == user
        lists.add(ItemList(item_ids=test.item_ids[test.items[rows]], rating=test.ratings[rows]), test.user_ids[user])
    return lists


def metric_of(measure: str, k: int | None, items: Any = None) -> Any:
    """A metric of LensKit; ``items`` is an argument of metrics over all lists."""
    from lenskit import metrics
    from lenskit.metrics import ranking

    name, settings = _SETTINGS.get(measure, (measure, {}))
    if name in OF_PREDICTIONS:
        return getattr(metrics, name)()
    return getattr(ranking, name)(n=k, **settings, **({} if items is None else {"items": items}))


def _items(case: Case, make_lists: Lists) -> Any:
    """All items: the training data if there is a data set, else the number of items."""
    if make_lists is not _recommended:
        return len(case.order)
    from repro_lenskit.given_scores import dataset

    return dataset(case)


def _by_code(values: Any, case: Case) -> dict[int, float]:
    column = values.iloc[:, 0]
    return dict(zip(case.test.user_codes(column.index.tolist()), column.astype(float), strict=True))


_UNMARKED = {"fallback": "scores have no marks"}
_LISTS_ONLY = {"training": "lists have no training rows", "unknown-items": "lists have no training rows"}
_ALL_SCORED = {"partial-lists": "a scorer is asked for every item", "no-list": "a scorer is asked for every user"}


def _evaluator(
    name: str, summary: str, lists: Lists, read: Read, measures: Mapping[str, str], cannot: Mapping[str, str]
) -> Evaluator:
    return Evaluator(f"lenskit/{name}", summary, partial(measured, lists, read), measures, {**_UNMARKED, **cannot})


EVALUATORS = (
    _evaluator(
        "RunAnalysis",
        "metrics of lists ranked by ItemList.top_n; the means of list_summary",
        _ranked,
        read_summary,
        {**OF_LISTS, **_GINI},
        _LISTS_ONLY,
    ),
    _evaluator(
        "RunAnalysis-global",
        "metrics of lists ranked by ItemList.top_n; global_metrics",
        _ranked,
        read_global,
        OF_LISTS,
        _LISTS_ONLY,
    ),
    _evaluator(
        "recommend",
        "metrics of what batch.recommend gives with topn_pipeline; the means of list_summary",
        _recommended,
        read_summary,
        {**OF_LISTS, **_GINI},
        _ALL_SCORED,
    ),
    _evaluator(
        "predictions",
        "errors of scores taken as predictions; the means of list_summary",
        _scored,
        read_summary,
        OF_PREDICTIONS,
        _LISTS_ONLY,
    ),
    _evaluator(
        "predictions-global",
        "errors of scores taken as predictions; global_metrics",
        _scored,
        read_global,
        OF_PREDICTIONS,
        _LISTS_ONLY,
    ),
    _evaluator(
        "predict",
        "errors of what batch.predict gives with topn_pipeline, which falls back to biases; the means of list_summary",
        _predicted,
        read_summary,
        OF_PREDICTIONS,
        _ALL_SCORED,
    ),
)
