"""trec_eval's own numbers (through pytrec_eval) on random runs: ties, short and empty lists, unjudged items."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import pytrec_eval

from repro.lists import default_protocol, evaluate

# What trec_eval calls a measure, and what it is called here.
MEASURES = {
    "P_1": "precision@1",
    "P_5": "precision@5",
    "P_20": "precision@20",
    "recall_5": "recall@5",
    "recall_20": "recall@20",
    "success_1": "hit@1",
    "success_5": "hit@5",
    "map": "ap",
    "map_cut_5": "ap@5",
    "recip_rank": "rr",
    "ndcg": "ndcg[gain=linear]",
    "ndcg_cut_5": "ndcg[gain=linear]@5",
    "bpref": "bpref",
    "infAP": "infap[unjudged=not-relevant]",
    "set_P": "precision",
    "set_recall": "recall",
    "set_F": "f1",
}
FAMILIES = {name.rpartition("_")[0] if name.rpartition("_")[2].isdecimal() else name for name in MEASURES}
TREC = {"ties.break": "trec", "average.no_relevant": "zero", "relevance.grades": "judged"}


def random_case(seed: int) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    """A run and judgements. Few different scores, so that many tie; some only in single precision."""
    rng = np.random.default_rng(seed)
    items = [f"d{n}" for n in range(25)]
    run, judgements = {}, {}
    for user in [f"u{n}" for n in range(12)]:
        listed = rng.permutation(items)[: rng.integers(0, 20)]
        judged = rng.permutation(items)[: rng.integers(1, 20)]
        run[user] = {item: float(rng.integers(0, 6)) + float(rng.integers(0, 2)) * 1e-9 for item in listed}
        judgements[user] = {item: int(rng.integers(0, rng.integers(1, 5))) for item in judged}
    judgements["u0"] = dict.fromkeys(judgements["u0"], 0)
    run["u1"] = {}
    return run, judgements


def frames(run: dict[str, dict[str, float]], judgements: dict[str, dict[str, int]]) -> list[pd.DataFrame]:
    listed = [(user, item, score) for user in run for item, score in run[user].items()]
    judged = [(user, item, grade) for user in judgements for item, grade in judgements[user].items()]
    return [
        pd.DataFrame(listed, columns=["user", "item", "score"]),
        pd.DataFrame(judged, columns=["user", "item", "rating"]),
    ]


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_every_user_has_the_value_that_trec_eval_gives(seed, level):
    run, judgements = random_case(seed)
    trec = pytrec_eval.RelevanceEvaluator(
        judgements, {"P.1,5,20", "recall.5,20", "success.1,5", "map_cut.5", "ndcg_cut.5", *FAMILIES}, level
    ).evaluate(run)
    protocol = default_protocol(True).replace(
        {**TREC, "relevance.threshold": level, "relevance.inclusive": True}, "test"
    )
    table = evaluate(*frames(run, judgements), protocol, list(MEASURES.values()), per_user=True)
    values = table.set_index(["user", "metric"])["value"]
    for user, expected in trec.items():
        for theirs, ours in MEASURES.items():
            assert values[user, ours] == pytest.approx(expected[theirs], abs=1e-12), (user, theirs)


def inferred_precision(order: list[str], relevant: set[str], negatives: set[str]) -> float:
    """Equations 7 and 8 of Valcarce et al., term by term."""
    total, e = 0.0, 0.00001
    for k, item in enumerate(order, start=1):
        above = set(order[: k - 1])
        if item in relevant:
            r, n = len(above & relevant), len(above & negatives)
            total += 1 / k + (k - 1) / k * (r + e) / (r + n + 2 * e)
    return total / len(relevant)


def kept_preferences(order: list[str], relevant: set[str], negatives: set[str], norm: int) -> float:
    """Equation 6 of Valcarce et al., or with the relevant items as ``norm`` what Buckley & Voorhees first gave."""
    total = 0.0
    for k, item in enumerate(order, start=1):
        above = min(len(set(order[:k]) & negatives), len(relevant))
        total += (item in relevant) * (1 - above / norm if above else 1)
    return total / len(relevant)


@pytest.mark.parametrize("seed", range(4))
def test_cut_off_and_published_forms_of_bpref_and_infap(seed):
    run, judgements = random_case(seed)
    protocol = default_protocol(True).replace(TREC, "test")
    names = ["bpref@6", "bpref[denominator=relevant]@6", "infap[unjudged=as-judged]@6", "infap[unjudged=as-judged]"]
    table = evaluate(*frames(run, judgements), protocol, names, per_user=True)
    values = table.set_index(["user", "metric"])["value"]
    for user, judged in judgements.items():
        relevant = {item for item, grade in judged.items() if grade > 0}
        negatives = set(judged) - relevant
        if not relevant:
            continue
        order = sorted(run[user], key=lambda item: (np.float32(run[user][item]), item), reverse=True)
        expected = [
            kept_preferences(order[:6], relevant, negatives, min(len(negatives), len(relevant))),
            kept_preferences(order[:6], relevant, negatives, len(relevant)),
            inferred_precision(order[:6], relevant, negatives),
            inferred_precision(order, relevant, negatives),
        ]
        assert [values[user, name] for name in names] == pytest.approx(expected, abs=1e-12)
