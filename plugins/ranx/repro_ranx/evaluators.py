"""ranx's measures of known scores."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from repro.plugin import Case, Evaluator, Observed
from repro.plugin.api.trec import CANNOT, by_code, judgements_of, run_of

_CUT = {
    "ndcg@k": "ndcg@k",
    "ndcg_burges@k": "ndcg@k",
    "map@k": "ap@k",
    "precision@k": "precision@k",
    "recall@k": "recall@k",
    "f1@k": "f1@k",
    "mrr@k": "rr@k",
    "hit_rate@k": "hit@k",
}
_WHOLE = {
    "ndcg": "ndcg",
    "ndcg_burges": "ndcg",
    "map": "ap",
    "precision": "precision",
    "recall": "recall",
    "f1": "f1",
    "mrr": "rr",
    "rbp.95": "rbp",
    "bpref": "bpref",
}


def evaluate(make_comparable: bool, case: Case, measure: str, k: int | None) -> Observed:
    """The mean that ranx gives, and the value of each query, which it leaves in the run."""
    import ranx

    name = measure if k is None else measure.replace("@k", f"@{k}")
    with _threads_restored():
        qrels, run = _filled(ranx.Qrels(), judgements_of(case)), _filled(ranx.Run(), run_of(case))
        mean = ranx.evaluate(qrels, run, name, make_comparable=make_comparable)
    return Observed(mean, by_code(case, run.scores[name]))


_CANNOT = {feature: reason for feature, reason in CANNOT.items() if feature != "fractional"}
EVALUATORS = (
    Evaluator(
        "ranx/evaluate",
        "ranx.evaluate of a run with the same users as the judgements",
        partial(evaluate, False),
        {**_CUT, **_WHOLE},
        _CANNOT,
    ),
    Evaluator(
        "ranx/evaluate-comparable",
        "ranx.evaluate(make_comparable=True), for runs that lack users",
        partial(evaluate, True),
        {**_CUT, **_WHOLE},
        _CANNOT,
    ),
)


def _filled(table: Any, values: Mapping[str, Mapping[str, float]]) -> Any:
    """A run or judgements with these values. From a mapping, ranx would make the same object, but it would compile its
    code again for every length of the longest id."""
    if values:
        items, scores = [list(row) for row in values.values()], [list(row.values()) for row in values.values()]
        table.add_multi(list(values), items, scores)
    return table


@contextmanager
def _threads_restored() -> Iterator[None]:
    """Restore Numba's number of threads, which ranx reduces for the whole process where there are few queries."""
    import numba

    threads = numba.get_num_threads()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", numba.NumbaWarning)  # about ranx's own casts, while it is compiled
        try:
            yield
        finally:
            numba.set_num_threads(threads)
