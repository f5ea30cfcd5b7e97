"""The canonical algorithms that implicit has, and its names for their parameters."""

from __future__ import annotations

from repro.plugin import Parameter, ParameterValue, Recommender
from repro.plugin.api.adapting import as_canonical, confidence_weights, renamed, row_weights
from repro_implicit.models import MODELS, algorithm_of

_FACTORS = {"factors": "factors", "epochs": "iterations", "regularisation": "regularization"}
_DESCENT = {**_FACTORS, "learning_rate": "learning_rate"}
_ALS = MODELS["AlternatingLeastSquares"]
_SIMILARITIES = {
    "cosine": MODELS["CosineRecommender"],
    "tfidf": MODELS["TFIDFRecommender"],
    "bm25": MODELS["BM25Recommender"],
    "dot": MODELS["ItemItemRecommender"],
}


def make_als(*, alpha: float, values: str, **parameters: ParameterValue) -> Recommender:
    """The confidence of the paper is 1 + alpha * value; implicit's ``alpha`` alone would leave the 1 out."""
    return _ALS.make(confidence_weights(values, alpha), {**renamed(_FACTORS, parameters), "alpha": 1.0})


def make_item_knn(*, similarity: str, values: str, **parameters: ParameterValue) -> Recommender:
    model = _SIMILARITIES[similarity]
    own = renamed({"k": "K"}, parameters)
    names = {parameter.name for parameter in model.parameters}
    return model.make(row_weights(values), {name: value for name, value in own.items() if name in names})


ALGORITHMS = (
    as_canonical(
        "implicit-als",
        algorithm_of(_ALS),
        {**_FACTORS, "alpha": "alpha"},
        Parameter("alpha", 1.0, "the confidence in a training row is 1 + alpha * value, that in any other pair 1"),
        make=make_als,
        mapping={**_FACTORS, "alpha": "the values given, 1 + alpha * value, with implicit's alpha = 1"},
    ),
    as_canonical("bpr", algorithm_of(MODELS["BayesianPersonalizedRanking"]), _DESCENT),
    as_canonical("logistic-mf", algorithm_of(MODELS["LogisticMatrixFactorization"]), _DESCENT),
    as_canonical(
        "item-knn",
        algorithm_of(_SIMILARITIES["bm25"]),
        {"k": "K"},
        Parameter("similarity", "cosine", "the class of implicit; K1 and B are for bm25", tuple(_SIMILARITIES)),
        make=make_item_knn,
        summary="items like those of the user: a sum that is not normalised, and so no rating",
        own=_SIMILARITIES["cosine"].own,
        mapping={
            "k": "K, of all items similar to one that the user has, itself among them",
            "similarity": ", ".join(f"{name}: {model.name}" for name, model in _SIMILARITIES.items()),
        },
        unmapped={
            "center": "nothing is subtracted",
            "shrinkage": "similarities are not shrunk",
            "min_overlap": "one common user is enough",
            "min_neighbours": "one neighbour is enough",
        },
    ),
)
