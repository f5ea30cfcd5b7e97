"""The aspects of a policy: the features of questions about each, and the decisions that these questions can touch.

The first questions are plain: a few users, all of whose held-out items are relevant, and scores that all differ. Each
aspect adds features to the questions, and frees the decisions about them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from repro.evaluation.metrics import Metric, RankingMetric
from repro.plugin import FEATURES
from repro.protocol import registry

# Features that every black box can be given; those of plug-ins it may exclude.
ALWAYS_POSSIBLE: Mapping[str, str] = {
    "off-scale": "predictions off the rating scale",
}


@dataclass(frozen=True)
class Aspect:
    """Features of questions, and the decisions (or families of decisions) that questions with them can determine.

    frees        decisions that hypotheses may take differently when the aspect is examined
    needs        the features of its questions
    also         further features of its questions, where the black box accepts them
    frees_again  decisions that an earlier aspect settled, and that its questions may settle differently
    n_least      the number of questions that are asked at least
    """

    name: str
    frees: tuple[str, ...]
    needs: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    frees_again: tuple[str, ...] = ()
    n_least: int = 12

    @property
    def own_features(self) -> frozenset[str]:
        """The features that no other aspect is about."""
        return frozenset(self.needs) - {"graded"}

    def is_about(self, decision: str) -> bool:
        """Whether its questions are the first to ask for the decision, such as users without a list for their value."""
        features = registry()[decision].acts_on
        if not features:
            return decision in self.frees_again and len(self.frees_again) == 1
        return features[0] in self.own_features or self.needs == features[:1]

    def features(self, possible: Collection[str]) -> frozenset[str]:
        """The features of its questions, if only those that are ``possible`` are added."""
        return frozenset((*self.needs, *(feature for feature in self.also if feature in possible)))


PLAIN = "plain lists"
UNKNOWN_USERS = "users without training rows"
FRACTIONS = "ratings that are no whole numbers"
ALL_TOGETHER = "everything together"
_MISSING = ("missing.rank", "missing.constant", "average.no_list")
_RATED = ("relevance", "candidates.rated_negatives", "candidates.exclude_train")
_UNKNOWN_ITEMS = Aspect("unknown items", ("split.unseen_items",), ("unknown-items",))
RANKING = (
    Aspect("ratings", _RATED, ("graded",), ("fractional", "training")),
    Aspect("ratings of zero", _RATED, ("graded", "zero-ratings"), ("training",)),
    Aspect("short lists", (), ("short-lists",)),
    Aspect("partial lists", ("average.no_list",), ("partial-lists",)),
    Aspect("training items", ("candidates.exclude_train",), ("training",)),
    _UNKNOWN_ITEMS,
    # An unstable sort may look like a rule for a while.
    Aspect("ties", ("ties",), ("ties",), n_least=60),
    Aspect("missing scores", _MISSING, ("missing",)),
    Aspect("scores of zero and below", ("missing.zero", *_MISSING), ("non-positive",), ("missing",)),
    Aspect("infinite scores", ("missing.infinite", *_MISSING), ("infinite",)),
    Aspect("scores that are made up", ("missing.fallback", *_MISSING), ("fallback",)),
    Aspect("users without relevant items", (), ("no-relevant", "graded"), ("zero-ratings",), ("average.no_relevant",)),
    Aspect("users without a list", ("average.no_list",), ("no-list",)),
    Aspect("users with neither a list nor relevant items", ("average.neither",), ("neither", "graded")),
    Aspect("nobody to average", ("average.nobody",), ("nobody", "graded"), ("no-list",)),
    Aspect("duplicates", ("data.duplicates",), ("duplicates",), ("graded",)),
)
NO_NEGATIVES = Aspect(
    "users without negative items",
    ("average.no_negatives",),
    ("no-negatives",),
    frees_again=("average.no_relevant", "average.no_negatives"),
)
# Features that are impossible where others are.
IMPLIES: Mapping[str, tuple[str, ...]] = {
    "neither": ("no-relevant", "no-list", "graded"),
    "nobody": ("no-relevant", "graded"),
}
PREDICTION = (
    Aspect("predictions off the scale", (), ("off-scale",)),
    Aspect("missing predictions", ("predict.missing", "predict.constant"), ("missing",), ("training",)),
    Aspect("predictions that are made up", ("predict",), ("fallback",), ("training",)),
    _UNKNOWN_ITEMS,
    Aspect("duplicates", ("data.duplicates",), ("duplicates",)),
)


def aspects_of(metric: Metric) -> tuple[Aspect, ...]:
    """The aspects of a metric, the plain one first."""
    of_metric = (f"metric.{metric.name}", *metric.shared)
    if metric.kind == "prediction":
        return (Aspect(PLAIN, (*of_metric, "predict.clip", "predict.round")), *PREDICTION)
    negatives = (NO_NEGATIVES,) if isinstance(metric, RankingMetric) and metric.negatives else ()
    undefined = ("average.no_relevant", *(("average.no_negatives",) if negatives else ()))
    plain = Aspect(PLAIN, (*of_metric, "candidates.base", "candidates.relevant", "average.over", *undefined))
    ratings, *others = RANKING
    return (plain, replace(ratings, frees_again=of_metric), *others, *negatives)


def features_touching(decision: str) -> tuple[str, ...]:
    """The features of which a question needs one for a decision to affect its answer; empty if it needs none."""
    return registry()[decision].acts_on


def in_words(feature: str) -> str:
    """The description of a feature, in words."""
    return ALWAYS_POSSIBLE.get(feature) or FEATURES[feature]
