"""implicit's classes from the table in ``models.toml``, each an algorithm under its own name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repro.plugin import Algorithm, Parameter, ParameterValue, Recommender
from repro.plugin.api.adapting import Weigh, own_algorithm, own_parameters, row_weights
from repro.plugin.api.model_table import read_classes
from repro_implicit.factors import FactorModel
from repro_implicit.neighbours import NeighbourModel

NEIGHBOURS = "implicit.nearest_neighbours"


@dataclass(frozen=True)
class Model:
    """A class of implicit: its module, and its parameters with implicit's defaults.

    The ``random_state`` is the seed of the study.
    """

    name: str
    module: str
    summary: str
    cite: str
    parameters: tuple[Parameter, ...]
    only_with: Mapping[str, ParameterValue] = field(default_factory=dict)

    @property
    def own(self) -> str:
        return f"{self.module}.{self.name}"

    def make(self, weigh: Weigh, parameters: Mapping[str, ParameterValue]) -> Recommender:
        """A recommender with these parameters of the class; ``values`` may be among them and is ignored."""
        own = own_parameters(_LOWEST, parameters)
        made = NeighbourModel if self.module == NEIGHBOURS else FactorModel
        return made(f"{self.module}:{self.name}", own, weigh)


_LOWEST = dict.fromkeys(("factors", "iterations", "neg_prop", "K"), 1) | dict.fromkeys(
    ("regularization", "learning_rate", "alpha", "num_threads", "K1", "B"), 0
)
MODELS = read_classes(Path(__file__).with_name("models.toml"), Model)


def algorithm_of(model: Model) -> Algorithm:
    """The class under its own name."""
    return own_algorithm(model, _make, model.own, only_with=model.only_with)


def _make(model: Model, **parameters: ParameterValue) -> Recommender:
    return model.make(row_weights(parameters.get("values", "ratings")), parameters)
