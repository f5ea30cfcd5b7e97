"""The canonical algorithms that RecPack has, and its names for their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from repro.plugin import ParameterValue


@dataclass(frozen=True)
class Renamed:
    """A canonical algorithm as an algorithm of RecPack.

    own       RecPack's class
    mapping   the parameters of RecPack that each canonical parameter sets
    notes     the meaning of a parameter in RecPack, where it differs from the canonical one
    unmapped  canonical parameters that RecPack cannot express, and what it does instead
    fixed     parameters of RecPack that always have this value
    """

    own: str
    mapping: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    unmapped: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, ParameterValue] = field(default_factory=dict)


CANONICAL = {
    # RecPack's cut-off after K items is switched off: all items get a score.
    "random": Renamed("Random", fixed={"K": 0}),
    "popularity": Renamed("Popularity", fixed={"K": 0}),
    "item-knn": Renamed(
        "ItemKNN",
        {"k": ("K",), "similarity": ("similarity",)},
        {"k": "K, the neighbours that each of the user's items has, not those that take part in a score"},
        {
            "center": "ratings play no part",
            "shrinkage": "none",
            "min_overlap": "one common user is enough",
            "min_neighbours": "one neighbour is enough",
        },
    ),
    "ease": Renamed("EASE", {"regularisation": ("l2",)}),
    "slim": Renamed("SLIM", {"l1": ("l1_reg",), "l2": ("l2_reg",)}),
    "puresvd": Renamed(
        "SVD",
        {"factors": ("num_components",)},
        {"factors": "num_components; each weighted by its squared singular value, not by the value itself"},
    ),
    "nmf": Renamed(
        "NMF",
        {"factors": ("num_components",), "regularisation": ("alpha",)},
        {"regularisation": "alpha, times the number of items (user factors) or users (item factors)"},
        {
            "epochs": "at most 200, fewer once the change is below 0.0001 of the first error",
            "learning_rate": "coordinate descent, which has no step",
        },
    ),
    "bpr": Renamed(
        "BPRMF",
        {
            "factors": ("num_components",),
            "epochs": ("max_epochs",),
            "learning_rate": ("learning_rate",),
            "regularisation": ("lambda_h", "lambda_w"),
        },
        {"regularisation": "lambda_h and lambda_w, the weights of norms that are not squared"},
    ),
    "implicit-als": Renamed(
        "WeightedMatrixFactorization",
        {
            "factors": ("num_components",),
            "epochs": ("iterations",),
            "regularisation": ("regularization",),
            "alpha": ("alpha",),
        },
        {"alpha": "alpha; the value is 1 for every training row"},
    ),
    "multi-vae": Renamed(
        "MultVAE",
        {
            "latent": ("dim_bottleneck_layer",),
            "hidden": ("dim_hidden_layer",),
            "dropout": ("dropout",),
            "anneal": ("max_beta",),
            "epochs": ("max_epochs",),
            "batch": ("batch_size",),
            "learning_rate": ("learning_rate",),
        },
        {"anneal": "max_beta, the weight after anneal_steps batches; until then it grows from 0 to 1"},
    ),
}
