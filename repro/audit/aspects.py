"""The aspects of a policy, one after the other: what questions have in them, and which decisions they can touch.

The first questions are as plain as can be: a few users, all of whose held-out items are relevant, and scores that all
differ. Each aspect puts something more into the questions, and opens the decisions about it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from repro.evaluation.metrics import Metric
from repro.plugin import FEATURES
from repro.protocol import registry

# Features that every black box can be given, beside those that it may say it cannot.
ALWAYS: Mapping[str, str] = {
    "off-scale": "predictions off the rating scale",
}


@dataclass(frozen=True)
class Aspect:
    """Something that questions get, and the decisions (or families of them) that it opens.

    needs    the features that make it what it is
    along    further features that its questions have, where the black box can take them
    reopens  decisions that an aspect before it opened, and that only its questions may tell
    least    how many questions are asked about it, even where nothing is left to be told apart
    """

    name: str
    opens: tuple[str, ...]
    needs: tuple[str, ...] = ()
    along: tuple[str, ...] = ()
    reopens: tuple[str, ...] = ()
    least: int = 12

    @property
    def own(self) -> frozenset[str]:
        """The features that no other aspect is about."""
        return frozenset(self.needs) - {"graded"}

    def features(self, possible: Collection[str]) -> frozenset[str]:
        return frozenset((*self.needs, *(one for one in self.along if one in possible)))


PLAIN = "plain lists"
STRANGERS = "users without training rows"
FRACTIONS = "ratings that are no whole numbers"
TOGETHER = "everything together"
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
    # What orders equal scores as it happens may look like a rule for a while.
    Aspect("ties", ("ties",), ("ties",), least=60),
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
    reopens=("average.no_relevant", "average.no_negatives"),
)
# Features that nobody can be asked about who cannot be asked about others.
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
    own = (f"metric.{metric.name}", *metric.shared)
    if metric.kind == "prediction":
        return (Aspect(PLAIN, (*own, "predict.clip", "predict.round")), *PREDICTION)
    negatives = (NO_NEGATIVES,) if metric.negatives else ()
    undefined = ("average.no_relevant", *(("average.no_negatives",) if negatives else ()))
    plain = Aspect(PLAIN, (*own, "candidates.base", "candidates.relevant", "average.over", *undefined))
    ratings, *others = RANKING
    return (plain, replace(ratings, reopens=own), *others, *negatives)


def reaching(decision: str) -> tuple[str, ...]:
    """The features of which a question needs one for a decision to touch it; none where it needs none."""
    return registry()[decision].acts_on


def in_words(feature: str) -> str:
    """What a feature is, in words."""
    return ALWAYS.get(feature) or FEATURES[feature]
