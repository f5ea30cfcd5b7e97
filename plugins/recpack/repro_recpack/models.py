"""RecPack's algorithms as data: its own names, parameters and defaults."""

from __future__ import annotations

from dataclasses import dataclass

from repro.plugin import Parameter
from repro_recpack.scoring import (
    EmbeddedScoring,
    FactorScoring,
    NetworkScoring,
    OnceScoring,
    PopularityScoring,
    RandomScoring,
    Scoring,
    SimilarityScoring,
    WeightedScoring,
)

SIMILARITIES = ("cosine", "conditional_probability")


@dataclass(frozen=True)
class Model:
    """A class of RecPack.

    name        in ``recpack.algorithms``
    scoring     how scores are computed once it is fitted
    parameters  those of its constructor that change scores, with its defaults
    seeded      whether the constructor takes a seed; global generators are always seeded
    validated   whether it is a network, which RecPack measures on held-out rows after each epoch
    absent      parameters whose value 0 stands for RecPack's None
    bounded     whether it has at most as many factors as users and items
    """

    name: str
    summary: str
    scoring: type[Scoring]
    parameters: tuple[Parameter, ...] = ()
    seeded: bool = False
    validated: bool = False
    absent: tuple[str, ...] = ()
    bounded: bool = False
    cite: str = ""


_COMPONENTS = Parameter("num_components", 100, "how many latent factors")


def _neighbours(k: str) -> tuple[Parameter, ...]:
    return (
        Parameter("K", 200, k),
        Parameter("similarity", "cosine", "how alike two items are", SIMILARITIES),
        Parameter("pop_discount", 0.0, "of conditional_probability: exponent of the other item's count"),
        Parameter("normalize_X", False, "whether each user counts the same in similarities, however many items"),
        Parameter("normalize_sim", False, "whether the similarities of each item are scaled to a sum of 1"),
    )


def _network(
    epochs: int, batch: int, learning_rate: float, criterion: str, min_improvement: float
) -> tuple[Parameter, ...]:
    return (
        Parameter("batch_size", batch, "how many samples or users at a time"),
        Parameter("max_epochs", epochs, "how often the training rows are gone through, at most"),
        Parameter("learning_rate", learning_rate, "the step of gradient descent"),
        Parameter(
            "stopping_criterion",
            criterion,
            "what is measured on held-out rows after each epoch",
            ("bpr", "ndcg", "precision", "recall", "warp"),
        ),
        Parameter("stop_early", False, "whether to stop when the criterion does not improve any more"),
        Parameter("max_iter_no_change", 5, "of stop_early: for how many epochs it may not improve"),
        Parameter("min_improvement", min_improvement, "the smallest change of the criterion that is an improvement"),
        Parameter("keep_last", False, "whether to keep the last epoch, not the best by the criterion"),
        Parameter("validation_sample_size", 0, "how many users the criterion is measured on (0: all)"),
        Parameter(
            "validation",
            0.2,
            "share of each user's training rows that is held out for the criterion and not learnt from "
            "(0: none; the last epoch is kept)",
        ),
    )


_AUTOENCODER = (
    Parameter("dim_bottleneck_layer", 200, "size of the latent layer"),
    Parameter("dim_hidden_layer", 600, "size of the hidden layer"),
    Parameter("dropout", 0.5, "share of the input left out while learning"),
)
_DESHPANDE = "Deshpande & Karypis (2004), ACM TOIS 22(1), doi:10.1145/963770.963776"

MODELS = {
    model.name: model
    for model in (
        Model(
            "Random",
            "a uniform number for each user and item",
            RandomScoring,
            seeded=True,
            absent=("K",),
            parameters=(Parameter("K", 200, "how many items of each user have a score (0: all)"),),
        ),
        Model(
            "Popularity",
            "share of the most popular item's number of users",
            PopularityScoring,
            (Parameter("K", 200, "how many items, the most popular ones, have a score (0: all)"),),
        ),
        Model(
            "ItemKNN",
            "sum of the similarities of the user's items to this one, each having K neighbours",
            SimilarityScoring,
            _neighbours("how many neighbours each item has"),
            cite=_DESHPANDE,
        ),
        Model(
            "ItemPNN",
            "as ItemKNN, with neighbours that are drawn",
            SimilarityScoring,
            (
                *_neighbours("how many neighbours are drawn for each item"),
                Parameter(
                    "pdf",
                    "empirical",
                    "what neighbours are drawn in proportion to",
                    ("empirical", "uniform", "softmax_empirical"),
                ),
            ),
            seeded=True,
            cite="Adamopoulos & Tuzhilin (2014), RecSys, doi:10.1145/2645710.2645752",
        ),
        Model(
            "KUNN",
            "sum of the similarities of items and of users, brought to one scale",
            OnceScoring,
            (
                Parameter("Ku", 100, "how many neighbours each user has"),
                Parameter("Ki", 100, "how many neighbours each item has"),
            ),
            cite="Verstrepen & Goethals (2014), RecSys, doi:10.1145/2645710.2645731",
        ),
        Model(
            "EASE",
            "linear item-item model in closed form",
            SimilarityScoring,
            (
                Parameter("l2", 1000.0, "weight of squared weights"),
                Parameter("alpha", 0.0, "exponent of the item's count that its weights are divided by"),
                Parameter("density", 0.0, "share of the weights that is kept, the largest ones (0: all)"),
            ),
            absent=("density",),
            cite="Steck (2019), WWW, doi:10.1145/3308558.3313710",
        ),
        Model(
            "SLIM",
            "sparse linear item-item model, each item learnt by stochastic gradient descent",
            SimilarityScoring,
            (
                Parameter("l1_reg", 0.0005, "weight of absolute weights"),
                Parameter("l2_reg", 0.00005, "weight of squared weights"),
                Parameter("fit_intercept", True, "whether there is an intercept while learning (scores have none)"),
                Parameter("ignore_neg_weights", True, "whether negative weights are set to 0 after learning"),
            ),
            cite="Ning & Karypis (2011), ICDM, doi:10.1109/ICDM.2011.134",
        ),
        Model(
            "SVD",
            "truncated SVD with each factor weighted by its squared singular value",
            FactorScoring,
            (_COMPONENTS,),
            seeded=True,
            bounded=True,
            cite="Cremonesi, Koren & Turrin (2010), RecSys, doi:10.1145/1864708.1864721",
        ),
        Model(
            "SVDItemToItem",
            "item-item products of the item factors of SVD",
            SimilarityScoring,
            (_COMPONENTS,),
            seeded=True,
            bounded=True,
        ),
        Model(
            "NMF",
            "non-negative factors of the binary matrix, by scikit-learn",
            FactorScoring,
            (
                _COMPONENTS,
                Parameter("alpha", 0.0, "weight of the penalty, times the number of items or users"),
                Parameter("l1_ratio", 0.0, "share of absolute values in the penalty, the rest being squares"),
            ),
            seeded=True,
            cite="Lee & Seung (2000), NIPS",
        ),
        Model(
            "NMFItemToItem",
            "item-item products of the item factors of NMF",
            SimilarityScoring,
            (_COMPONENTS,),
            seeded=True,
        ),
        Model(
            "WeightedMatrixFactorization",
            "weighted factorisation of implicit feedback",
            WeightedScoring,
            (
                _COMPONENTS,
                Parameter("iterations", 20, "how often both sides are solved for"),
                Parameter("regularization", 0.01, "the weight of squared factors"),
                Parameter("alpha", 40.0, "how much more an observed pair counts than others: 1 + alpha"),
                Parameter(
                    "confidence_scheme", "minimal", "how an observed pair counts more", ("minimal", "log-scaling")
                ),
                Parameter("epsilon", 1e-8, "of log-scaling: 1 + alpha log(1 + 1 / epsilon)"),
                Parameter("batch_size", 100, "how many users or items are solved for at a time"),
            ),
            cite="Hu, Koren & Volinsky (2008), ICDM, doi:10.1109/ICDM.2008.22",
        ),
        Model(
            "BPRMF",
            "pairwise ranking with factors, by Adagrad",
            EmbeddedScoring,
            (
                _COMPONENTS,
                Parameter("lambda_h", 0.0, "weight of the norm of item factors"),
                Parameter("lambda_w", 0.0, "weight of the norm of user factors"),
                Parameter("sample_size", 0, "how many pairs are drawn in an epoch (0: as many as there are)"),
                *_network(20, 1000, 0.01, "bpr", 0.01),
            ),
            seeded=True,
            validated=True,
            absent=("sample_size", "validation_sample_size"),
            cite="Rendle, Freudenthaler, Gantner & Schmidt-Thieme (2009), UAI",
        ),
        Model(
            "MultVAE",
            "variational autoencoder with multinomial likelihood",
            NetworkScoring,
            (
                *_AUTOENCODER,
                Parameter("max_beta", 0.2, "weight of the divergence after anneal_steps"),
                Parameter("anneal_steps", 200000, "batches in which that weight grows from 0 to 1, before max_beta"),
                *_network(200, 500, 1e-4, "ndcg", 0.01),
            ),
            seeded=True,
            validated=True,
            absent=("validation_sample_size",),
            cite="Liang, Krishnan, Hoffman & Jebara (2018), WWW, doi:10.1145/3178876.3186150",
        ),
        Model(
            "RecVAE",
            "variational autoencoder with a composite prior",
            NetworkScoring,
            (
                *_AUTOENCODER,
                Parameter("gamma", 0.005, "weight of the divergence, times the number of the user's items (0: beta)"),
                Parameter("beta", 0.0, "weight of the divergence where gamma is 0"),
                Parameter("n_enc_epochs", 3, "passes of the encoder in an epoch"),
                Parameter("n_dec_epochs", 1, "passes of the decoder in an epoch"),
                *_network(200, 500, 5e-4, "ndcg", 0.0),
            ),
            seeded=True,
            validated=True,
            absent=("gamma", "beta", "validation_sample_size"),
            cite="Shenbin, Alekseev, Tutubalina, Malykh & Nikolenko (2020), WSDM, doi:10.1145/3336191.3371831",
        ),
    )
}
