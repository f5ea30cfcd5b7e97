"""The canonical algorithms that RecPack has, and its names for their parameters."""

from __future__ import annotations

from repro.plugin import ParameterValue
from repro.plugin.api.adapting import as_canonical, own_algorithm
from repro_recpack.models import MODELS, Model
from repro_recpack.recommender import RecPackRecommender


def _make(model: Model, /, **parameters: ParameterValue) -> RecPackRecommender:
    return RecPackRecommender(model, parameters)


OWN = {name: own_algorithm(model, _make, f"recpack.algorithms.{name}") for name, model in MODELS.items()}
CANONICAL = (
    # RecPack's cut-off after K items is switched off: all items get a score.
    as_canonical("random", OWN["Random"], {}, fixed={"K": 0}),
    as_canonical("popularity", OWN["Popularity"], {}, fixed={"K": 0}),
    as_canonical(
        "item-knn",
        OWN["ItemKNN"],
        {"k": "K", "similarity": "similarity"},
        notes={"k": "K, the neighbours that each of the user's items has, not those that take part in a score"},
        unmapped={
            "center": "ratings play no part",
            "shrinkage": "none",
            "min_overlap": "one common user is enough",
            "min_neighbours": "one neighbour is enough",
        },
    ),
    as_canonical("ease", OWN["EASE"], {"regularisation": "l2"}),
    as_canonical("slim", OWN["SLIM"], {"l1": "l1_reg", "l2": "l2_reg"}),
    as_canonical(
        "puresvd",
        OWN["SVD"],
        {"factors": "num_components"},
        notes={"factors": "num_components; each weighted by its squared singular value, not by the value itself"},
    ),
    as_canonical(
        "nmf",
        OWN["NMF"],
        {"factors": "num_components", "regularisation": "alpha"},
        notes={"regularisation": "alpha, times the number of items (user factors) or users (item factors)"},
        unmapped={
            "epochs": "at most 200, fewer once the change is below 0.0001 of the first error",
            "learning_rate": "coordinate descent, which has no step",
        },
    ),
    as_canonical(
        "bpr",
        OWN["BPRMF"],
        {
            "factors": "num_components",
            "epochs": "max_epochs",
            "learning_rate": "learning_rate",
            "regularisation": ("lambda_h", "lambda_w"),
        },
        notes={"regularisation": "lambda_h and lambda_w, the weights of norms that are not squared"},
    ),
    as_canonical(
        "implicit-als",
        OWN["WeightedMatrixFactorization"],
        {"factors": "num_components", "epochs": "iterations", "regularisation": "regularization", "alpha": "alpha"},
        notes={"alpha": "alpha; the value is 1 for every training row"},
    ),
    as_canonical(
        "multi-vae",
        OWN["MultVAE"],
        {
            "latent": "dim_bottleneck_layer",
            "hidden": "dim_hidden_layer",
            "dropout": "dropout",
            "anneal": "max_beta",
            "epochs": "max_epochs",
            "batch": "batch_size",
            "learning_rate": "learning_rate",
        },
        notes={"anneal": "max_beta, the weight after anneal_steps batches; until then it grows from 0 to 1"},
    ),
)
