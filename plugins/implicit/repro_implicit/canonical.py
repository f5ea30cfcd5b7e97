"""The canonical algorithms that implicit has, and its names for their parameters."""

from __future__ import annotations

from repro.plugin import Parameter, ParameterValue, Recommender
from repro.plugin.api.adapting import as_canonical, confidence_weights, renamed, row_weights
from repro_implicit.models import ALS, BM25, BPR, COSINE, DOT, LMF, TFIDF, algorithm_of

_FACTORS = {"factors": "factors", "epochs": "iterations", "regularisation": "regularization"}
_DESCENT = {**_FACTORS, "learning_rate": "learning_rate"}
_SIMILARITIES = {"cosine": COSINE, "tfidf": TFIDF, "bm25": BM25, "dot": DOT}


def make_als(*, alpha: float, values: str, **parameters: ParameterValue) -> Recommender:
    """The confidence of the paper is 1 + alpha * value; implicit's ``alpha`` alone would leave the 1 out."""
    return ALS.make(confidence_weights(values, alpha), {**renamed(_FACTORS, parameters), "alpha": 1.0})


def make_item_knn(*, similarity: str, values: str, **parameters: ParameterValue) -> Recommender:
    model = _SIMILARITIES[similarity]
    own = renamed({"k": "K"}, parameters)
    names = {parameter.name for parameter in model.parameters}
    return model.make(row_weights(values), {name: value for name, value in own.items() if name in names})


ALGORITHMS = (
    as_canonical(
        "implicit-als",
        algorithm_of(ALS),
        {**_FACTORS, "alpha": "alpha"},
        Parameter("alpha", 1.0, "the confidence in a training row is 1 + alpha * value, that in any other pair 1"),
        make=make_als,
        mapping={**_FACTORS, "alpha": "the values given, 1 + alpha * value, with implicit's alpha = 1"},
    ),
    as_canonical("bpr", algorithm_of(BPR), _DESCENT),
    as_canonical("logistic-mf", algorithm_of(LMF), _DESCENT),
    as_canonical(
        "item-knn",
        algorithm_of(BM25),
        {"k": "K"},
        Parameter("similarity", "cosine", "the class of implicit; K1 and B are for bm25", tuple(_SIMILARITIES)),
        make=make_item_knn,
        summary="items like those of the user: a sum that is not normalised, and so no rating",
        own=COSINE.own,
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
