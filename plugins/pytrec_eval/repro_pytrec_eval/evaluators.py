"""trec_eval's measures of known scores."""

from __future__ import annotations

from functools import lru_cache

from repro.plugin import Case, Evaluator, Observed
from repro.plugin.api.trec import CANNOT, by_code, judgements_of, run_of

_CUT = {"P": "precision@k", "recall": "recall@k", "success": "hit@k", "map_cut": "ap@k", "ndcg_cut": "ndcg@k"}
_WHOLE = {
    "set_P": "precision",
    "set_recall": "recall",
    "set_F": "f1",
    "map": "ap",
    "ndcg": "ndcg",
    "recip_rank": "rr",
    "bpref": "bpref",
    "infAP": "infap",
}


def relevance_evaluator(case: Case, measure: str, k: int | None) -> Observed:
    """A value for each query, and the average by pytrec_eval's own function."""
    from pytrec_eval import compute_aggregated_measure

    name = measure if k is None else f"{measure}_{k}"
    values = {user: by_measure[name] for user, by_measure in _all_measures(case, k).items()}
    return Observed(compute_aggregated_measure(measure, list(values.values())), by_code(case, values))


EVALUATORS = (
    Evaluator(
        "pytrec_eval/RelevanceEvaluator",
        "pytrec_eval.RelevanceEvaluator of a run, averaged with compute_aggregated_measure",
        relevance_evaluator,
        {**_CUT, **_WHOLE},
        CANNOT,
    ),
)


@lru_cache(maxsize=1)
def _all_measures(case: Case, k: int | None) -> dict[str, dict[str, float]]:
    """The values of each query: of all measures with the cut-off, or of all without one."""
    from pytrec_eval import RelevanceEvaluator

    measures = set(_WHOLE) if k is None else {f"{name}.{k}" for name in _CUT}
    values: dict[str, dict[str, float]] = RelevanceEvaluator(judgements_of(case), measures).evaluate(run_of(case))
    return values
