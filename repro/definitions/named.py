"""Definitions that several frameworks share, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from repro.definitions.implementation import Implementation
from repro.definitions.space import Setting
from repro.plugin import ParameterValue


@dataclass(frozen=True)
class NamedDefinition:
    """A definition of an algorithm: parameters of the reference implementation; those left out are free.

    probes  values of free parameters that have an effect on small training sets
    """

    name: str
    algorithm: str
    meaning: str
    parameters: Setting = field(default_factory=dict)
    probes: Setting = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The reference implementation."""
        return f"reference/{self.algorithm}"

    def implementation(self, parameters: Mapping[str, ParameterValue]) -> Implementation:
        """The reference implementation with this definition, and further parameters; the scores of training pairs,
        which evaluations leave out, are free."""
        return replace(Implementation.of_plugin(self.label, {**parameters, **self.parameters}), training=False)


_K: dict[str, ParameterValue] = {"k": 3}
_ANY: dict[str, ParameterValue] = {"ties": "any"}
_COSINES: dict[str, ParameterValue] = {
    **_ANY,
    "similarity": "cosine",
    "center": "none",
    "normalise": False,
    "fallback": "zero",
}
_SUM: dict[str, ParameterValue] = {**_COSINES, "neighbourhood": "neighbour"}
NAMED: Mapping[str, NamedDefinition] = {
    definition.name: definition
    for definition in (
        NamedDefinition(
            "cosine-sum",
            "item-knn",
            "the sum of the cosines, of who has which item, with the user's items; each of these counts for the k "
            "items nearest to it",
            {**_SUM, "input": "ones", "contributions": "ones"},
            _K,
        ),
        NamedDefinition(
            "cosine-sum-of-ratings",
            "item-knn",
            "the sum of the cosines of ratings with the user's items, times the ratings; each of these counts for the "
            "k items nearest to it",
            _SUM,
            _K,
        ),
        NamedDefinition(
            "cosine-mean",
            "item-knn",
            "the mean of the user's ratings of the k nearest items that the user has, weighted by the cosine of the "
            "ratings of common users",
            {**_ANY, "similarity": "cosine", "over": "common", "center": "none", "normalise": True},
            _K,
        ),
        NamedDefinition(
            "pearson-mean",
            "item-knn",
            "the mean of the user's ratings of the k nearest items that the user has, weighted by the correlation of "
            "the ratings of common users",
            {**_ANY, "similarity": "pearson", "center": "none", "normalise": True},
            _K,
        ),
        NamedDefinition(
            "resnick",
            "user-knn",
            "the user's mean rating, and the mean deviation from their own mean of the k nearest users who have the "
            "item, weighted by the correlation of common ratings",
            {**_ANY, "similarity": "pearson", "center": "mean", "normalise": True},
            _K,
        ),
        NamedDefinition(
            "user-cosine-sum",
            "user-knn",
            "the sum of the cosines, of who has which item, with the k nearest of all users, of those who have "
            "the item",
            {**_COSINES, "input": "ones", "contributions": "ones", "neighbourhood": "all"},
            _K,
        ),
        NamedDefinition("users", "popularity", "the number of training rows of the item", {"count": "rows"}),
        NamedDefinition(
            "damped-means",
            "bias",
            "the mean rating, the damped mean deviation of the item from it, and that of the user from both",
            {"order": "items-first", "epochs": 1, "biases": "both", "mean": "rows", "unknown": "overall"},
            {"user_damping": 2.5, "item_damping": 1.5},
        ),
        NamedDefinition(
            "steck",
            "ease",
            "the item weights of Steck (2019), of who has which item, with the same penalty for all",
            {"values": "binary", "penalty": "fixed", "signs": "any", "side": "columns", "popularity_power": 0.0},
            {"regularisation": 3.0},
        ),
        NamedDefinition(
            "cremonesi",
            "puresvd",
            "the user's ratings projected on the first right singular vectors of the ratings, missing ones as zero",
            {"values": "ratings", "missing": "zero", "subtracted": "no", "scaling": "one-side"},
            {"factors": 3},
        ),
        NamedDefinition(
            "cremonesi-ones",
            "puresvd",
            "the user's row projected on the first right singular vectors of the matrix of who has which item",
            {"values": "binary", "missing": "zero", "subtracted": "no", "scaling": "one-side"},
            {"factors": 3},
        ),
        NamedDefinition(
            "weighted",
            "slope-one",
            "mean differences between two items, weighted by the number of users of both",
            {"variant": "weighted"},
        ),
        NamedDefinition(
            "unweighted-around-mean",
            "slope-one",
            "the user's mean rating, and the mean of the differences to the user's items",
            {"variant": "around-mean"},
        ),
        NamedDefinition(
            "weighted-binary",
            "implicit-als",
            "rows with the weight 1 + alpha, whatever the rating, against 1 for all other pairs (Hu et al. 2008)",
            {"values": "binary", "confidence": "plus-one", "zeros": "unobserved", "penalty": "constant"},
        ),
        NamedDefinition(
            "weighted-ratings",
            "implicit-als",
            "rows with the weight 1 + alpha times the rating, against 1 for all other pairs (Hu et al. 2008)",
            {"values": "ratings", "confidence": "plus-one", "zeros": "unobserved", "penalty": "constant"},
        ),
    )
}
