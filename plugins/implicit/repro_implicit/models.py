"""implicit's classes as data, each an algorithm under its own name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from repro.plugin import Algorithm, Parameter, ParameterValue, Recommender
from repro.plugin.api.adapting import Weigh, require_at_least, row_weights
from repro_implicit.factors import FactorModel
from repro_implicit.neighbours import NeighbourModel


@dataclass(frozen=True)
class Model:
    """A class of implicit: where it is, the recommender that drives it, and what it takes, with its defaults.

    ``num_threads`` is the exception: 1 here and all cores in implicit, because one of them is not deterministic
    with more (``only_with``). The ``random_state`` is the seed of the study.
    """

    own: str
    summary: str
    recommender: Callable[[str, Mapping[str, ParameterValue], Weigh], Recommender]
    parameters: tuple[Parameter, ...]
    cite: str
    only_with: Mapping[str, ParameterValue] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.own.rpartition(".")[2]

    def make(self, weigh: Weigh, given: Mapping[str, ParameterValue]) -> Recommender:
        """A recommender with these parameters of the class, ``values`` among them if it has it."""
        require_at_least(_LOWEST, given)
        module, _, name = self.own.rpartition(".")
        return self.recommender(f"{module}:{name}", {k: v for k, v in given.items() if k != "values"}, weigh)


_LOWEST = {
    "factors": 1,
    "iterations": 1,
    "regularization": 0,
    "learning_rate": 0,
    "alpha": 0,
    "neg_prop": 1,
    "num_threads": 0,
    "K": 1,
    "K1": 0,
    "B": 0,
}
_FACTORS = Parameter("factors", 100, "how many latent factors")
_SQUARES = "the weight of squared factors"
_VALUES = Parameter(
    "values", "ratings", "what implicit is given for each training row: its rating, or 1", ("ratings", "binary")
)
_DTYPE = Parameter("dtype", "float32", "the precision of the factors", ("float32", "float64"))
_THREADS = Parameter("num_threads", 1, "threads, 0 for all cores; any number gives the same bits")
_K = Parameter("K", 20, "how many similarities of each item are kept, that with itself among them")

ALS = Model(
    "implicit.cpu.als.AlternatingLeastSquares",
    "weighted factorisation, solved for users and items in turn",
    FactorModel,
    (
        _FACTORS,
        Parameter("regularization", 0.01, _SQUARES),
        Parameter("alpha", 1.0, "the confidence in a training row is alpha * value, that in any other pair 1"),
        Parameter("iterations", 15, "how often both sides are solved for"),
        Parameter("use_native", True, "the compiled solver, or that in Python"),
        Parameter("use_cg", True, "three steps of conjugate gradients instead of the exact solution"),
        _VALUES,
        _DTYPE,
        _THREADS,
    ),
    "Hu, Koren & Volinsky (2008), ICDM, doi:10.1109/ICDM.2008.22; Takács, Pilászy & Tikk (2011), RecSys, "
    "doi:10.1145/2043932.2043987",
)
BPR = Model(
    "implicit.cpu.bpr.BayesianPersonalizedRanking",
    "pairwise ranking with factors and a bias of each item, whatever the ratings",
    FactorModel,
    (
        _FACTORS,
        Parameter("learning_rate", 0.01, "the step of gradient descent"),
        Parameter("regularization", 0.01, _SQUARES),
        Parameter("iterations", 100, "how often as many pairs are drawn as there are training rows"),
        Parameter("verify_negative_samples", True, "an item that the user has is not drawn as the negative one"),
        _DTYPE,
        Parameter("num_threads", 1, "threads, 0 for all cores; with more than 1 a seed does not give the same bits"),
    ),
    "Rendle, Freudenthaler, Gantner & Schmidt-Thieme (2009), UAI, arXiv:1205.2618",
    {"num_threads": 1},
)
LMF = Model(
    "implicit.cpu.lmf.LogisticMatrixFactorization",
    "logistic factorisation with biases",
    FactorModel,
    (
        Parameter("factors", 30, "how many latent factors, biases not counted"),
        Parameter("learning_rate", 1.0, "the step of gradient descent, before AdaGrad scales it"),
        Parameter("regularization", 0.6, _SQUARES),
        Parameter("iterations", 30, "how often both sides are gone through"),
        Parameter("neg_prop", 30, "how many negative items are drawn for each training row"),
        _VALUES,
        _DTYPE,
        Parameter("num_threads", 1, "threads, 0 for all cores; another number gives other scores"),
    ),
    "Johnson (2014), NIPS workshop on distributed machine learning and matrix computations",
)
_SARWAR = "Sarwar, Karypis, Konstan & Riedl (2001), WWW, doi:10.1145/371920.372071"
COSINE = Model(
    "implicit.nearest_neighbours.CosineRecommender",
    "items like those of the user, by the cosine",
    NeighbourModel,
    (_K, _VALUES, _THREADS),
    _SARWAR,
)
TFIDF = Model(
    "implicit.nearest_neighbours.TFIDFRecommender",
    "items like those of the user, by the cosine of TF-IDF weights",
    NeighbourModel,
    (_K, _VALUES, _THREADS),
    _SARWAR,
)
BM25 = Model(
    "implicit.nearest_neighbours.BM25Recommender",
    "items like those of the user, by the inner product of BM25 weights",
    NeighbourModel,
    (
        _K,
        Parameter("K1", 1.2, "BM25: the higher, the later a higher value counts no more"),
        Parameter("B", 0.75, "BM25: how much less the values of an item with many of them count"),
        _VALUES,
        _THREADS,
    ),
    _SARWAR,
)
DOT = Model(
    "implicit.nearest_neighbours.ItemItemRecommender",
    "items like those of the user, by the inner product of values",
    NeighbourModel,
    (_K, _VALUES, _THREADS),
    _SARWAR,
)
MODELS = (ALS, BPR, LMF, COSINE, TFIDF, BM25, DOT)


def own_algorithm(model: Model) -> Algorithm:
    """The class under its own name, with its own parameters."""
    return Algorithm(
        model.name,
        model.summary,
        partial(_make, model),
        parameters=model.parameters,
        own=model.own,
        only_with=model.only_with,
        cite=model.cite,
    )


def _make(model: Model, **given: ParameterValue) -> Recommender:
    return model.make(row_weights(given.get("values", "ratings")), given)
