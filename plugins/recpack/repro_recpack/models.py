"""RecPack's algorithms, from the table in ``models.toml``: its own names, parameters and defaults."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro.plugin import Parameter
from repro.plugin.api.model_table import read_classes
from repro_recpack.scoring import (
    EmbeddedScoring,
    FactorScoring,
    NetworkScoring,
    OnceScoring,
    PopularityScoring,
    RandomScoring,
    Scoring,
    SimilarityScoring,
    WeightedScoring,
)

SCORING: dict[str, type[Scoring]] = {
    "random": RandomScoring,
    "popularity": PopularityScoring,
    "similarity": SimilarityScoring,
    "once": OnceScoring,
    "factor": FactorScoring,
    "embedded": EmbeddedScoring,
    "weighted": WeightedScoring,
    "network": NetworkScoring,
}


@dataclass(frozen=True)
class Model:
    """A class of RecPack.

    name        in ``recpack.algorithms``
    scoring     how scores are computed once it is fitted
    parameters  those of its constructor that change scores, with its defaults
    seeded      whether the constructor takes a seed; global generators are always seeded
    validated   whether it is a network, which RecPack measures on held-out rows after each epoch
    absent      parameters whose value 0 stands for RecPack's None
    bounded     whether it has at most as many factors as users and items
    """

    name: str
    summary: str
    scoring: type[Scoring]
    parameters: tuple[Parameter, ...] = ()
    seeded: bool = False
    validated: bool = False
    absent: tuple[str, ...] = ()
    bounded: bool = False
    cite: str = ""


def _model(scoring: str, **fields: Any) -> Model:
    return Model(scoring=SCORING[scoring], **fields)


MODELS = read_classes(Path(__file__).with_name("models.toml"), _model)
