"""ir_measures' measures of known scores, each computed by the first of its providers that has it."""

from __future__ import annotations

from repro.plugin import Case, Evaluator, Observed
from repro.plugin.api.trec import by_code, judgements_of, run_of

_CUT = {
    "nDCG@k": "ndcg@k",
    "AP@k": "ap@k",
    "P@k": "precision@k",
    "R@k": "recall@k",
    "RR@k": "rr@k",
    "Success@k": "hit@k",
    "Accuracy@k": "auc@k",
}
_WHOLE = {
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
    """The aggregated value, and that of each query of which there is one."""
    import ir_measures

    asked = getattr(ir_measures, measure.removesuffix("@k"))
    asked = asked if k is None else asked @ k
    told = ir_measures.calc([asked], judgements_of(case), run_of(case))
    assert isinstance(told.aggregated, dict)  # as a list of measures was asked for
    return Observed(told.aggregated[asked], by_code(case, {one.query_id: one.value for one in told.per_query}))


EVALUATORS = (
    Evaluator(
        "ir_measures/calc",
        "ir_measures.calc of a run: aggregated, and per query",
        calc,
        {**_CUT, **_WHOLE},
        {
            "training": "a run has no training rows",
            "unknown-items": "a run has no training rows",
            "fractional": "judgements are whole numbers",
            "fallback": "the scores of a run have no marks",
            "duplicates": "judgements are given by item",
        },
    ),
)
