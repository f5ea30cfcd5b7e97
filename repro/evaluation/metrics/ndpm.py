"""Normalised distance-based performance measure: how far the list is from the order of the user's ratings.

    NDPM = (2 discordant + tied) / (2 ordered)

Over the pairs of held-out items in the list: ``ordered`` pairs have different ratings; of these, the list has
``discordant`` ones the other way round, and ``tied`` ones have equal scores. A list that contradicts no preference of
the user has 0, one that contradicts all of them 1. Pairs of the same rating do not count, however they are listed.

An empty list, fewer than two held-out items in the list, or ratings that are all the same give no ordered pairs, and
the list is left out. There is no cut-off; in a long or short list, items without a held-out rating have no effect, and
neither has relevance, only ratings.

Variant ``ties``: ``scores``, items with equal scores are tied, whatever ``ties.break`` says; ``order``, they are in
the order that it gives. Its expectation over all orders is that of ``scores``, since a tied pair is discordant in half
of them; items that share a rank are tied.

Yao, Measuring retrieval effectiveness based on user preference of documents, JASIS 1995.
"""

from __future__ import annotations

from repro.evaluation.metrics.metric import Background, Ranked, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import UNIT
from repro.evaluation.metrics.shared.two_orders import count_pairs, list_and_ratings, rating_order_metric


def distance_from_ratings(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """Twice the discordant and once the tied pairs over twice the pairs that ratings order."""
    pairs = count_pairs(list_and_ratings(ranked, str(variants["ties"]), background))
    ordered = pairs.concordant + pairs.discordant + pairs.tied_by_system
    return Ratio(2 * pairs.discordant + pairs.tied_by_system, 2 * ordered)


METRIC = rating_order_metric(
    "ndpm",
    "Normalised distance-based performance measure",
    distance_from_ratings,
    better="lower",
    range=UNIT,
    task="predict ratings",
    shows="whether items are in the order of the user's ratings, counted in contradicted and undecided pairs",
    cite="Yao 1995",
)
