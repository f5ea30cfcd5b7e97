"""The canonical algorithms that LensKit has, and its names for their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from repro.plugin import Algorithm, Parameter, ParameterValue, Recommender
from repro.plugin.api.adapting import as_canonical
from repro_lenskit.not_personal import RandomOrder
from repro_lenskit.scorers import RANDOM, SCORERS, Scorer, algorithm_of


def _canonical(
    name: str,
    scorer: str,
    summary: str,
    names: Mapping[str, str],
    kept: tuple[str, ...] = (),
    unmapped: Mapping[str, str] | None = None,
    **fields: Any,
) -> Algorithm:
    """A scorer of LensKit as a canonical algorithm, with the ``kept`` ones of its further parameters.

    In ``names``, ``damping.user`` is the part ``user`` of ``damping``.
    """
    own = algorithm_of(SCORERS[scorer])
    parameters = tuple(part for parameter in own.parameters for part in _parts(parameter))
    own = replace(own, parameters=parameters, make=partial(_make, SCORERS[scorer]))
    return as_canonical(name, own, names, kept=kept, summary=summary, unmapped=unmapped or {}, **fields)


def _parts(parameter: Parameter) -> tuple[Parameter, ...]:
    """A parameter, or its parts for users and for items."""
    if parameter.name != "damping":
        return (parameter,)
    meaning = parameter.meaning
    return tuple(
        replace(parameter, name=f"damping.{side}", meaning=meaning.replace("user and item", side))
        for side in ("user", "item")
    )


def _make(scorer: Scorer, /, **values: ParameterValue) -> Recommender:
    own: dict[str, Any] = {}
    for path, value in values.items():
        name, dot, part = path.partition(".")
        if dot:
            own.setdefault(name, {})[part] = value
        else:
            own[name] = value
    return scorer.make(own)


_DAMPINGS = {"user_damping": "damping.user", "item_damping": "damping.item"}
_FACTORS = {"factors": "embedding_size", "epochs": "epochs", "regularisation": "regularization"}
_DESCENT = _FACTORS | {"learning_rate": "learning_rate"}
_SOLVED = {"learning_rate": "there are no steps: each side is solved for"}
_NEIGHBOURS = {"k": "max_nbrs", "min_neighbours": "min_nbrs"}
_NOT_WEIGHTED = {
    "shrinkage": "similarities are not shrunk",
    "min_overlap": "one common rating is enough; min_sim is the lowest similarity",
}

CANONICAL = (
    Algorithm("random", "items in random order, another for each user", RandomOrder, own=RANDOM),
    _canonical("popularity", "PopScorer", "popularity of the item, by default as a quantile", {}, ("score",)),
    _canonical("bias", "BiasScorer", "overall mean plus damped item and user bias", _DAMPINGS, ("entities",)),
    _canonical(
        "user-knn",
        "UserKNNScorer",
        "mean-centred ratings of the most similar users; predicts ratings with explicit feedback",
        _NEIGHBOURS,
        ("min_sim", "feedback"),
        {
            "similarity": "cosine of ratings less the user's mean (explicit) or of who has what (implicit)",
            "center": "the user's mean with explicit feedback, nothing with implicit",
            **_NOT_WEIGHTED,
        },
    ),
    _canonical(
        "item-knn",
        "ItemKNNScorer",
        "the user's mean-centred ratings of the most similar items; predicts ratings with explicit feedback",
        _NEIGHBOURS,
        ("min_sim", "save_nbrs", "feedback"),
        {
            "similarity": "cosine of ratings less the item's mean (explicit) or of who has what (implicit)",
            "center": "the item's mean with explicit feedback, nothing with implicit",
            **_NOT_WEIGHTED,
        },
    ),
    _canonical(
        "biased-mf",
        "BiasedMFScorer",
        "matrix factorisation of ratings minus biases, by alternating least squares; the regularisation of a user or "
        "item is multiplied by the number of ratings",
        _FACTORS | _DAMPINGS,
        ("user_embeddings",),
        _SOLVED,
    ),
    _canonical(
        "implicit-als",
        "ImplicitMFScorer",
        "weighted matrix factorisation of implicit feedback, by alternating least squares",
        _FACTORS | {"alpha": "weight"},
        ("use_ratings", "user_embeddings"),
    ),
    _canonical(
        "bpr",
        "FlexMFImplicitScorer",
        "matrix factorisation with the pairwise loss, with torch and without biases",
        _DESCENT,
        ("batch_size", "reg_method", "negative_strategy", "negative_count"),
        fixed={"preset": "bpr"},
        cite="Rendle et al. (2009), UAI",
    ),
    _canonical(
        "logistic-mf",
        "FlexMFImplicitScorer",
        "matrix factorisation with biases and the logistic loss, with torch; negative items are sampled",
        _DESCENT,
        ("batch_size", "reg_method", "negative_strategy", "negative_count", "positive_weight"),
        fixed={"loss": "logistic"},
        cite="Johnson (2014), NIPS workshop",
    ),
    _canonical(
        "nmf",
        "NMFScorer",
        "non-negative matrix factorisation of binary interactions (ratings are ignored), by coordinate descent",
        {"factors": "embedding_size", "epochs": "max_iter", "regularisation": "alpha_W"},
        ("alpha_H", "l1_ratio", "beta_loss"),
        {"learning_rate": "coordinate descent has no step"},
    ),
    _canonical(
        "ease",
        "EASEScorer",
        "linear item-item model without a diagonal, in single precision",
        {"regularisation": "regularization"},
    ),
    _canonical(
        "slim",
        "SLIMScorer",
        "sparse linear item-item model, by coordinate descent",
        {"l1": "l1_reg", "l2": "l2_reg"},
        ("max_iters", "max_nbrs"),
    ),
)
