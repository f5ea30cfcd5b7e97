"""Inferred average precision: average precision estimated from the items that are judged.

    infAP@k = 1 / R * sum over the relevant items down to k of E[P@j], where j is the rank of the item
    E[P@j] = 1 / j + (j - 1) / j * share * (r + e) / (r + n + 2 * e)

r relevant and n judged non-relevant items (held-out items that are not relevant) are above; R items are relevant in
all; e is ``epsilon``. ``share`` is 1 (``unjudged=as-judged``, equation 8 of Valcarce et al.: items that are not held
out are relevant as often as those that are), or that of judged items among the j - 1 above (``unjudged=not-relevant``,
as in trec_eval; but trec_eval takes items with a rating below 0 for not judged). At rank 1, E[P@j] is 1.

An empty list counts 0. A list without relevant items is undefined. A list of fewer than k items is judged by the items
that it has. Without a cut-off the whole list counts. Items that share a rank count as above each other not at all,
half or in full, as the shared rank is the best, mean or worst. The expectation over the orders of tied items is
refused: that of a quotient of two random counts has no closed form.

Yilmaz & Aslam, Estimating average precision with incomplete and imperfect judgments, CIKM 2006; Valcarce et al., On
the robustness and discriminative power of information retrieval metrics for top-N recommendation, RecSys 2018.
"""

from __future__ import annotations

import math

import numpy as np

from repro.evaluation.metrics.metric import Background, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import UNIT_AT_SINGLE_RANKS
from repro.evaluation.metrics.shared.hits import limit, tied_part
from repro.evaluation.metrics.shared.kernels import inferred_precision_sums
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST, TieOrder
from repro.protocol import Decision, Option, Protocol


def inferred_average_precision(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The sum of the precisions inferred at each list's relevant items down to ``k`` over the relevant items."""
    epsilon, weighted = float(variants["epsilon"]), variants["unjudged"] == "not-relevant"
    hits = ranked.offsets, ranked.doubled_ranks, ranked.relevant
    sums = inferred_precision_sums(*hits, limit(k), tied_part(ranked), epsilon, weighted)
    return Ratio(sums, ranked.n_relevant.astype(np.float64))


def _objection(variants: Variants, protocol: Protocol) -> str:
    if protocol["ties.break"] == "expected":
        return (
            'with ties.break = "expected", an inferred precision is a quotient of two random counts and has no '
            "expectation in closed form; ask for ap or bpref, or use a tie rule that gives one order, such as "
            '"item-asc" or "random"'
        )
    return ""


def _tie_order(k: int | None, variants: Variants) -> TieOrder | str:
    """Relevant items first, as far as a relevant item that moves up can only gain.

    Moved from rank j to j - 1, it gains if nothing but its rank changes. If it passes a judged item and what is
    not judged is not relevant, its precision (1 + f) / j has an f that loses less than 2e, so that it gains if
    2e (j - 1) <= 1.
    """
    reach = math.inf if k is None else k - 1
    if variants["unjudged"] == "not-relevant" and 2 * float(variants["epsilon"]) * reach > 1:
        return (
            f'with unjudged = "not-relevant" and epsilon = {variants["epsilon"]:g} relevant items first may not be the '
            'best order far down a list; ask for a cut-off of at most 1 / (2 epsilon), or for unjudged = "as-judged"'
        )
    return RELEVANT_FIRST


METRIC = RankingMetric(
    "infap",
    "Inferred average precision",
    inferred_average_precision,
    cutoff="optional",
    variants=(
        Decision.choice(
            "metric.infap.unjudged",
            "What are items above a relevant one that are not judged?",
            Option("not-relevant", "not relevant", used_by=("pytrec_eval",)),
            Option("as-judged", "relevant as often as the judged ones", cite="Valcarce et al. 2018, eq. 8"),
            default="as-judged",
        ),
        Decision(
            "metric.infap.epsilon",
            "Which small number keeps the share defined where nothing above is judged?",
            "number",
            default=0.00001,
            minimum=1e-12,
            maximum=1.0,
            cite="Valcarce et al. 2018",
        ),
    ),
    objection=_objection,
    range=UNIT_AT_SINGLE_RANKS,
    tie_order=_tie_order,
    task="recommend all good items",
    shows="how early all good items of a user come, where not every item has been judged",
    cite="Yilmaz & Aslam 2006",
)
