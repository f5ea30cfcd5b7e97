"""Evaluator that calls ir_measures, which computes each measure with its first provider that supports it."""

from __future__ import annotations

from repro.plugin import Case, Evaluator, Observed
from repro.plugin.api.trec import CANNOT, by_code, judgements_of, run_of

_WITH_CUTOFF = {
    "nDCG@k": "ndcg@k",
    "AP@k": "ap@k",
    "P@k": "precision@k",
    "R@k": "recall@k",
    "RR@k": "rr@k",
    "Success@k": "hit@k",
    "Accuracy@k": "auc@k",
}
_WITHOUT_CUTOFF = {
    "nDCG": "ndcg",
    "AP": "ap",
    "RR": "rr",
    "Bpref": "bpref",
    "infAP": "infap",
    "SetP": "precision",
    "SetR": "recall",
    "SetF": "f1",
    "Accuracy": "auc",
}


def calc(case: Case, measure: str, k: int | None) -> Observed:
    """The aggregated value of ``ir_measures.calc``, and its value for each query."""
    import ir_measures

    metric = getattr(ir_measures, measure.removesuffix("@k"))
    metric = metric if k is None else metric @ k
    results = ir_measures.calc([metric], judgements_of(case), run_of(case))
    assert isinstance(results.aggregated, dict)  # because ``calc`` got a list of measures
    return Observed(results.aggregated[metric], by_code(case, {row.query_id: row.value for row in results.per_query}))


EVALUATORS = (
    Evaluator(
        "ir_measures/calc",
        "ir_measures.calc of a run: aggregated, and per query",
        calc,
        {**_WITH_CUTOFF, **_WITHOUT_CUTOFF},
        CANNOT,
    ),
)
