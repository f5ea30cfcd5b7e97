"""Kendall's tau-b between the list and the user's ratings.

    tau-b = (concordant - discordant) / sqrt((pairs - tied in the list) (pairs - tied in the ratings))

The pairs are those of held-out items in the list: a ``concordant`` pair is listed in the order of its ratings, a
``discordant`` pair in the reverse order. The coefficient is 1 for the order of the ratings, and -1 for its reverse.

An empty list, fewer than two held-out items in the list, and ratings (or scores) that are all the same leave the
coefficient undefined, and the list is left out of the average. There is no cut-off. In a long or short list, items
without a held-out rating have no effect, and neither has relevance.

Variant ``ties``: with ``scores``, items with equal scores are tied for every value of ``ties.break``; with ``order``,
``ties.break`` puts them in an order, and no pair is tied in the list. In the expectation over all orders, a pair with
equal scores adds 0, since it is concordant as often as discordant. Items that share a rank are tied.

Kendall, The treatment of ties in ranking problems, Biometrika 1945.
"""

from __future__ import annotations

import numpy as np

from repro.evaluation.metrics.metric import Background, Ranked, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import CORRELATION
from repro.evaluation.metrics.shared.two_orders import count_pairs, list_and_ratings, rating_order_metric


def tau_b(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """Concordant minus discordant pairs over the geometric mean of the pairs that list and ratings order."""
    pairs = count_pairs(list_and_ratings(ranked, str(variants["ties"]), background))
    ordered_by_both = pairs.concordant + pairs.discordant
    ordered_by_list = ordered_by_both + pairs.tied_by_truth
    ordered_by_ratings = ordered_by_both + pairs.tied_by_system
    if variants["ties"] == "order" and ranked.ties == "expected":
        # A single order has no tied pairs.
        ordered_by_list = ordered_by_list + pairs.tied_by_system + pairs.tied_by_both
    return Ratio(pairs.concordant - pairs.discordant, np.sqrt(ordered_by_list * ordered_by_ratings))


METRIC = rating_order_metric(
    "kendall",
    "Kendall's rank correlation (tau-b)",
    tau_b,
    range=CORRELATION,
    task="predict ratings",
    shows="whether items are in the order of the user's ratings, counted in pairs",
    cite="Kendall 1945",
)
