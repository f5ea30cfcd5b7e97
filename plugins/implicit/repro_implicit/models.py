"""implicit's classes as data, each an algorithm under its own name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from repro.plugin import Algorithm, Parameter, ParameterValue, Recommender
from repro.plugin.api.adapting import Weigh, own_algorithm, require_at_least, row_weights
from repro_implicit.factors import FactorModel
from repro_implicit.neighbours import NeighbourModel


@dataclass(frozen=True)
class Model:
    """A class of implicit: its path, the recommender that runs it, and its parameters with implicit's defaults.

    The default of ``num_threads`` is 1 here and all cores in implicit, because BPR is not deterministic with more
    (``only_with``). The ``random_state`` is the seed of the study.
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

    def make(self, weigh: Weigh, parameters: Mapping[str, ParameterValue]) -> Recommender:
        """A recommender with these parameters of the class; ``values`` may be among them and is ignored."""
        require_at_least(_LOWEST, parameters)
        module, _, name = self.own.rpartition(".")
        own = {name: value for name, value in parameters.items() if name != "values"}
        return self.recommender(f"{module}:{name}", own, weigh)


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


def _neighbours(name: str, similarity: str, *parameters: Parameter) -> Model:
    return Model(
        f"implicit.nearest_neighbours.{name}",
        f"items like those of the user, by {similarity}",
        NeighbourModel,
        (_K, *parameters, _VALUES, _THREADS),
        "Sarwar, Karypis, Konstan & Riedl (2001), WWW, doi:10.1145/371920.372071",
    )


COSINE = _neighbours("CosineRecommender", "the cosine")
TFIDF = _neighbours("TFIDFRecommender", "the cosine of TF-IDF weights")
BM25 = _neighbours(
    "BM25Recommender",
    "the inner product of BM25 weights",
    Parameter("K1", 1.2, "BM25: the higher, the later a higher value counts no more"),
    Parameter("B", 0.75, "BM25: how much less the values of an item with many of them count"),
)
DOT = _neighbours("ItemItemRecommender", "the inner product of values")
MODELS = (ALS, BPR, LMF, COSINE, TFIDF, BM25, DOT)


def algorithm_of(model: Model) -> Algorithm:
    """The class under its own name."""
    return own_algorithm(model, _make, model.own, only_with=model.only_with)


def _make(model: Model, **parameters: ParameterValue) -> Recommender:
    return model.make(row_weights(parameters.get("values", "ratings")), parameters)
