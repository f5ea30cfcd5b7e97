"""Spearman's rank correlation between the list and the user's ratings.

    rho = sum of (x - mean) (y - mean) / sqrt(sum of (x - mean)^2 * sum of (y - mean)^2)

Over the held-out items in the list: x is the rank of an item among them by the list, y its rank by rating; tied items
have the mean of the ranks that they take up. 1 is the order of the ratings, -1 its reverse.

An empty list, fewer than two held-out items in the list, and ratings (or scores) that are all the same leave the
coefficient undefined, and the list is left out. There is no cut-off; in a long or short list, items without a held-out
rating have no effect, and neither has relevance, only ratings.

Variant ``ties``: ``scores``, items with equal scores are tied, whatever ``ties.break`` says; ``order``, they are in
the order that it gives, and each has a rank of its own. Its expectation over all orders is exact: the spread of ranks
is the same in each of them, and the mean rank of an item is that of its ties; items that share a rank are tied.

Spearman, The proof and measurement of association between two things, American Journal of Psychology 1904.
"""

from __future__ import annotations

import numpy as np

from repro.evaluation.metrics.metric import Background, Ranked, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import CORRELATION
from repro.evaluation.metrics.shared.two_orders import list_and_ratings, rank_products, rating_order_metric


def rho(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The covariance of the two ranks over the product of their deviations."""
    orders = list_and_ratings(ranked, str(variants["ties"]), background)
    together, by_list, by_ratings = rank_products(*orders)
    if variants["ties"] == "order" and ranked.ties == "expected":
        n = np.diff(orders.offsets).astype(np.float64)
        by_list = n * (n * n - 1) / 3  # of the ranks 1 to n around their mean, doubled
    return Ratio(together, np.sqrt(by_list * by_ratings))


METRIC = rating_order_metric(
    "spearman",
    "Spearman's rank correlation",
    rho,
    range=CORRELATION,
    task="predict ratings",
    shows="whether items are in the order of the user's ratings, by the distance between ranks",
    cite="Spearman 1904",
)
