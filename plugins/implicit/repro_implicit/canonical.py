"""The canonical algorithms that implicit has, and what their parameters are in its words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from repro.data.interactions import FloatArray
from repro.plugin import Algorithm, Parameter, ParameterValue, Recommender
from repro_implicit.models import ALS, BM25, BPR, COSINE, DOT, LMF, TFIDF, Model, weights

_SQUARES_AND_EPOCHS = {"factors": "factors", "epochs": "iterations", "regularisation": "regularization"}
_DESCENT = {**_SQUARES_AND_EPOCHS, "learning_rate": "learning_rate"}
_SIMILARITIES = {"cosine": COSINE, "tfidf": TFIDF, "bm25": BM25, "dot": DOT}


def make_als(*, alpha: float, values: str, **given: ParameterValue) -> Recommender:
    """The confidence of the paper is 1 + alpha * value; implicit's ``alpha`` alone would leave the 1 out."""
    weigh = weights(values)

    def confidence(ratings: FloatArray) -> FloatArray:
        return 1.0 + alpha * weigh(ratings)

    return ALS.make(confidence, {**_in_own_words(_SQUARES_AND_EPOCHS, given), "alpha": 1.0})


def make_descent(model: Model, *, values: str = "ratings", **given: ParameterValue) -> Recommender:
    return model.make(weights(values), _in_own_words(_DESCENT, given))


def make_item_knn(*, similarity: str, values: str, **given: ParameterValue) -> Recommender:
    model = _SIMILARITIES[similarity]
    taken = {parameter.name for parameter in model.parameters}
    own = _in_own_words({"k": "K"}, given)
    return model.make(weights(values), {name: value for name, value in own.items() if name in taken})


def _in_own_words(names: Mapping[str, str], given: Mapping[str, ParameterValue]) -> dict[str, ParameterValue]:
    return {names.get(name, name): value for name, value in given.items()}


def _parameters(model: Model, names: Mapping[str, str], *others: Parameter) -> tuple[Parameter, ...]:
    """Those of the class, under canonical names and first where they have one, replaced by ``others`` of that name."""
    own = {parameter.name: parameter for parameter in model.parameters}
    canonical = {name: replace(own.pop(old), name=name) for name, old in names.items()}
    return tuple((canonical | {other.name: other for other in others} | own).values())


IMPLICIT_ALS = Algorithm(
    "implicit-als",
    ALS.summary,
    make_als,
    parameters=_parameters(
        ALS,
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
        parameters=_parameters(model, _DESCENT),
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
    parameters=_parameters(
        BM25,
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
