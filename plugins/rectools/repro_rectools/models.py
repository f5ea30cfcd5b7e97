"""RecTools' classes from the table in ``models.toml``, each an algorithm under its own name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from repro.errors import PluginError
from repro.plugin import Algorithm, Parameter, ParameterValue, Recommender
from repro.plugin.api.adapting import Weigh, own_algorithm, own_parameters, row_weights
from repro.plugin.api.model_table import read_classes
from repro_rectools.linear import EASERecommender
from repro_rectools.neighbours import NeighbourRecommender
from repro_rectools.not_personal import PopularRecommender, RandomRecommender
from repro_rectools.vectors import VectorRecommender

Own = Mapping[str, ParameterValue]
# SciPy takes seeds of 32 bits.
_SEEDS = 1 << 32


@dataclass(frozen=True)
class Model:
    """A class of RecTools, with the defaults of RecTools or of the class of implicit inside a wrapper."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    cite: str = ""
    deterministic: bool = True
    only_with: Mapping[str, ParameterValue] = field(default_factory=dict)

    @property
    def own(self) -> str:
        return f"rectools.models.{self.name}"

    def make(self, weigh: Weigh, parameters: Own) -> Recommender:
        """A recommender with these parameters of the class; ``values`` may be among them and is ignored."""
        own = own_parameters(_LOWEST, parameters)
        construct, recommender = RUNS[self.name]
        return recommender(partial(construct, own), weigh)


def _class(name: str) -> Any:
    return resolve_name(f"rectools.models:{name}")


def _popular(own: Own, seed: int) -> Any:
    import pandas as pd

    days, begin = float(own["period"]), str(own["begin_from"])
    if days and begin:
        raise PluginError("period and begin_from exclude each other; give one of them")
    try:
        since = pd.Timestamp(begin).to_pydatetime() if begin else None
    except ValueError:
        raise PluginError(f"begin_from = {begin!r} is not a time; give one such as 1998-03-01") from None
    return _class("PopularModel")(
        popularity=own["popularity"],
        period=pd.Timedelta(days=days).to_pytimedelta() if days else None,
        begin_from=since,
        add_cold=own["add_cold"],
        inverse=own["inverse"],
    )


def _random(own: Own, seed: int) -> Any:
    return _class("RandomModel")(random_state=seed)


def _ease(own: Own, seed: int) -> Any:
    return _class("EASEModel")(**own)


def _pure_svd(own: Own, seed: int) -> Any:
    return _class("PureSVDModel")(**{**own, "maxiter": own["maxiter"] or None}, random_state=seed % _SEEDS)


def _als(own: Own, seed: int) -> Any:
    wrapped = {name: value for name, value in own.items() if name != "fit_features_together"}
    model = resolve_name("implicit.cpu.als:AlternatingLeastSquares")(**wrapped, random_state=seed)
    return _class("ImplicitALSWrapperModel")(model, fit_features_together=own["fit_features_together"])


def _bpr(own: Own, seed: int) -> Any:
    model = resolve_name("implicit.cpu.bpr:BayesianPersonalizedRanking")(**own, random_state=seed)
    return _class("ImplicitBPRWrapperModel")(model)


def _item_knn(own: Own, seed: int) -> Any:
    only_bm25 = () if own["model"] == "BM25Recommender" else ("K1", "B")
    wrapped = {name: value for name, value in own.items() if name not in ("model", *only_bm25)}
    return _class("ImplicitItemKNNWrapperModel")(resolve_name(f"implicit.nearest_neighbours:{own['model']}")(**wrapped))


_LOWEST = dict.fromkeys(("factors", "iterations", "K"), 1) | dict.fromkeys(
    ("regularization", "learning_rate", "alpha", "num_threads", "K1", "B", "tol", "maxiter", "period"), 0
)
SIMILARITIES = {
    "cosine": "CosineRecommender",
    "tfidf": "TFIDFRecommender",
    "bm25": "BM25Recommender",
    "dot": "ItemItemRecommender",
}
# By class: what makes it from its parameters and a seed, and the recommender that runs it.
RUNS: dict[str, tuple[Callable[[Own, int], Any], Callable[[Callable[[int], Any], Weigh], Recommender]]] = {
    "PopularModel": (_popular, PopularRecommender),
    "RandomModel": (_random, RandomRecommender),
    "EASEModel": (_ease, EASERecommender),
    "PureSVDModel": (_pure_svd, VectorRecommender),
    "ImplicitALSWrapperModel": (_als, VectorRecommender),
    "ImplicitBPRWrapperModel": (_bpr, VectorRecommender),
    "ImplicitItemKNNWrapperModel": (_item_knn, NeighbourRecommender),
}
MODELS = read_classes(Path(__file__).with_name("models.toml"), Model)


def algorithm_of(model: Model) -> Algorithm:
    """The class under its own name."""
    fields = {"deterministic": model.deterministic, "only_with": model.only_with}
    return own_algorithm(model, make_own, model.own, **fields)


def make_own(model: Model, /, **parameters: ParameterValue) -> Recommender:
    return model.make(row_weights(parameters.get("values", "ratings")), parameters)
