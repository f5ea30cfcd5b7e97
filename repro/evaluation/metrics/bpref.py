"""Binary preference: how seldom judged non-relevant items stand above relevant ones.

    bpref@k = 1 / R * sum over the relevant items down to k of (1 - min(n, R) / min(N, R))

R are the relevant items, N the held-out items that are not relevant (judged non-relevant, whatever their rating), and
n those of them above the relevant item. Items that are not judged have no effect. A relevant item with n = 0 counts 1,
also if N is 0. Without a cut-off this is trec_eval's definition, with one equation 6 of Valcarce et al.; but trec_eval
takes items with a rating below 0 for not judged. As first published, min(n, R) was divided by R
(``denominator=relevant``).

An empty list counts 0. A list without relevant items is undefined. A list of fewer than k items is judged by the items
that it has; relevant items that are not listed count 0. Of judged non-relevant items that share a rank with a relevant
one, none, half or all count as above it, as the shared rank is the best, mean or worst.

Buckley & Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004; Valcarce et al., On the robustness
and discriminative power of information retrieval metrics for top-N recommendation, RecSys 2018.
"""

from __future__ import annotations

import numpy as np

from repro.evaluation.metrics.metric import Background, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import UNIT
from repro.evaluation.metrics.shared.hits import limit, tied_part
from repro.evaluation.metrics.shared.kernels import expected_preference_sums, preference_sums
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST
from repro.protocol import Decision, Option


def binary_preference(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The (expected) sum of the preferences at each list's relevant items down to ``k``, over all relevant items."""
    norms = relevant = ranked.n_relevant.astype(np.float64)
    if variants["denominator"] == "min":
        norms = np.minimum(np.diff(ranked.offsets) - relevant, relevant)
    hits = ranked.relevant, ranked.n_relevant, norms, limit(k)
    if ranked.ties == "expected":
        sums = expected_preference_sums(ranked.offsets, ranked.above, ranked.tied, *hits)
    else:
        sums = preference_sums(ranked.offsets, ranked.doubled_ranks, *hits, tied_part(ranked))
    return Ratio(sums, relevant)


METRIC = RankingMetric(
    "bpref",
    "Binary preference",
    binary_preference,
    cutoff="optional",
    variants=(
        Decision.choice(
            "metric.bpref.denominator",
            "By what are the judged non-relevant items above a relevant one divided?",
            Option(
                "min",
                "min(judged non-relevant items, relevant items)",
                cite="Valcarce et al. 2018, eq. 6",
                used_by=("pytrec_eval", "ir_measures"),
            ),
            Option("relevant", "the relevant items", cite="Buckley & Voorhees 2004"),
        ),
    ),
    range=UNIT,
    tie_order=RELEVANT_FIRST,
    task="recommend all good items",
    shows="the order of good items and of those known to be bad; items without a judgement have no effect",
    cite="Buckley & Voorhees 2004",
)
