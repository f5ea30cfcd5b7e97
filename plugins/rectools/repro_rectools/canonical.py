"""The canonical algorithms that RecTools has, and what their parameters are in its words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from repro.plugin import Algorithm, Parameter, ParameterValue, Recommender
from repro.plugin.api.adapting import canonical_parameters, confidence_weights, renamed
from repro_rectools.models import (
    ALS,
    BPR,
    EASE,
    ITEM_KNN,
    POPULAR,
    PURE_SVD,
    RANDOM,
    SIMILARITIES,
    Model,
    make_own,
)

_REGULARISATION = {"regularisation": "regularization"}
_FACTORS = {"factors": "factors"}
_SQUARES_AND_EPOCHS = {**_FACTORS, "epochs": "iterations", **_REGULARISATION}


def make_renamed(model: Model, names: Mapping[str, str], /, **given: ParameterValue) -> Recommender:
    return make_own(model, **renamed(names, given))


def make_als(*, alpha: float, values: str, **given: ParameterValue) -> Recommender:
    """The confidence of the paper is 1 + alpha * value; implicit's ``alpha`` alone would leave the 1 out."""
    return ALS.make(confidence_weights(values, alpha), {**renamed(_SQUARES_AND_EPOCHS, given), "alpha": 1.0})


def make_item_knn(*, similarity: str, **given: ParameterValue) -> Recommender:
    return make_own(ITEM_KNN, model=SIMILARITIES[similarity], **renamed({"k": "K"}, given))


def _same_but_for_names(name: str, model: Model, names: Mapping[str, str]) -> Algorithm:
    """A canonical algorithm that needs no more than other names."""
    return Algorithm(
        name,
        model.summary,
        partial(make_renamed, model, names),
        parameters=canonical_parameters(model.parameters, names),
        own=model.own,
        mapping=names,
        deterministic=model.deterministic,
        only_with=model.only_with,
        cite=model.cite,
    )


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
    mapping={**_SQUARES_AND_EPOCHS, "alpha": "the weights given, 1 + alpha * value, with implicit's alpha = 1"},
    cite=ALS.cite,
)
CANONICAL_ITEM_KNN = Algorithm(
    "item-knn",
    ITEM_KNN.summary,
    make_item_knn,
    parameters=tuple(
        parameter
        for parameter in canonical_parameters(
            ITEM_KNN.parameters,
            {"k": "K"},
            Parameter(
                "similarity", "cosine", "the class of implicit inside; K1 and B are for bm25", tuple(SIMILARITIES)
            ),
        )
        if parameter.name != "model"
    ),
    own=ITEM_KNN.own,
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
    cite=ITEM_KNN.cite,
)
ALGORITHMS = (
    _same_but_for_names("random", RANDOM, {}),
    _same_but_for_names("popularity", POPULAR, {}),
    CANONICAL_ITEM_KNN,
    IMPLICIT_ALS,
    _same_but_for_names("bpr", BPR, {**_SQUARES_AND_EPOCHS, "learning_rate": "learning_rate"}),
    _same_but_for_names("ease", EASE, _REGULARISATION),
    _same_but_for_names("puresvd", PURE_SVD, _FACTORS),
)
