"""Customer ROC: the area under the ROC curve when every user gets the same number of recommendations.

    CROC = area below the points (false alarms at n / all other items, hits at n / relevant items), n = 0, 1, 2, ...

with straight lines between them; hits and false alarms at n are those of the first n items of all lists. By default
they are added up over lists and then divided (``rates=totals``); ``rates=means`` averages the true positive rate of
lists with relevant items, and the false positive rate of lists with other items, as in Gunawardana & Shani.

Users differ in their relevant items, so even perfect lists, which begin with all of them, leave the curve below 1.
``normalised=perfect`` divides by the area of perfect lists. Lists in random order have 0.5 in expectation if all have
the same number of candidates.

An empty list adds its relevant items, none of them a hit. A list without relevant items adds false alarms. A short
list, of fewer than n items, keeps what it has. A relevant item that is in no list is never a hit. Undefined if nothing
is relevant, or nothing else. The expectation over all orders of tied items is exact. If they share a rank no list has
a first n items, and the area is refused. In 1R each list counts as a user.

Schein et al., Methods and metrics for cold-start recommendations, SIGIR 2002; Schein et al., CROC: a new evaluation
criterion for recommender systems, Electronic Commerce Research 2005; Gunawardana & Shani, A survey of accuracy
evaluation metrics of recommendation tasks, JMLR 2009.
"""

from __future__ import annotations

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import Background, CollectionMetric, Variants
from repro.evaluation.metrics.shared.curves import Lengths, add_places, objection_to_shared_ranks, tally_places
from repro.evaluation.metrics.shared.declarations import UNIT
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST
from repro.protocol import Decision, Option, Protocol


def area(tally: FloatArray, variants: Variants, background: Background) -> float:
    """The area under the ROC curve, as a share of that of perfect lists if ``normalised=perfect``."""
    lengths, rates = Lengths(tally), str(variants["rates"])
    share = lengths.roc_area(rates)
    return share / lengths.roc_area(rates, perfect=True) if variants["normalised"] == "perfect" else share


def _objection(variants: Variants, protocol: Protocol) -> str:
    return objection_to_shared_ranks(protocol)


METRIC = CollectionMetric(
    "croc",
    "Customer ROC area",
    tally_places,
    area,
    merge=add_places,
    variants=(
        Decision.choice(
            "metric.croc.normalised",
            "By what is the area divided?",
            Option("none", "nothing"),
            Option("perfect", "the area of lists that begin with all of their relevant items"),
        ),
        Decision.choice(
            "metric.croc.rates",
            "What are the rates at n?",
            Option("totals", "hits of all lists over relevant items of all lists", cite="Schein et al. 2002"),
            Option("means", "the mean of the rates of each list", cite="Gunawardana & Shani 2009"),
        ),
    ),
    objection=_objection,
    range=UNIT,
    tie_order=RELEVANT_FIRST,
    task="recommend all good items",
    shows="how many good items all users together find as lists of equal length grow; all ranks count alike",
    cite="Schein et al. 2002, 2005",
)
