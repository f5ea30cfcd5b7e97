"""The canonical algorithms that RecTools has, and its names for their parameters."""

from __future__ import annotations

from dataclasses import replace

from repro.plugin import Parameter, ParameterValue, Recommender
from repro.plugin.api.adapting import as_canonical, confidence_weights, renamed
from repro_rectools.models import (
    ALS,
    BPR,
    EASE,
    ITEM_KNN,
    POPULAR,
    PURE_SVD,
    RANDOM,
    SIMILARITIES,
    algorithm_of,
    make_own,
)

_REGULARISATION = {"regularisation": "regularization"}
_FACTORS = {"factors": "factors", "epochs": "iterations", **_REGULARISATION}


def make_als(*, alpha: float, values: str, **parameters: ParameterValue) -> Recommender:
    """The confidence of the paper is 1 + alpha * value; implicit's ``alpha`` alone would leave the 1 out."""
    return ALS.make(confidence_weights(values, alpha), {**renamed(_FACTORS, parameters), "alpha": 1.0})


def make_item_knn(*, similarity: str, **parameters: ParameterValue) -> Recommender:
    return make_own(ITEM_KNN, model=SIMILARITIES[similarity], **renamed({"k": "K"}, parameters))


_KNN_PARAMETERS = tuple(parameter for parameter in ITEM_KNN.parameters if parameter.name != "model")
ALGORITHMS = (
    as_canonical("random", algorithm_of(RANDOM), {}),
    as_canonical("popularity", algorithm_of(POPULAR), {}),
    as_canonical(
        "item-knn",
        replace(algorithm_of(ITEM_KNN), parameters=_KNN_PARAMETERS),
        {"k": "K"},
        Parameter("similarity", "cosine", "the class of implicit inside; K1 and B are for bm25", tuple(SIMILARITIES)),
        make=make_item_knn,
        mapping={
            "k": "K, of all items similar to one that the user has, itself among them",
            "similarity": "model: " + ", ".join(f"{name}: {own}" for name, own in SIMILARITIES.items()),
        },
        unmapped={
            "center": "nothing is subtracted",
            "shrinkage": "similarities are not shrunk",
            "min_overlap": "one common user is enough",
            "min_neighbours": "one neighbour is enough",
        },
    ),
    as_canonical(
        "implicit-als",
        algorithm_of(ALS),
        {**_FACTORS, "alpha": "alpha"},
        Parameter("alpha", 1.0, "the confidence in a training row is 1 + alpha * value, that in any other pair 1"),
        make=make_als,
        mapping={**_FACTORS, "alpha": "the weights given, 1 + alpha * value, with implicit's alpha = 1"},
    ),
    as_canonical("bpr", algorithm_of(BPR), {**_FACTORS, "learning_rate": "learning_rate"}),
    as_canonical("ease", algorithm_of(EASE), _REGULARISATION),
    as_canonical("puresvd", algorithm_of(PURE_SVD), {"factors": "factors"}),
)
