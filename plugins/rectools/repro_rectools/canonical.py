"""The canonical algorithms that RecTools has, and its names for their parameters."""

from __future__ import annotations

from dataclasses import replace

from repro.plugin import Parameter, ParameterValue, Recommender
from repro.plugin.api.adapting import as_canonical, confidence_weights, renamed
from repro_rectools.models import MODELS, SIMILARITIES, algorithm_of, make_own

_OWN = {name: algorithm_of(model) for name, model in MODELS.items()}
_ITEM_KNN = MODELS["ImplicitItemKNNWrapperModel"]
_REGULARISATION = {"regularisation": "regularization"}
_FACTORS = {"factors": "factors", "epochs": "iterations", **_REGULARISATION}


def make_als(*, alpha: float, values: str, **parameters: ParameterValue) -> Recommender:
    """The confidence of the paper is 1 + alpha * value; implicit's ``alpha`` alone would leave the 1 out."""
    return MODELS["ImplicitALSWrapperModel"].make(
        confidence_weights(values, alpha), {**renamed(_FACTORS, parameters), "alpha": 1.0}
    )


def make_item_knn(*, similarity: str, **parameters: ParameterValue) -> Recommender:
    return make_own(_ITEM_KNN, model=SIMILARITIES[similarity], **renamed({"k": "K"}, parameters))


_KNN_PARAMETERS = tuple(parameter for parameter in _ITEM_KNN.parameters if parameter.name != "model")
ALGORITHMS = (
    as_canonical("random", _OWN["RandomModel"], {}),
    as_canonical("popularity", _OWN["PopularModel"], {}),
    as_canonical(
        "item-knn",
        replace(_OWN["ImplicitItemKNNWrapperModel"], parameters=_KNN_PARAMETERS),
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
        _OWN["ImplicitALSWrapperModel"],
        {**_FACTORS, "alpha": "alpha"},
        Parameter("alpha", 1.0, "the confidence in a training row is 1 + alpha * value, that in any other pair 1"),
        make=make_als,
        mapping={**_FACTORS, "alpha": "the weights given, 1 + alpha * value, with implicit's alpha = 1"},
    ),
    as_canonical("bpr", _OWN["ImplicitBPRWrapperModel"], {**_FACTORS, "learning_rate": "learning_rate"}),
    as_canonical("ease", _OWN["EASEModel"], _REGULARISATION),
    as_canonical("puresvd", _OWN["PureSVDModel"], {"factors": "factors"}),
)
