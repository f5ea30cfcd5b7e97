"""The canonical algorithms that RecBole has, and its names for their parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from repro.plugin import Parameter, ParameterValue
from repro.plugin.api.adapting import renamed
from repro_recbole.models import BATCH, MODELS, SAMPLED

Values = Mapping[str, ParameterValue]


@dataclass(frozen=True)
class Canonical:
    """A canonical algorithm as a model of RecBole.

    parameters  canonical ones, and other ones of RecBole
    mapping     RecBole's names of canonical parameters
    unmapped    canonical parameters that RecBole cannot express, and what it does instead
    to_own      turns values of these parameters into those of the model's
    """

    name: str
    model: str
    summary: str
    parameters: tuple[Parameter, ...] = ()
    mapping: Mapping[str, str] = field(default_factory=dict)
    unmapped: Mapping[str, str] = field(default_factory=dict)
    to_own: Callable[[Values], Values] = dict


def _renamed(names: Mapping[str, str], **fixed: ParameterValue) -> Callable[[Values], Values]:
    """Values under RecBole's names, and fixed ones."""
    return lambda values: renamed(names, values) | fixed


def _slim(values: Values) -> Values:
    """Both weights as their sum and the share of l1; without a penalty, the share has no effect."""
    l1, l2 = float(values["l1"]), float(values["l2"])
    own = {name: value for name, value in values.items() if name not in ("l1", "l2")}
    return own | {"alpha": l1 + l2, "l1_ratio": l1 / (l1 + l2) if l1 + l2 else 0.0}


def _multi_vae(values: Values) -> Values:
    """RecBole's latent dimension counts means and variances together; hidden layers are a list."""
    names = {"dropout": "dropout_prob", "anneal": "anneal_cap", "batch": "train_batch_size"}
    own = dict(_renamed(names)(values))
    return own | {
        "latent_dimension": 2 * int(own.pop("latent")),
        "mlp_hidden_size": f"[{int(own.pop('hidden'))}]",
    }


def _own(model: str, *names: str) -> tuple[Parameter, ...]:
    """Some parameters of a model, unchanged."""
    return tuple(parameter for parameter in MODELS[model].parameters if parameter.name in names)


_DESCENT = (
    Parameter("epochs", 300, "how often the training rows are gone through; there is no early stopping"),
    Parameter("learning_rate", 0.001, "the step of gradient descent"),
)
_BPR_NAMES = {"factors": "embedding_size", "regularisation": "weight_decay"}
_KNN_UNMAPPED = {
    "similarity": "always the cosine, of ones and not of ratings",
    "center": "nothing is subtracted: every row counts as 1",
    "shrinkage": "none by common ratings; shrink is added to the denominator of the cosine",
    "min_overlap": "always 1",
    "min_neighbours": "always 0: without neighbours the score is 0",
}


def _knn(name: str, compared: str, summary: str) -> Canonical:
    return Canonical(
        name,
        "ItemKNN",
        summary,
        (
            Parameter("k", 100, f"how many neighbours each {compared} has, of all {compared}s"),
            *_own("ItemKNN", "shrink"),
        ),
        {"k": "k"},
        _KNN_UNMAPPED,
        _renamed({}, knn_method=compared),
    )


CANONICAL = (
    Canonical("random", "Random", MODELS["Random"].summary),
    Canonical("popularity", "Pop", MODELS["Pop"].summary, MODELS["Pop"].parameters),
    _knn("user-knn", "user", "sum of the cosines with the nearest users that have the item"),
    _knn("item-knn", "item", "sum of the cosines between the item and the user's items, of the nearest of all"),
    Canonical(
        "bpr",
        "BPR",
        "pairwise ranking with factors, without item biases, by Adam in batches",
        (
            Parameter("factors", 64, "how many latent factors"),
            *_DESCENT,
            Parameter("regularisation", 0.0, "twice the weight of all squared parameters, in the optimiser"),
            BATCH,
            *(p for p in SAMPLED if p.name in ("learner", "sample_num", "distribution")),
        ),
        {"factors": "embedding_size", "epochs": "epochs", "learning_rate": "learning_rate"}
        | {"regularisation": "weight_decay"},
        to_own=_renamed(_BPR_NAMES),
    ),
    Canonical(
        "ease",
        "EASE",
        MODELS["EASE"].summary,
        (Parameter("regularisation", 250.0, "weight of the squared weights (the paper's lambda)"),),
        {"regularisation": "reg_weight"},
        to_own=_renamed({"regularisation": "reg_weight"}),
    ),
    Canonical(
        "slim",
        "SLIMElastic",
        MODELS["SLIMElastic"].summary,
        (
            Parameter("l1", 0.004, "weight of absolute weights, beside the squared error of a user, halved"),
            Parameter("l2", 0.196, "weight of squared weights, halved, beside the squared error of a user, halved"),
            *_own("SLIMElastic", "positive_only", "hide_item"),
        ),
        {"l1": "alpha * l1_ratio", "l2": "alpha * (1 - l1_ratio)"},
        to_own=_slim,
    ),
    Canonical(
        "multi-vae",
        "MultiVAE",
        MODELS["MultiVAE"].summary,
        (
            Parameter("latent", 64, "size of the latent layer"),
            Parameter("hidden", 600, "size of the hidden layer"),
            Parameter("dropout", 0.5, "share of the input left out while learning"),
            Parameter("anneal", 0.2, "highest weight of the divergence"),
            Parameter("epochs", 300, "how often the users are gone through; there is no early stopping"),
            Parameter("batch", 2048, "how many users at a time"),
            Parameter("learning_rate", 0.001, "the step of gradient descent"),
            *_own("MultiVAE", "total_anneal_steps", "learner", "weight_decay"),
        ),
        {
            "latent": "latent_dimension / 2",
            "hidden": "mlp_hidden_size",
            "dropout": "dropout_prob",
            "anneal": "anneal_cap",
            "epochs": "epochs",
            "batch": "train_batch_size",
            "learning_rate": "learning_rate",
        },
        to_own=_multi_vae,
    ),
)
