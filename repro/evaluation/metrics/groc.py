"""Global ROC: the area under the ROC curve of the (user, item) pairs of all users together.

    GROC = pairs of a relevant and another (user, item) pair in which the relevant one scores higher, ties half
           / all such pairs

The pairs of all lists are put in one order by their scores, so a user may get any number of recommendations; scores of
different users are compared, which makes sense where they are on one scale. Two equal scores count half, in one list
or in two, whatever ``ties.break`` says; ``ties.precision`` says when they are equal. A missing score is where
``missing.rank`` puts it: below all pairs ("last"), above ("first"), at a score, or nowhere ("drop").

A user with an empty list adds nothing but relevant items; a user without relevant items adds other pairs. A relevant
item that is in no list, because the list is short, counts as below every pair. Undefined if nothing is relevant or
nothing else. More than 50 million pairs are refused.

Schein et al., Methods and metrics for cold-start recommendations, SIGIR 2002.
"""

from __future__ import annotations

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import Background, CollectionMetric, Variants
from repro.evaluation.metrics.shared.curves import Pool, join_pairs, pooled_pairs
from repro.evaluation.metrics.shared.declarations import UNIT
from repro.evaluation.metrics.tie_order import UNAFFECTED


def area(pairs: FloatArray, variants: Variants, background: Background) -> float:
    """The area under the ROC curve of the pairs."""
    return Pool.of(pairs).roc_area


METRIC = CollectionMetric(
    "groc",
    "Global ROC area",
    pooled_pairs,
    area,
    merge=join_pairs,
    needs=("scores",),
    range=UNIT,
    tie_order=UNAFFECTED,
    task="recommend all good items",
    shows="whether good pairs of user and item have higher scores than others, over all users together",
    cite="Schein et al. 2002",
)
