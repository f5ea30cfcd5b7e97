"""Cornac's models as algorithms, under canonical names and under their own."""

from __future__ import annotations

from repro.plugin import Parameter, ParameterValue
from repro.plugin.api.adapting import as_canonical, own_algorithm
from repro_cornac.models import MODELS, Model
from repro_cornac.recommender import CornacRecommender, recommender_of


def _make(model: Model, /, **parameters: ParameterValue) -> CornacRecommender:
    """A recommender of a class; parameters that are not given have Cornac's defaults."""
    return recommender_of(model, {own.name: own.default for own in model.parameters} | parameters)


OWN = {
    name: own_algorithm(model, _make, f"cornac.models.{name}", predicts=model.predicts)
    for name, model in MODELS.items()
}
_DESCENT = {"factors": "k", "epochs": "max_iter", "learning_rate": "learning_rate", "regularisation": "lambda_reg"}
_NEIGHBOURS = {"k": "k", "similarity": "similarity"}
_NEIGHBOURS_UNMAPPED = {
    "center": "always the user's mean (nothing where all training ratings are the same)",
    "shrinkage": "similarities are not shrunk",
    "min_overlap": "one common rating is enough",
    "min_neighbours": "one neighbour is enough; without any, the user's mean as a fallback",
}

# Parameters that are neither canonical nor kept always have Cornac's defaults.
CANONICAL = (
    as_canonical("popularity", OWN["MostPop"], {}),
    as_canonical(
        "bias",
        OWN["BaselineOnly"],
        {},
        unmapped={
            "user_damping": "biases are learnt by gradient descent, held back by lambda_reg",
            "item_damping": "biases are learnt by gradient descent, held back by lambda_reg",
        },
    ),
    as_canonical("user-knn", OWN["UserKNN"], _NEIGHBOURS, unmapped=_NEIGHBOURS_UNMAPPED),
    as_canonical("item-knn", OWN["ItemKNN"], _NEIGHBOURS, unmapped=_NEIGHBOURS_UNMAPPED),
    as_canonical("biased-mf", OWN["MF"], _DESCENT, kept=("early_stop",)),
    as_canonical("nmf", OWN["NMF"], _DESCENT),
    as_canonical("bpr", OWN["BPR"], _DESCENT),
    as_canonical("ease", OWN["EASE"], {"regularisation": "lamb"}),
    as_canonical(
        "multi-vae",
        OWN["VAECF"],
        {
            "latent": "k",
            "hidden": "autoencoder_structure",
            "anneal": "beta",
            "epochs": "n_epochs",
            "batch": "batch_size",
            "learning_rate": "learning_rate",
        },
        # The canonical hidden layer is one layer: a number instead of a list.
        Parameter("hidden", 20, "sizes of the hidden layers"),
        unmapped={"dropout": "nothing of the input is left out"},
    ),
)
