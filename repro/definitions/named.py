"""Definitions that several frameworks share, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from repro.definitions.implementation import Implementation
from repro.definitions.space import Setting
from repro.plugin import ParameterValue


@dataclass(frozen=True)
class NamedDefinition:
    """A definition of an algorithm: parameters of the reference implementation; those left out are free."""

    name: str
    algorithm: str
    meaning: str
    parameters: Setting = field(default_factory=dict)

    def implementation(self, parameters: Mapping[str, ParameterValue]) -> Implementation:
        """The reference implementation with this definition, and further parameters."""
        return Implementation.of_plugin(f"reference/{self.algorithm}", {**parameters, **self.parameters})


_COSINE = {"similarity": "cosine", "center": "none"}
NAMED: Mapping[str, NamedDefinition] = {
    definition.name: definition
    for definition in (
        NamedDefinition(
            "cosine-sum",
            "item-knn",
            "the sum of the cosines of the k nearest items that the user has, times the ratings",
            {**_COSINE, "normalise": False},
        ),
        NamedDefinition(
            "cosine-mean",
            "item-knn",
            "the mean of the user's ratings of the k nearest items, weighted by the cosine",
            {**_COSINE, "normalise": True},
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
