"""Kendall's tau-b between the list and the user's ratings.

    tau-b = (concordant - discordant) / sqrt((pairs - tied in the list) (pairs - tied in the ratings))

Over the pairs of held-out items in the list: ``concordant`` ones are listed in the order of their ratings,
``discordant`` ones the other way round. 1 is the order of the ratings, -1 its reverse.

An empty list, fewer than two held-out items in the list, and ratings (or scores) that are all the same leave the
coefficient undefined, and the list is left out. There is no cut-off; in a long or short list, items without a held-out
rating have no effect, and neither has relevance, only ratings.

Variant ``ties``: ``scores``, items with equal scores are tied, whatever ``ties.break`` says; ``order``, they are in
the order that it gives, and no pair is tied in the list. Its expectation over all orders has tied pairs add 0, since
they are concordant as often as discordant; items that share a rank are tied.

Kendall, The treatment of ties in ranking problems, Biometrika 1945.
"""

from __future__ import annotations

import numpy as np

from repro.evaluation.metrics._declarations import CORRELATION
from repro.evaluation.metrics._two_orders import count_pairs, list_and_ratings, rating_order_metric
from repro.evaluation.metrics.metric import Background, Ranked, Ratio, Variants


def tau_b(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """Concordant minus discordant pairs over the geometric mean of the pairs that list and ratings order."""
    pairs = count_pairs(list_and_ratings(ranked, str(variants["ties"]), background))
    by_both = pairs.concordant + pairs.discordant
    by_list, by_ratings = by_both + pairs.tied_by_truth, by_both + pairs.tied_by_system
    if variants["ties"] == "order" and ranked.ties == "expected":
        by_list = by_list + pairs.tied_by_system + pairs.tied_by_both  # each single order has no tied pairs
    return Ratio(pairs.concordant - pairs.discordant, np.sqrt(by_list * by_ratings))


METRIC = rating_order_metric(
    "kendall",
    "Kendall's rank correlation (tau-b)",
    tau_b,
    range=CORRELATION,
    task="predict ratings",
    shows="whether items are in the order of the user's ratings, counted in pairs",
    cite="Kendall 1945",
)
