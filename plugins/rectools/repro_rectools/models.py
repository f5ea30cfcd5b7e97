"""RecTools' classes as data, each an algorithm under its own name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pkgutil import resolve_name
from typing import Any

from repro.errors import PluginError
from repro.plugin import Algorithm, Parameter, ParameterValue, Recommender
from repro.plugin.api.adapting import Weigh, own_algorithm, require_at_least, row_weights
from repro_rectools.linear import EASERecommender
from repro_rectools.neighbours import NeighbourRecommender
from repro_rectools.not_personal import PopularRecommender, RandomRecommender
from repro_rectools.vectors import VectorRecommender

Own = Mapping[str, ParameterValue]
# SciPy takes seeds of 32 bits.
_SEEDS = 1 << 32


@dataclass(frozen=True)
class Model:
    """A class of RecTools: how it is made from its own parameters and a seed, and the recommender that runs it.

    Defaults are those of RecTools, and of the class of implicit inside a wrapper; but the number of threads is 1 here
    and that of all cores there, because BPR is not deterministic with more.
    """

    name: str
    summary: str
    construct: Callable[[Own, int], Any]
    recommender: Callable[[Callable[[int], Any], Weigh], Recommender]
    parameters: tuple[Parameter, ...] = ()
    cite: str = ""
    deterministic: bool = True
    only_with: Mapping[str, ParameterValue] = field(default_factory=dict)

    @property
    def own(self) -> str:
        return f"rectools.models.{self.name}"

    def make(self, weigh: Weigh, parameters: Own) -> Recommender:
        """A recommender with these parameters of the class; ``values`` may be among them and is ignored."""
        require_at_least(_LOWEST, parameters)
        own = {name: value for name, value in parameters.items() if name != "values"}
        return self.recommender(partial(self.construct, own), weigh)


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


_LOWEST = {
    "factors": 1,
    "iterations": 1,
    "regularization": 0,
    "learning_rate": 0,
    "alpha": 0,
    "num_threads": 0,
    "K": 1,
    "K1": 0,
    "B": 0,
    "tol": 0,
    "maxiter": 0,
    "period": 0,
}
_SQUARES = "the weight of squared factors"
_VALUES = Parameter("values", "ratings", "the weight of each training row: its rating, or 1", ("ratings", "binary"))
_DTYPE = Parameter("dtype", "float32", "the precision of the factors", ("float32", "float64"))
_THREADS = Parameter("num_threads", 1, "threads, 0 for all cores; any number gives the same bits")

POPULAR = Model(
    "PopularModel",
    "how popular an item is, the same for every user",
    _popular,
    PopularRecommender,
    (
        Parameter(
            "popularity",
            "n_users",
            "how many users or rows an item has, or the mean or sum of its values",
            ("n_users", "n_interactions", "mean_weight", "sum_weight"),
        ),
        Parameter("period", 0.0, "only rows of so many days before the last one count; 0 for all rows"),
        Parameter("begin_from", "", "only rows from this time on count, such as 1998-03-01; empty for all rows"),
        Parameter("add_cold", False, "items of which no row counts get 0 (a fallback)"),
        Parameter("inverse", False, "the least popular first"),
        _VALUES,
    ),
)
RANDOM = Model("RandomModel", "a random order of the items for each user", _random, RandomRecommender)
EASE = Model(
    "EASEModel",
    "linear item-item model in closed form; RecTools scores with its weights transposed",
    _ease,
    EASERecommender,
    (Parameter("regularization", 500.0, "weight of the squared norm of B (the paper's lambda)"), _VALUES),
    "Steck (2019), WWW, doi:10.1145/3308558.3313710",
)
PURE_SVD = Model(
    "PureSVDModel",
    "truncated singular value decomposition with missing ratings as zero",
    _pure_svd,
    VectorRecommender,
    (
        Parameter("factors", 10, "how many singular vectors are kept"),
        Parameter("tol", 0.0, "tolerance for singular values; 0 for machine precision"),
        Parameter("maxiter", 0, "most iterations of ARPACK; 0 for its own limit"),
        _VALUES,
    ),
    "Cremonesi, Koren & Turrin (2010), RecSys, doi:10.1145/1864708.1864721",
    # Where the rank of the matrix is below factors, ARPACK continues with vectors of its own generator, which cannot
    # be seeded and keeps its state between fits. With a higher rank a seed gives the same bits.
    deterministic=False,
)
ALS = Model(
    "ImplicitALSWrapperModel",
    "weighted factorisation, solved for users and items in turn, by implicit",
    _als,
    VectorRecommender,
    (
        Parameter("factors", 100, "how many latent factors"),
        Parameter("regularization", 0.01, _SQUARES),
        Parameter("alpha", 1.0, "the confidence in a training row is alpha * value, that in any other pair 1"),
        Parameter("iterations", 15, "how often both sides are solved for"),
        Parameter("use_native", True, "the compiled solver, or that in Python"),
        Parameter("use_cg", True, "three steps of conjugate gradients instead of the exact solution"),
        Parameter("fit_features_together", False, "without features: factors are drawn in double precision"),
        _VALUES,
        _DTYPE,
        _THREADS,
    ),
    "Hu, Koren & Volinsky (2008), ICDM, doi:10.1109/ICDM.2008.22",
)
BPR = Model(
    "ImplicitBPRWrapperModel",
    "pairwise ranking with factors and a bias of each item, whatever the ratings, by implicit",
    _bpr,
    VectorRecommender,
    (
        Parameter("factors", 100, "how many latent factors"),
        Parameter("learning_rate", 0.01, "the step of gradient descent"),
        Parameter("regularization", 0.01, _SQUARES),
        Parameter("iterations", 100, "how often as many pairs are drawn as there are training rows"),
        Parameter("verify_negative_samples", True, "an item that the user has is not drawn as the negative one"),
        _DTYPE,
        Parameter("num_threads", 1, "threads, 0 for all cores; with more than 1 a seed does not give the same bits"),
    ),
    "Rendle, Freudenthaler, Gantner & Schmidt-Thieme (2009), UAI, arXiv:1205.2618",
    only_with={"num_threads": 1},
)
SIMILARITIES = {
    "cosine": "CosineRecommender",
    "tfidf": "TFIDFRecommender",
    "bm25": "BM25Recommender",
    "dot": "ItemItemRecommender",
}
ITEM_KNN = Model(
    "ImplicitItemKNNWrapperModel",
    "items like those of the user, by implicit: a sum that is not normalised, and so no rating",
    _item_knn,
    NeighbourRecommender,
    (
        Parameter("model", "CosineRecommender", "the class of implicit inside", tuple(SIMILARITIES.values())),
        Parameter("K", 20, "how many similarities of each item are kept, that with itself among them"),
        Parameter("K1", 1.2, "BM25Recommender: the higher, the later a higher value counts no more"),
        Parameter("B", 0.75, "BM25Recommender: how much less the values of an item with many of them count"),
        _VALUES,
        _THREADS,
    ),
    "Sarwar, Karypis, Konstan & Riedl (2001), WWW, doi:10.1145/371920.372071",
)
MODELS = (POPULAR, RANDOM, EASE, PURE_SVD, ALS, BPR, ITEM_KNN)


def algorithm_of(model: Model) -> Algorithm:
    """The class under its own name."""
    fields = {"deterministic": model.deterministic, "only_with": model.only_with}
    return own_algorithm(model, make_own, model.own, **fields)


def make_own(model: Model, /, **parameters: ParameterValue) -> Recommender:
    return model.make(row_weights(parameters.get("values", "ratings")), parameters)
