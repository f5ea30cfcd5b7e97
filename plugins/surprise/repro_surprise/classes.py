"""The prediction algorithms of Surprise as data: each class with its own parameters and defaults.

Options that Surprise takes in dictionaries have a prefix: ``sim_name`` is ``sim_options["name"]``, ``bsl_reg_u`` is
``bsl_options["reg_u"]``. A parameter whose default in Surprise is None, or that it does not set, is -1 here, and is
then not passed. ``random_state`` is the seed of the fit, and ``verbose`` is off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from repro.plugin import Parameter, ParameterValue
from repro.plugin.api.adapting import renamed, require_at_least
from repro_surprise import knn
from repro_surprise.biases import Biases
from repro_surprise.co_clustering import CoClusters
from repro_surprise.factors import of_factors, of_implicit_factors
from repro_surprise.fitted import Estimates, Fitted
from repro_surprise.normal import NormalRatings
from repro_surprise.slope_one import Slopes

SIMILARITIES = ("cosine", "msd", "pearson", "pearson_baseline")
METHODS = ("als", "sgd")
UNSET = -1
_NESTED = {"sim": "sim_options", "bsl": "bsl_options"}
# With lower values Surprise divides by zero, or they have no meaning.
_LOWEST = {"k": 1, "min_k": 1, "sim_min_support": 1, "n_factors": 1, "n_cltr_u": 1, "n_cltr_i": 1, "init_low": 0}


@dataclass(frozen=True)
class SurpriseClass:
    """A prediction algorithm of Surprise.

    name        of the class
    estimates   computes estimates from the fitted algorithm
    parameters  of the constructor, with Surprise's defaults
    seeded      whether it takes a ``random_state``
    talks       whether it takes ``verbose``
    """

    name: str
    summary: str
    estimates: Callable[[Fitted], Estimates]
    cite: str
    parameters: tuple[Parameter, ...] = ()
    seeded: bool = False
    talks: bool = True

    def make(self, parameters: Mapping[str, ParameterValue], seed: int) -> Any:
        """A new algorithm of this class with these parameters (all of them)."""
        import surprise

        common: dict[str, Any] = {"verbose": False} if self.talks else {}
        if self.seeded:
            common["random_state"] = seed
        return getattr(surprise, self.name)(**common, **self.keywords(parameters))

    def keywords(self, parameters: Mapping[str, ParameterValue]) -> dict[str, Any]:
        """The parameters as the constructor takes them."""
        keywords: dict[str, Any] = {}
        for parameter in self.parameters:
            prefix, _, option = parameter.name.partition("_")
            options = keywords.setdefault(_NESTED[prefix], {}) if prefix in _NESTED else keywords
            value = parameters[parameter.name]
            if parameter.default != UNSET or float(value) >= 0:
                options[option if prefix in _NESTED else parameter.name] = value
        return keywords


def own_name(parameter: str) -> str:
    """Surprise's name of a parameter: ``sim_name`` is ``sim_options.name``."""
    prefix, _, option = parameter.partition("_")
    return f"{_NESTED[prefix]}.{option}" if prefix in _NESTED else parameter


def check(parameters: Mapping[str, ParameterValue], known_as: Mapping[str, str]) -> None:
    """Refuse values that are too small; ``known_as`` has the names of parameters in the message."""
    lowest = {known_as.get(name, name): value for name, value in _LOWEST.items()}
    require_at_least(lowest, renamed(known_as, parameters))


def _of_each(noun: str, prefix: str, letters: Mapping[str, str]) -> tuple[Parameter, ...]:
    """A learning rate or regularisation for each kind of parameters, which overrides that of all."""
    return tuple(
        Parameter(f"{prefix}_{letter}", float(UNSET), f"{noun} of {kind}; {UNSET}: {prefix}_all")
        for letter, kind in letters.items()
    )


_BIASES = {"bu": "user biases", "bi": "item biases"}
_FACTORS = {"pu": "user factors", "qi": "item factors"}
_IMPLICIT = {"yj": "implicit item factors"}
_INITIAL = (
    Parameter("init_mean", 0.0, "mean of the normal distribution that factors start from"),
    Parameter("init_std_dev", 0.1, "standard deviation of the normal distribution that factors start from"),
)
_BIASED = "use biases; if not, the estimate is the product of factors alone"

_BASELINE = (
    Parameter("bsl_method", "als", "how baselines are fitted: alternating least squares or gradient descent", METHODS),
    Parameter("bsl_n_epochs", UNSET, f"epochs of the baselines; {UNSET}: 10 with als, 20 with sgd"),
    Parameter("bsl_reg_u", 15.0, "als: added to the number of ratings of each user"),
    Parameter("bsl_reg_i", 10.0, "als: added to the number of ratings of each item"),
    Parameter("bsl_reg", 0.02, "sgd: the weight of squared biases in the loss"),
    Parameter("bsl_learning_rate", 0.005, "sgd: the step of gradient descent"),
)
_NEIGHBOURS = (
    Parameter("k", 40, "how many neighbours take part at most"),
    Parameter("min_k", 1, "fewest neighbours for an estimate from neighbours"),
    Parameter("sim_name", "msd", "how alike two users or items are", SIMILARITIES),
    Parameter("sim_user_based", True, "similarities between users; if not, between items", (True, False)),
    Parameter("sim_min_support", 1, "fewest common ratings for a similarity (pearson_baseline: at least 2)"),
    Parameter(
        "sim_shrinkage",
        100.0,
        "pearson_baseline: similarities are multiplied by (n - 1) / (n - 1 + sim_shrinkage), n common ratings",
    ),
    *_BASELINE,
)
_HERLOCKER = "Herlocker et al. (1999), SIGIR"
_KOREN_2010 = "Koren (2010), ACM TKDD 4(1), doi:10.1145/1644873.1644874"


CLASSES: dict[str, SurpriseClass] = {
    surprise_class.name: surprise_class
    for surprise_class in (
        SurpriseClass(
            "NormalPredictor",
            "a draw from the normal distribution fitted to the ratings",
            NormalRatings.of,
            "",
            talks=False,
        ),
        SurpriseClass("BaselineOnly", "mean plus user and item bias", Biases.of, _KOREN_2010, _BASELINE),
        SurpriseClass("KNNBasic", "mean rating of the nearest neighbours", knn.Plain, _HERLOCKER, _NEIGHBOURS),
        SurpriseClass(
            "KNNWithMeans",
            "mean plus what the nearest neighbours differ from theirs",
            knn.Centred,
            _HERLOCKER,
            _NEIGHBOURS,
        ),
        SurpriseClass(
            "KNNWithZScore",
            "mean plus what the nearest neighbours differ from theirs, in standard deviations",
            knn.Centred,
            _HERLOCKER,
            _NEIGHBOURS,
        ),
        SurpriseClass(
            "KNNBaseline",
            "baseline plus what the nearest neighbours differ from theirs",
            knn.Baselined,
            _KOREN_2010,
            _NEIGHBOURS,
        ),
        SurpriseClass(
            "SVD",
            "matrix factorisation by gradient descent",
            of_factors,
            "Koren et al. (2009), IEEE Computer 42(8), doi:10.1109/MC.2009.263",
            (
                Parameter("n_factors", 100, "how many latent factors"),
                Parameter("n_epochs", 20, "how often the training rows are gone through"),
                Parameter("biased", True, _BIASED, (True, False)),
                *_INITIAL,
                Parameter("lr_all", 0.005, "the step of gradient descent"),
                Parameter("reg_all", 0.02, "the weight of squared parameters in the loss"),
                *_of_each("learning rate", "lr", _BIASES | _FACTORS),
                *_of_each("regularisation", "reg", _BIASES | _FACTORS),
            ),
            seeded=True,
        ),
        SurpriseClass(
            "SVDpp",
            "matrix factorisation with implicit feedback by gradient descent",
            of_implicit_factors,
            "Koren (2008), KDD, doi:10.1145/1401890.1401944",
            (
                Parameter("n_factors", 20, "how many latent factors"),
                Parameter("n_epochs", 20, "how often the training rows are gone through"),
                *_INITIAL,
                Parameter("lr_all", 0.007, "the step of gradient descent"),
                Parameter("reg_all", 0.02, "the weight of squared parameters in the loss"),
                *_of_each("learning rate", "lr", _BIASES | _FACTORS | _IMPLICIT),
                *_of_each("regularisation", "reg", _BIASES | _FACTORS | _IMPLICIT),
                Parameter("cache_ratings", False, "fit faster with more memory", (True, False)),
            ),
            seeded=True,
        ),
        SurpriseClass(
            "NMF",
            "non-negative matrix factorisation",
            of_factors,
            "Luo et al. (2014), IEEE TII 10(2), doi:10.1109/TII.2014.2308433",
            (
                Parameter("n_factors", 15, "how many latent factors"),
                Parameter("n_epochs", 50, "how often the training rows are gone through"),
                Parameter("biased", False, _BIASED, (True, False)),
                Parameter("reg_pu", 0.06, "regularisation of user factors"),
                Parameter("reg_qi", 0.06, "regularisation of item factors"),
                Parameter("reg_bu", 0.02, "regularisation of user biases"),
                Parameter("reg_bi", 0.02, "regularisation of item biases"),
                Parameter("lr_bu", 0.005, "learning rate of user biases"),
                Parameter("lr_bi", 0.005, "learning rate of item biases"),
                Parameter("init_low", 0.0, "lowest factor to start from"),
                Parameter("init_high", 1.0, "highest factor to start from"),
            ),
            seeded=True,
        ),
        SurpriseClass(
            "SlopeOne",
            "mean differences between items",
            Slopes.of,
            "Lemire & Maclachlan (2005), SDM, doi:10.1137/1.9781611972757.43",
            talks=False,
        ),
        SurpriseClass(
            "CoClustering",
            "averages of clusters of users and items",
            CoClusters.of,
            "George & Merugu (2005), ICDM, doi:10.1109/ICDM.2005.14",
            (
                Parameter("n_cltr_u", 3, "how many clusters of users"),
                Parameter("n_cltr_i", 3, "how many clusters of items"),
                Parameter("n_epochs", 20, "how often the clusters are assigned anew"),
            ),
            seeded=True,
        ),
    )
}
