"""A table of LensKit's scorers under their own names, with LensKit's parameters and defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from repro.errors import PluginError
from repro.plugin import Algorithm, Parameter, ParameterValue, Recommender
from repro.plugin.api.adapting import own_algorithm
from repro_lenskit.configuration import NONE, Setting, component, count_or_none, flag_or, setting, word_or_none
from repro_lenskit.factors import AlternatingLeastSquares, BiasedSVD, FlexMF, FunkSVD, NonNegative
from repro_lenskit.item_weights import Dense, Sparse
from repro_lenskit.not_personal import Bias, Popularity, RandomOrder, RecentPopularity
from repro_lenskit.one_user_scorers import KnownRatings, OneUserScorer


@dataclass(frozen=True)
class Scorer:
    """A scorer of LensKit.

    path      the import path of its class
    adapter   the recommender class that trains it and reads its scores
    predicts  whether its scores are ratings (for nearest neighbours, only with explicit feedback, the default)
    """

    path: str
    summary: str
    adapter: Callable[..., Recommender]
    settings: tuple[Setting, ...] = ()
    predicts: bool = False
    cite: str = ""

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return tuple(setting.parameter for setting in self.settings)

    def make(self, values: Mapping[str, object]) -> Recommender:
        """A recommender with these values of LensKit's own parameters, and LensKit's defaults for the others."""
        explicit = self.predicts and values.get("feedback", "explicit") == "explicit"
        return self.adapter(component(self.path, self.settings, values), explicit=explicit)


def _range(text: str) -> tuple[float, float] | None:
    if text == NONE:
        return None
    try:
        lowest, highest = map(float, text.split(","))
    except ValueError:
        raise PluginError(f'range = {text!r} is not "none" or two numbers, such as "1,5"') from None
    return lowest, highest


def _entities(text: str) -> set[str]:
    return set() if text == NONE else set(text.split(","))


def _number_or_same(text: str) -> float | str:
    try:
        return text if text == "same" else float(text)
    except ValueError:
        raise PluginError(f'alpha_H = {text!r} is neither a number nor "same"') from None


_POPULARITY = ("quantile", "rank", "count")
_SCORE = setting(
    "score",
    "quantile",
    "quantile: the cumulative share of all ratings, from the least popular item up to this one; rank: the rank by "
    "number of ratings; count: the number of ratings of the item",
    _POPULARITY,
)
_FEEDBACK = setting(
    "feedback",
    "explicit",
    "explicit: the weighted mean of mean-centred ratings; implicit: the sum of similarities of binary interactions",
    ("explicit", "implicit"),
)
_NEIGHBOURS = (
    setting("max_nbrs", 20, "highest number of neighbours for a score"),
    setting("min_nbrs", 1, "lowest number of neighbours for a score"),
    setting("min_sim", 1e-6, "lowest similarity of a neighbour"),
)
_SIZE = setting("embedding_size", 50, "number of latent factors")
_DAMPING = setting("damping", 5.0, "number of pseudo-ratings without bias added to those of each user and item")
_ALS = (
    _SIZE,
    setting("epochs", 10, "number of times that the factors of users and of items are solved for"),
    setting("regularization", 0.1, "weight of squared factors"),
    flag_or(
        "user_embeddings",
        "true",
        "prefer: the user's vector from training; other values solve for it anew from the user's training rows",
        "prefer",
    ),
)


def _flex(regularization: float, method: str) -> tuple[Setting, ...]:
    return (
        setting("embedding_size", 64, "number of latent factors"),
        setting("batch_size", 8192, "number of rows in a batch"),
        setting("learning_rate", 0.01, "step size of gradient descent"),
        setting("epochs", 10, "number of passes over the training rows"),
        setting("regularization", regularization, "weight of the regularisation"),
        word_or_none(
            "reg_method",
            method,
            "weight decay (AdamW), a penalty of squared norms (L2), or none",
            ("AdamW", "L2", NONE),
        ),
    )


_SCORERS = (
    Scorer("lenskit.basic.PopScorer", "popularity of the item", Popularity, (_SCORE,)),
    Scorer(
        "lenskit.basic.popularity.TimeBoundedPopScore",
        "popularity of the item since a point in time",
        RecentPopularity,
        (
            _SCORE,
            Setting(
                Parameter(
                    "cutoff", "1970-01-01T00:00:00", "ratings after this time (UTC) count; LensKit has no default"
                ),
                required=True,
            ),
        ),
    ),
    Scorer(
        "lenskit.basic.BiasScorer",
        "overall mean plus damped item and user bias",
        Bias,
        (
            Setting(
                Parameter(
                    "entities",
                    "user,item",
                    "whether users, items or both have biases",
                    ("user,item", "user", "item", NONE),
                ),
                _entities,
            ),
            setting("damping", 0.0, "number of pseudo-ratings without bias added to those of each user and item"),
        ),
        predicts=True,
        cite="Koren (2010), ACM TKDD 4(1)",
    ),
    Scorer(
        "lenskit.basic.history.KnownRatingScorer",
        "the user's training rating of each item that the user has rated",
        KnownRatings,
        (
            word_or_none(
                "score",
                NONE,
                "rating: the rating; indicator: 1 or 0; none: the rating if the data has ratings, else 1",
                (NONE, "rating", "indicator"),
            ),
        ),
    ),
    Scorer(
        "lenskit.knn.ItemKNNScorer",
        "the user's ratings of similar items",
        OneUserScorer,
        (
            *_NEIGHBOURS,
            count_or_none("save_nbrs", "highest number of neighbours stored for each item; 0 stores all"),
            _FEEDBACK,
            setting("block_size", 250, "number of items whose similarities are computed together; it changes no score"),
        ),
        predicts=True,
        cite="Deshpande & Karypis (2004), ACM TOIS 22(1)",
    ),
    Scorer(
        "lenskit.knn.UserKNNScorer",
        "ratings of similar users",
        OneUserScorer,
        (*_NEIGHBOURS, _FEEDBACK),
        predicts=True,
        cite="Herlocker et al. (1999), SIGIR",
    ),
    Scorer(
        "lenskit.knn.EASEScorer",
        "linear item-item model without a diagonal",
        Dense,
        (setting("regularization", 1.0, "weight of the L2 penalty"),),
        cite="Steck (2019), WWW",
    ),
    Scorer(
        "lenskit.knn.SLIMScorer",
        "sparse linear item-item model",
        Sparse,
        (
            setting("l1_reg", 1.0, "weight of the L1 penalty"),
            setting("l2_reg", 1.0, "weight of the L2 penalty"),
            setting("max_iters", 100, "highest number of steps of coordinate descent for an item"),
            count_or_none(
                "max_nbrs", "highest number of items that an item is predicted from, chosen by cosine; 0 for all"
            ),
        ),
        cite="Ning & Karypis (2011), ICDM",
    ),
    Scorer(
        "lenskit.als.BiasedMFScorer",
        "matrix factorisation of ratings minus biases, by alternating least squares",
        AlternatingLeastSquares,
        (*_ALS, _DAMPING),
        predicts=True,
        cite="Zhou et al. (2008), AAIM",
    ),
    Scorer(
        "lenskit.als.ImplicitMFScorer",
        "weighted matrix factorisation of implicit feedback, by alternating least squares",
        AlternatingLeastSquares,
        (
            *_ALS,
            setting("weight", 40.0, "how much more an observed pair counts than others"),
            setting("use_ratings", False, "whether to weight pairs by their rating", (True, False)),
        ),
        cite="Hu, Koren & Volinsky (2008), ICDM",
    ),
    Scorer(
        "lenskit.funksvd.FunkSVDScorer",
        "matrix factorisation of ratings minus biases, one factor after the other by gradient descent",
        FunkSVD,
        (
            _SIZE,
            setting("epochs", 100, "number of passes over the training rows for each factor"),
            setting("learning_rate", 0.001, "step size of gradient descent"),
            setting("regularization", 0.015, "weight of squared factors"),
            _DAMPING,
            Setting(
                Parameter("range", NONE, 'lowest and highest estimate while learning, such as "1,5", or none'), _range
            ),
        ),
        predicts=True,
        cite="Funk (2006), https://sifter.org/~simon/journal/20061211.html",
    ),
    Scorer(
        "lenskit.sklearn.svd.BiasedSVDScorer",
        "truncated SVD of ratings minus biases",
        BiasedSVD,
        (
            _SIZE,
            _DAMPING,
            setting("algorithm", "randomized", "how the SVD is computed", ("randomized", "arpack")),
            setting("n_iter", 5, "number of power iterations of the randomised SVD"),
        ),
        predicts=True,
    ),
    Scorer(
        "lenskit.sklearn.nmf.NMFScorer",
        "non-negative matrix factorisation of binary interactions",
        NonNegative,
        (
            setting(
                "beta_loss",
                "frobenius",
                "distance between the product and the data",
                ("frobenius", "kullback-leibler", "itakura-saito"),
            ),
            setting("max_iter", 200, "highest number of iterations"),
            count_or_none("embedding_size", "number of latent factors; 0 for the number of items"),
            setting("alpha_W", 0.0, "weight of the regularisation of user factors"),
            Setting(
                Parameter(
                    "alpha_H",
                    "same",
                    "weight of the regularisation of item factors: a number, or same for that of users",
                ),
                _number_or_same,
            ),
            setting("l1_ratio", 0.0, "share of the L1 penalty in the regularisation"),
        ),
        cite="Lee & Seung (2000), NIPS",
    ),
    Scorer(
        "lenskit.flexmf.FlexMFExplicitScorer",
        "matrix factorisation of ratings with biases, with torch",
        FlexMF,
        _flex(0.1, "L2"),
        predicts=True,
        cite="Koren et al. (2009), IEEE Computer",
    ),
    Scorer(
        "lenskit.flexmf.FlexMFImplicitScorer",
        "matrix factorisation that ranks observed above sampled items, with torch",
        FlexMF,
        (
            *_flex(0.01, "AdamW"),
            word_or_none(
                "preset",
                NONE,
                "a model of the literature, whose settings are the defaults of other parameters",
                (NONE, "bpr", "warp", "lightgcn"),
            ),
            setting("loss", "logistic", "loss function", ("logistic", "pairwise", "warp")),
            word_or_none(
                "negative_strategy",
                NONE,
                "how negative items are sampled; none: misranked for the loss warp, else uniform",
                (NONE, "uniform", "popular", "misranked"),
            ),
            setting("negative_count", 1, "number of negative items sampled for each observed item"),
            setting("positive_weight", 1.0, "weight of observed items, with the logistic loss"),
            flag_or("user_bias", NONE, "whether users have biases; none: only with the logistic loss", NONE),
            setting("item_bias", True, "whether items have biases", (True, False)),
            setting("convolution_layers", 0, "number of layers of LightGCN"),
        ),
        cite="Rendle et al. (2009), UAI; Johnson (2014), NIPS workshop; He et al. (2020), SIGIR",
    ),
)
SCORERS: dict[str, Scorer] = {scorer.name: scorer for scorer in _SCORERS}
RANDOM = "lenskit.basic.RandomSelector"


def _make(scorer: Scorer, **values: ParameterValue) -> Recommender:
    return scorer.make(values)


def algorithm_of(scorer: Scorer) -> Algorithm:
    """A scorer as an algorithm under its own name; one with ``feedback`` predicts ratings where that is explicit."""
    by_feedback = any(parameter.name == "feedback" for parameter in scorer.parameters)
    ratings_with = {"feedback": ("explicit",)} if by_feedback else {}
    return own_algorithm(scorer, _make, scorer.path, predicts=scorer.predicts, ratings_with=ratings_with)


def own_algorithms() -> tuple[Algorithm, ...]:
    """All scorers under their own names, and ``RandomSelector``, which needs no scores."""
    selector = Algorithm("RandomSelector", "items in random order, another for each user", RandomOrder, own=RANDOM)
    return *map(algorithm_of, SCORERS.values()), selector
