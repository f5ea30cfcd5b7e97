"""The prediction algorithms of Surprise, from the table in ``classes.toml``, and the estimates of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro.plugin import Parameter, ParameterValue
from repro.plugin.api.adapting import renamed, require_at_least
from repro.plugin.api.model_table import read_classes
from repro_surprise import knn
from repro_surprise.biases import Biases
from repro_surprise.co_clustering import CoClusters
from repro_surprise.factors import of_factors, of_implicit_factors
from repro_surprise.fitted import Estimates, Fitted
from repro_surprise.normal import NormalRatings
from repro_surprise.slope_one import Slopes

UNSET = -1
ESTIMATES: dict[str, Callable[[Fitted], Estimates]] = {
    "NormalPredictor": NormalRatings.of,
    "BaselineOnly": Biases.of,
    "KNNBasic": knn.Plain,
    "KNNWithMeans": knn.Centred,
    "KNNWithZScore": knn.Centred,
    "KNNBaseline": knn.Baselined,
    "SVD": of_factors,
    "SVDpp": of_implicit_factors,
    "NMF": of_factors,
    "SlopeOne": Slopes.of,
    "CoClustering": CoClusters.of,
}
_NESTED = {"sim": "sim_options", "bsl": "bsl_options"}
# With lower values Surprise divides by zero, or they have no meaning.
_LOWEST = {"k": 1, "min_k": 1, "sim_min_support": 1, "n_factors": 1, "n_cltr_u": 1, "n_cltr_i": 1, "init_low": 0}


@dataclass(frozen=True)
class SurpriseClass:
    """A prediction algorithm of Surprise.

    name        of the class
    estimates   computes estimates from the fitted algorithm
    parameters  of the constructor, with Surprise's defaults
    seeded      whether it takes a ``random_state``
    talks       whether it takes ``verbose``
    """

    name: str
    summary: str
    estimates: Callable[[Fitted], Estimates]
    cite: str = ""
    parameters: tuple[Parameter, ...] = ()
    seeded: bool = False
    talks: bool = True

    def make(self, parameters: Mapping[str, ParameterValue], seed: int) -> Any:
        """A new algorithm of this class with these parameters (all of them)."""
        import surprise

        common: dict[str, Any] = {"verbose": False} if self.talks else {}
        if self.seeded:
            common["random_state"] = seed
        return getattr(surprise, self.name)(**common, **self.keywords(parameters))

    def keywords(self, parameters: Mapping[str, ParameterValue]) -> dict[str, Any]:
        """The parameters as the constructor takes them."""
        keywords: dict[str, Any] = {}
        for parameter in self.parameters:
            prefix, _, option = parameter.name.partition("_")
            options = keywords.setdefault(_NESTED[prefix], {}) if prefix in _NESTED else keywords
            value = parameters[parameter.name]
            if parameter.default != UNSET or float(value) >= 0:
                options[option if prefix in _NESTED else parameter.name] = value
        return keywords


def own_name(parameter: str) -> str:
    """Surprise's name of a parameter: ``sim_name`` is ``sim_options.name``."""
    prefix, _, option = parameter.partition("_")
    return f"{_NESTED[prefix]}.{option}" if prefix in _NESTED else parameter


def check(parameters: Mapping[str, ParameterValue], known_as: Mapping[str, str]) -> None:
    """Refuse values that are too small; ``known_as`` has the names of parameters in the message."""
    lowest = {known_as.get(name, name): value for name, value in _LOWEST.items()}
    require_at_least(lowest, renamed(known_as, parameters))


def _class(name: str, **fields: Any) -> SurpriseClass:
    return SurpriseClass(name, estimates=ESTIMATES[name], **fields)


CLASSES = read_classes(Path(__file__).with_name("classes.toml"), _class)
