"""The canonical algorithms that implicit has, and what their parameters are in its words."""

from __future__ import annotations

from functools import partial

from repro.plugin import Algorithm, Parameter, ParameterValue, Recommender
from repro.plugin.api.adapting import canonical_parameters, confidence_weights, renamed, row_weights
from repro_implicit.models import ALS, BM25, BPR, COSINE, DOT, LMF, TFIDF, Model

_SQUARES_AND_EPOCHS = {"factors": "factors", "epochs": "iterations", "regularisation": "regularization"}
_DESCENT = {**_SQUARES_AND_EPOCHS, "learning_rate": "learning_rate"}
_SIMILARITIES = {"cosine": COSINE, "tfidf": TFIDF, "bm25": BM25, "dot": DOT}


def make_als(*, alpha: float, values: str, **given: ParameterValue) -> Recommender:
    """The confidence of the paper is 1 + alpha * value; implicit's ``alpha`` alone would leave the 1 out."""
    return ALS.make(confidence_weights(values, alpha), {**renamed(_SQUARES_AND_EPOCHS, given), "alpha": 1.0})


def make_descent(model: Model, *, values: str = "ratings", **given: ParameterValue) -> Recommender:
    return model.make(row_weights(values), renamed(_DESCENT, given))


def make_item_knn(*, similarity: str, values: str, **given: ParameterValue) -> Recommender:
    model = _SIMILARITIES[similarity]
    taken = {parameter.name for parameter in model.parameters}
    own = renamed({"k": "K"}, given)
    return model.make(row_weights(values), {name: value for name, value in own.items() if name in taken})


IMPLICIT_ALS = Algorithm(
    "implicit-als",
    ALS.summary,
    make_als,
    parameters=canonical_parameters(
        ALS.parameters,
        {**_SQUARES_AND_EPOCHS, "alpha": "alpha"},
        Parameter("alpha", 1.0, "the confidence in a training row is 1 + alpha * value, that in any other pair 1"),
    ),
    own=ALS.own,
    mapping={**_SQUARES_AND_EPOCHS, "alpha": "the values given, 1 + alpha * value, with implicit's alpha = 1"},
    cite=ALS.cite,
)
DESCENTS = tuple(
    Algorithm(
        name,
        model.summary,
        partial(make_descent, model),
        parameters=canonical_parameters(model.parameters, _DESCENT),
        own=model.own,
        mapping=_DESCENT,
        only_with=model.only_with,
        cite=model.cite,
    )
    for name, model in (("bpr", BPR), ("logistic-mf", LMF))
)
ITEM_KNN = Algorithm(
    "item-knn",
    "items like those of the user: a sum that is not normalised, and so no rating",
    make_item_knn,
    parameters=canonical_parameters(
        BM25.parameters,
        {"k": "K"},
        Parameter("similarity", "cosine", "the class of implicit; K1 and B are for bm25", tuple(_SIMILARITIES)),
    ),
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
    cite=COSINE.cite,
)
ALGORITHMS = (IMPLICIT_ALS, *DESCENTS, ITEM_KNN)
