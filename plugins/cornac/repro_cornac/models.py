"""A table of Cornac's models: the parameters of each class with Cornac's defaults, and its scores for unknown users
and items.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from repro.plugin import Parameter

Kind = Literal["plain", "neighbours", "logistic", "non-negative"]
UnknownUser = Literal["no part", "bias", "default", "nothing"]
UnknownItem = Literal["no part", "lowest", "nothing"]


@dataclass(frozen=True)
class ModelParameter(Parameter):
    """A parameter of a class of Cornac; among its options, ``none`` stands for None.

    least    the lowest valid value; Cornac's compiled code does not check values
    layers   whether the text is a list of sizes, such as ``64,32``
    """

    least: float | None = None
    layers: bool = False


@dataclass(frozen=True)
class Model:
    """A class of ``cornac.models``.

    kind       how its scores are read: see :mod:`repro_cornac.recommender`
    predicts   whether its scores for pairs are on the rating scale
    user       the scores of an unknown user: those of all users ("no part"), the item biases ("bias"; zeros if there
               are none), the default score ("default"), or no scores ("nothing")
    item       the scores of an unknown item: those of all items ("no part"), the lowest score of the known items
               ("lowest"), or no scores ("nothing")
    torch      whether it runs on PyTorch; a parameter ``backend`` takes precedence
    fixed      arguments that the caller cannot choose
    """

    name: str
    summary: str
    cite: str
    parameters: tuple[ModelParameter, ...] = ()
    kind: Kind = "plain"
    predicts: bool = False
    user: UnknownUser = "default"
    item: UnknownItem = "lowest"
    torch: bool = False
    fixed: Mapping[str, object] = field(default_factory=dict)


def _k(default: int, meaning: str = "number of latent factors") -> ModelParameter:
    return ModelParameter("k", default, meaning, least=1)


def _iterations(default: int, name: str = "max_iter") -> ModelParameter:
    return ModelParameter(name, default, "number of epochs", least=1)


def _rate(default: float, name: str = "learning_rate") -> ModelParameter:
    return ModelParameter(name, default, "step of gradient descent", least=0)


def _weight(name: str, default: float, penalised: str = "squared parameters") -> ModelParameter:
    return ModelParameter(name, default, f"weight of {penalised} in the loss", least=0)


def _batch(default: int, unit: str) -> ModelParameter:
    return ModelParameter("batch_size", default, f"number of {unit} in a batch", least=1)


_EARLY_STOP = ModelParameter("early_stop", False, "whether to stop when the training loss changes by less than 0.00001")
_USE_BIAS = "whether users and items have biases"
_ACTIVATIONS = ("sigmoid", "tanh", "elu", "relu", "relu6")

_KNN = (
    _k(20, "number of neighbours that a score is computed from"),
    ModelParameter("similarity", "cosine", "similarity over common ratings", options=("cosine", "pearson")),
    ModelParameter("mean_centered", False, "whether similarities are of ratings minus the user's mean"),
    ModelParameter("weighting", "none", "weights of ratings in similarities", options=("none", "idf", "bm25")),
    ModelParameter("amplify", 1.0, "power that similarities are raised to", least=0),
)
_FACTORS = (_k(10), _iterations(20), _rate(0.01), _weight("lambda_reg", 0.02))
_PAIRS = (_k(10), _iterations(100), _rate(0.001), _weight("lambda_reg", 0.01))
_NCF = (
    _weight("reg", 0.0),
    _iterations(20, "num_epochs"),
    _batch(256, "pairs"),
    ModelParameter("num_neg", 4, "unobserved items drawn for each observed one", least=0),
    _rate(0.001, "lr"),
    ModelParameter("learner", "adam", "optimiser", options=("sgd", "adam", "rmsprop", "adagrad")),
)
_LAYERS = (
    ModelParameter("layers", "64,32,16,8", "sizes of the layers", least=1, layers=True),
    ModelParameter("act_fn", "relu", "activation", options=(*_ACTIVATIONS, "selu", "leaky_relu")),
)
# Cornac's own default is TensorFlow, which has no release for both this Cornac and its numpy.
_PYTORCH = {"backend": "pytorch"}
_ON_CPU = {"use_gpu": False}

_KOREN = "Koren, Bell & Volinsky (2009), IEEE Computer 42(8), doi:10.1109/MC.2009.263"
_BPR = "Rendle, Freudenthaler, Gantner & Schmidt-Thieme (2009), UAI"
_HE = "He et al. (2017), WWW, doi:10.1145/3038912.3052569"

MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        Model("GlobalAvg", "mean of all training ratings", "", predicts=True, user="no part", item="no part"),
        Model("MostPop", "number of training rows of the item", "", user="no part"),
        Model(
            "BaselineOnly",
            "mean rating plus biases of user and item, learnt by gradient descent",
            "Koren (2010), ACM TKDD 4(1), doi:10.1145/1644873.1644874",
            (_iterations(20), _rate(0.01), _weight("lambda_reg", 0.02, "squared biases"), _EARLY_STOP),
            predicts=True,
            user="bias",
        ),
        Model(
            "UserKNN",
            "mean-centred ratings of the most similar users who rated the item, including the user",
            "Herlocker, Konstan, Borchers & Riedl (1999), SIGIR, doi:10.1145/312624.312682",
            _KNN,
            kind="neighbours",
            predicts=True,
        ),
        Model(
            "ItemKNN",
            "the user's mean-centred ratings of the most similar items, including the item itself",
            "Sarwar, Karypis, Konstan & Riedl (2001), WWW, doi:10.1145/371920.372071",
            _KNN,
            kind="neighbours",
            predicts=True,
        ),
        Model(
            "MF",
            "matrix factorisation with biases, by gradient descent over the rows in their order in the data",
            _KOREN,
            (
                _k(10),
                ModelParameter(
                    "backend", "cpu", "implementation: compiled code (cpu) or PyTorch", options=("cpu", "pytorch")
                ),
                ModelParameter(
                    "optimizer", "sgd", "optimiser of PyTorch", options=("sgd", "adam", "rmsprop", "adagrad")
                ),
                _iterations(20),
                _rate(0.01),
                _batch(256, "rows (PyTorch)"),
                _weight("lambda_reg", 0.02),
                ModelParameter("dropout", 0.0, "dropout rate of the factors in training (PyTorch)", least=0),
                ModelParameter("use_bias", True, _USE_BIAS),
                _EARLY_STOP,
            ),
            predicts=True,
            user="bias",
            torch=True,
        ),
        Model(
            "SVD",
            "matrix factorisation with biases (MF under another name; no singular value decomposition)",
            _KOREN,
            (*_FACTORS, _EARLY_STOP),
            predicts=True,
            user="bias",
        ),
        Model(
            "NMF",
            "non-negative factors by multiplicative updates",
            "Lee & Seung (2000), NIPS",
            (
                _k(15),
                _iterations(50),
                ModelParameter("learning_rate", 0.005, "step of gradient descent for the biases", least=0),
                ModelParameter(
                    "lambda_reg", 0.0, "weight of squared parameters; above 0 it replaces the other weights", least=0
                ),
                _weight("lambda_u", 0.06, "squared user factors"),
                _weight("lambda_v", 0.06, "squared item factors"),
                _weight("lambda_bu", 0.02, "squared user biases"),
                _weight("lambda_bi", 0.02, "squared item biases"),
                ModelParameter("use_bias", False, _USE_BIAS),
            ),
            kind="non-negative",
            predicts=True,
            user="bias",
        ),
        Model(
            "PMF",
            "probabilistic matrix factorisation; lists are ranked by the product before its logistic function",
            "Mnih & Salakhutdinov (2007), NIPS",
            (
                _k(5),
                _iterations(100),
                _rate(0.001),
                ModelParameter("gamma", 0.9, "weight of earlier gradients in RMSProp", least=0),
                _weight("lambda_reg", 0.001),
                ModelParameter(
                    "variant",
                    "non_linear",
                    "whether the product goes through the logistic function (non_linear) or not (linear)",
                    options=("non_linear", "linear"),
                ),
            ),
            kind="logistic",
            predicts=True,
        ),
        Model(
            "BPR",
            "pairwise ranking with factors, negatives drawn uniformly",
            _BPR,
            (*_PAIRS, ModelParameter("use_bias", True, "whether items have biases")),
            user="nothing",
            item="nothing",
        ),
        Model(
            "WBPR",
            "pairwise ranking with factors, negatives drawn by popularity",
            "Gantner, Drumond, Freudenthaler & Schmidt-Thieme (2012), KDD Cup workshop",
            (*_PAIRS, ModelParameter("use_bias", True, "whether items have biases")),
            user="nothing",
            item="nothing",
        ),
        Model(
            "MMMF",
            "maximum margin factorisation: pairwise ranking with hinge loss",
            "Weimer, Karatzoglou & Smola (2008), Machine Learning 72(3), doi:10.1007/s10994-008-5073-7",
            _PAIRS,
            user="nothing",
            item="nothing",
        ),
        Model(
            "EASE",
            "linear item-item model of the ratings without a diagonal; negative weights are dropped if posB is true",
            "Steck (2019), WWW, doi:10.1145/3308558.3313710",
            (
                _weight("lamb", 500.0, "squared weights"),
                ModelParameter("posB", True, "whether negative weights are dropped"),
            ),
        ),
        Model(
            "HPF",
            "hierarchical Poisson factorisation",
            "Gopalan, Hofman & Blei (2015), UAI",
            (
                _k(5),
                _iterations(100),
                ModelParameter(
                    "hierarchical", True, "whether the activity of users and the popularity of items have priors"
                ),
            ),
        ),
        Model(
            "SKMeans",
            "spherical k-means: the centroids of clusters of users, weighted by similarity",
            "Salah, Rogovschi & Nadif (2016), AISTATS",
            (
                _k(5, "number of clusters"),
                ModelParameter("max_iter", 100, "highest number of iterations", least=1),
                ModelParameter("tol", 1e-6, "smallest change with which iterations continue", least=0),
            ),
        ),
        Model(
            "VAECF",
            "variational autoencoder of the users' binary rows",
            "Liang, Krishnan, Hoffman & Jebara (2018), WWW, doi:10.1145/3178876.3186150",
            (
                _k(10, "size of the latent layer"),
                ModelParameter("autoencoder_structure", "20", "sizes of the hidden layers", least=1, layers=True),
                ModelParameter("act_fn", "tanh", "activation", options=_ACTIVATIONS),
                ModelParameter("likelihood", "mult", "likelihood of a row", options=("mult", "bern", "gaus", "pois")),
                _iterations(100, "n_epochs"),
                _batch(100, "users"),
                _rate(0.001),
                _weight("beta", 1.0, "the KL divergence, without annealing,"),
            ),
            torch=True,
            fixed=_ON_CPU,
        ),
        Model(
            "BiVAECF",
            "two variational autoencoders, of users and of items",
            "Truong, Salah & Lauw (2021), WSDM, doi:10.1145/3437963.3441759",
            (
                _k(10, "size of the latent layer"),
                ModelParameter("encoder_structure", "20", "sizes of the hidden layers", least=1, layers=True),
                ModelParameter("act_fn", "tanh", "activation", options=_ACTIVATIONS),
                ModelParameter("likelihood", "pois", "likelihood of a cell", options=("pois", "bern", "gaus")),
                _iterations(100, "n_epochs"),
                _batch(100, "users or items"),
                _rate(0.001),
                _weight("beta_kl", 1.0, "the KL divergence"),
            ),
            torch=True,
            fixed=_ON_CPU,
        ),
        Model(
            "IBPR",
            "pairwise ranking by angles between factors",
            "Le & Lauw (2017), CIKM, doi:10.1145/3132847.3132993",
            (_k(20), _iterations(100), _rate(0.05), _weight("lamda", 0.001), _batch(100, "pairs")),
            torch=True,
        ),
        Model(
            "GMF",
            "generalised matrix factorisation (PyTorch)",
            _HE,
            (ModelParameter("num_factors", 8, "number of latent factors", least=1), *_NCF),
            torch=True,
            fixed=_PYTORCH,
        ),
        Model("MLP", "layers over user and item factors (PyTorch)", _HE, (*_LAYERS, *_NCF), torch=True, fixed=_PYTORCH),
        Model(
            "NeuMF",
            "neural matrix factorisation: GMF and MLP together (PyTorch); as many factors as the last layer has",
            _HE,
            (ModelParameter("num_factors", 8, "number of latent factors", least=1), *_LAYERS, *_NCF),
            torch=True,
            fixed=_PYTORCH,
        ),
    )
}
