"""The canonical algorithms that RecBole has, and its names for their parameters."""

from __future__ import annotations

from repro.plugin import Algorithm, Parameter, ParameterValue
from repro.plugin.api.adapting import as_canonical, own_algorithm, renamed
from repro_recbole.models import MODELS, Model
from repro_recbole.recommender import RecBoleRecommender


def _make(model: Model, /, **values: ParameterValue) -> RecBoleRecommender:
    return RecBoleRecommender(model, values)


OWN = {name: own_algorithm(model, _make, name) for name, model in MODELS.items()}


def _slim(*, l1: float, l2: float, **values: ParameterValue) -> RecBoleRecommender:
    """Both weights as their sum and the share of l1; without a penalty, the share has no effect."""
    share = l1 / (l1 + l2) if l1 + l2 else 0.0
    return _make(MODELS["SLIMElastic"], alpha=l1 + l2, l1_ratio=share, **values)


def _multi_vae(*, latent: int, hidden: int, **values: ParameterValue) -> RecBoleRecommender:
    """RecBole's latent dimension counts means and variances together; hidden layers are a list."""
    own = renamed(_MULTI_VAE, values)
    own |= {"latent_dimension": 2 * int(latent), "mlp_hidden_size": f"[{int(hidden)}]"}
    return _make(MODELS["MultiVAE"], **own)


_EPOCHS = "how often the training rows are gone through; there is no early stopping"
_MULTI_VAE = {
    "latent": "latent_dimension",
    "hidden": "mlp_hidden_size",
    "dropout": "dropout_prob",
    "anneal": "anneal_cap",
    "epochs": "epochs",
    "batch": "train_batch_size",
    "learning_rate": "learning_rate",
}
_KNN_UNMAPPED = {
    "similarity": "always the cosine, of ones and not of ratings",
    "center": "nothing is subtracted: every row counts as 1",
    "shrinkage": "none by common ratings; shrink is added to the denominator of the cosine",
    "min_overlap": "always 1",
    "min_neighbours": "always 0: without neighbours the score is 0",
}


def _knn(name: str, compared: str, summary: str) -> Algorithm:
    return as_canonical(
        name,
        OWN["ItemKNN"],
        {"k": "k"},
        Parameter("k", 100, f"how many neighbours each {compared} has, of all {compared}s"),
        fixed={"knn_method": compared},
        summary=summary,
        unmapped=_KNN_UNMAPPED,
    )


CANONICAL = (
    as_canonical("random", OWN["Random"], {}),
    as_canonical("popularity", OWN["Pop"], {}),
    _knn("user-knn", "user", "sum of the cosines with the nearest users that have the item"),
    _knn("item-knn", "item", "sum of the cosines between the item and the user's items, of the nearest of all"),
    as_canonical(
        "bpr",
        OWN["BPR"],
        {
            "factors": "embedding_size",
            "epochs": "epochs",
            "learning_rate": "learning_rate",
            "regularisation": "weight_decay",
        },
        Parameter("factors", 64, "how many latent factors"),
        Parameter("epochs", 300, _EPOCHS),
        Parameter("regularisation", 0.0, "twice the weight of all squared parameters, in the optimiser"),
        summary="pairwise ranking with factors, without item biases, by Adam in batches",
    ),
    as_canonical("ease", OWN["EASE"], {"regularisation": "reg_weight"}),
    as_canonical(
        "slim",
        OWN["SLIMElastic"],
        {},
        Parameter("l1", 0.004, "weight of absolute weights, beside the squared error of a user, halved"),
        Parameter("l2", 0.196, "weight of squared weights, halved, beside the squared error of a user, halved"),
        kept=("positive_only", "hide_item"),
        make=_slim,
        notes={"l1": "alpha * l1_ratio", "l2": "alpha * (1 - l1_ratio)"},
    ),
    as_canonical(
        "multi-vae",
        OWN["MultiVAE"],
        _MULTI_VAE,
        Parameter("latent", 64, "size of the latent layer"),
        Parameter("hidden", 600, "size of the hidden layer"),
        Parameter("epochs", 300, "how often the users are gone through; there is no early stopping"),
        Parameter("batch", 2048, "how many users at a time"),
        make=_multi_vae,
        notes={"latent": "latent_dimension / 2"},
    ),
)
