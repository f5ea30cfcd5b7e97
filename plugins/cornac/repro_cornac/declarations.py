"""Cornac's models as algorithms, under canonical names and under their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from repro.plugin import Algorithm, Parameter, ParameterValue
from repro_cornac.models import MODELS, Model, ModelParameter
from repro_cornac.recommender import CornacRecommender, recommender_of


@dataclass(frozen=True)
class Canonical:
    """A model of Cornac under a canonical name, or its own.

    mapping   Cornac's names of canonical parameters
    kept      parameters that keep Cornac's names; the others always have Cornac's defaults
    unmapped  canonical parameters that Cornac does not have, and what it does instead
    """

    name: str
    model: str
    mapping: Mapping[str, str] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    unmapped: Mapping[str, str] = field(default_factory=dict)


_DESCENT = {
    "factors": "k",
    "epochs": "max_iter",
    "learning_rate": "learning_rate",
    "regularisation": "lambda_reg",
}
_NEIGHBOURS = {"k": "k", "similarity": "similarity"}
_NEIGHBOURS_KEPT = ("mean_centered", "weighting", "amplify")
_NEIGHBOURS_UNMAPPED = {
    "center": "always the user's mean (nothing where all training ratings are the same)",
    "shrinkage": "similarities are not shrunk",
    "min_overlap": "one common rating is enough",
    "min_neighbours": "one neighbour is enough; without any, the user's mean as a fallback",
}

CANONICAL = (
    Canonical("popularity", "MostPop"),
    Canonical(
        "bias",
        "BaselineOnly",
        kept=("max_iter", "learning_rate", "lambda_reg", "early_stop"),
        unmapped={
            "user_damping": "biases are learnt by gradient descent, held back by lambda_reg",
            "item_damping": "biases are learnt by gradient descent, held back by lambda_reg",
        },
    ),
    Canonical("user-knn", "UserKNN", _NEIGHBOURS, _NEIGHBOURS_KEPT, _NEIGHBOURS_UNMAPPED),
    Canonical("item-knn", "ItemKNN", _NEIGHBOURS, _NEIGHBOURS_KEPT, _NEIGHBOURS_UNMAPPED),
    Canonical("biased-mf", "MF", _DESCENT, ("early_stop",)),
    Canonical("nmf", "NMF", _DESCENT, ("lambda_u", "lambda_v", "lambda_bu", "lambda_bi", "use_bias")),
    Canonical("bpr", "BPR", _DESCENT, ("use_bias",)),
    Canonical("ease", "EASE", {"regularisation": "lamb"}, ("posB",)),
    Canonical(
        "multi-vae",
        "VAECF",
        {
            "latent": "k",
            "hidden": "autoencoder_structure",
            "anneal": "beta",
            "epochs": "n_epochs",
            "batch": "batch_size",
            "learning_rate": "learning_rate",
        },
        ("act_fn", "likelihood"),
        {"dropout": "nothing of the input is left out"},
    ),
)


def algorithms() -> tuple[Algorithm, ...]:
    """The canonical algorithms, then Cornac's own."""
    own = (Canonical(model.name, model.name, kept=_names(model)) for model in MODELS.values())
    return tuple(_algorithm(canonical) for canonical in (*CANONICAL, *own))


def _names(model: Model) -> tuple[str, ...]:
    return tuple(own.name for own in model.parameters)


def _algorithm(canonical: Canonical) -> Algorithm:
    model = MODELS[canonical.model]
    owns = {own.name: own for own in model.parameters}
    names = dict(canonical.mapping) | {name: name for name in canonical.kept}
    return Algorithm(
        canonical.name,
        model.summary,
        partial(_make, model, names),
        parameters=tuple(_parameter(name, owns[own]) for name, own in names.items()),
        own=f"cornac.models.{model.name}",
        mapping=canonical.mapping,
        unmapped=canonical.unmapped,
        predicts=model.predicts,
        cite=model.cite,
    )


def _parameter(name: str, own: ModelParameter) -> Parameter:
    # The canonical hidden layer is one layer: a number instead of a list.
    default = int(str(own.default)) if name == "hidden" else own.default
    return Parameter(name, default, own.meaning, own.options)


def _make(model: Model, names: Mapping[str, str], **parameters: ParameterValue) -> CornacRecommender:
    """A recommender from parameters whose names in Cornac are in ``names``; the others have Cornac's defaults."""
    values = {own.name: own.default for own in model.parameters}
    values |= {names[name]: value for name, value in parameters.items()}
    return recommender_of(model, values)
