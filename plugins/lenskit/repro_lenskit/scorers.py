"""LensKit's scorers under their own names, as a table: parameters and defaults are LensKit's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from repro.errors import PluginError
from repro.plugin import Algorithm, Parameter, ParameterValue, Recommender
from repro.plugin.api.adapting import own_algorithm
from repro_lenskit.called import CalledForEachUser, KnownRatings
from repro_lenskit.configuration import NONE, Setting, component, count_or_none, flag_or, setting, word_or_none
from repro_lenskit.factors import AlternatingLeastSquares, BiasedSVD, FlexMF, FunkSVD, NonNegative
from repro_lenskit.item_weights import Dense, Sparse
from repro_lenskit.not_personal import Bias, Popularity, RandomOrder, RecentPopularity


@dataclass(frozen=True)
class Scorer:
    """A scorer of LensKit.

    path      its class
    adapter   the recommender that trains it and reads its scores
    predicts  whether its scores are ratings (nearest neighbours: with explicit feedback, the default)
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
        """A recommender with these values of LensKit's own parameters, and its defaults for others."""
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
    "the share of all ratings that items up to this one have, of equally popular items one after the other; the "
    "rank; or how many ratings the item has",
    _POPULARITY,
)
_FEEDBACK = setting(
    "feedback",
    "explicit",
    "explicit: mean-centred ratings, averaged; implicit: who has what, similarities added up",
    ("explicit", "implicit"),
)
_NEIGHBOURS = (
    setting("max_nbrs", 20, "most neighbours for a score"),
    setting("min_nbrs", 1, "fewest neighbours for a score"),
    setting("min_sim", 1e-6, "lowest similarity of a neighbour"),
)
_SIZE = setting("embedding_size", 50, "how many factors")
_DAMPING = setting("damping", 5.0, "imagined ratings without bias added to those of each user and item")
_ALS = (
    _SIZE,
    setting("epochs", 10, "how often both sides are solved for"),
    setting("regularization", 0.1, "weight of squared factors"),
    flag_or(
        "user_embeddings",
        "true",
        "prefer: the user's vector of training; otherwise it is solved for anew from the user's training rows",
        "prefer",
    ),
)


def _flex(regularization: float, method: str) -> tuple[Setting, ...]:
    return (
        setting("embedding_size", 64, "how many factors"),
        setting("batch_size", 8192, "rows at a time"),
        setting("learning_rate", 0.01, "the step of gradient descent"),
        setting("epochs", 10, "how often the training rows are gone through"),
        setting("regularization", regularization, "weight of the regularisation"),
        word_or_none("reg_method", method, "weight decay, squared norms, or nothing", ("AdamW", "L2", NONE)),
    )


_SCORERS = (
    Scorer("lenskit.basic.PopScorer", "how popular the item is", Popularity, (_SCORE,)),
    Scorer(
        "lenskit.basic.popularity.TimeBoundedPopScore",
        "how popular the item has been since a point in time",
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
                Parameter("entities", "user,item", "who has biases", ("user,item", "user", "item", NONE)), _entities
            ),
            setting("damping", 0.0, "imagined ratings without bias added to those of each user and item"),
        ),
        predicts=True,
        cite="Koren (2010), ACM TKDD 4(1)",
    ),
    Scorer(
        "lenskit.basic.history.KnownRatingScorer",
        "the training rating of what the user has rated",
        KnownRatings,
        (
            word_or_none(
                "score",
                NONE,
                "the rating; 1 or 0; none: ratings where there are any, else 1",
                (NONE, "rating", "indicator"),
            ),
        ),
    ),
    Scorer(
        "lenskit.knn.ItemKNNScorer",
        "the user's ratings of similar items",
        CalledForEachUser,
        (
            *_NEIGHBOURS,
            count_or_none("save_nbrs", "most neighbours kept of each item; 0 keeps all"),
            _FEEDBACK,
            setting("block_size", 250, "items whose similarities are computed together; changes no score"),
        ),
        predicts=True,
        cite="Deshpande & Karypis (2004), ACM TOIS 22(1)",
    ),
    Scorer(
        "lenskit.knn.UserKNNScorer",
        "ratings of similar users",
        CalledForEachUser,
        (*_NEIGHBOURS, _FEEDBACK),
        predicts=True,
        cite="Herlocker et al. (1999), SIGIR",
    ),
    Scorer(
        "lenskit.knn.EASEScorer",
        "linear item-item model without a diagonal",
        Dense,
        (setting("regularization", 1.0, "weight of squared weights"),),
        cite="Steck (2019), WWW",
    ),
    Scorer(
        "lenskit.knn.SLIMScorer",
        "sparse linear item-item model",
        Sparse,
        (
            setting("l1_reg", 1.0, "weight of absolute weights"),
            setting("l2_reg", 1.0, "weight of squared weights"),
            setting("max_iters", 100, "most steps of coordinate descent for an item"),
            count_or_none("max_nbrs", "most items that an item is predicted from, by cosine; 0 for all"),
        ),
        cite="Ning & Karypis (2011), ICDM",
    ),
    Scorer(
        "lenskit.als.BiasedMFScorer",
        "factors of what the biases leave, by alternating least squares",
        AlternatingLeastSquares,
        (*_ALS, _DAMPING),
        predicts=True,
        cite="Zhou et al. (2008), AAIM",
    ),
    Scorer(
        "lenskit.als.ImplicitMFScorer",
        "weighted factors of implicit feedback, by alternating least squares",
        AlternatingLeastSquares,
        (
            *_ALS,
            setting("weight", 40.0, "how much more an observed pair counts than others"),
            setting("use_ratings", False, "weigh pairs by their rating", (True, False)),
        ),
        cite="Hu, Koren & Volinsky (2008), ICDM",
    ),
    Scorer(
        "lenskit.funksvd.FunkSVDScorer",
        "factors of what the biases leave, one after the other by gradient descent",
        FunkSVD,
        (
            _SIZE,
            setting("epochs", 100, "how often the training rows are gone through for each factor"),
            setting("learning_rate", 0.001, "the step of gradient descent"),
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
        "truncated SVD of what the biases leave",
        BiasedSVD,
        (
            _SIZE,
            _DAMPING,
            setting("algorithm", "randomized", "how the SVD is computed", ("randomized", "arpack")),
            setting("n_iter", 5, "power iterations of the randomised SVD"),
        ),
        predicts=True,
    ),
    Scorer(
        "lenskit.sklearn.nmf.NMFScorer",
        "non-negative factors of who has what",
        NonNegative,
        (
            setting(
                "beta_loss",
                "frobenius",
                "how far the product is from the data",
                ("frobenius", "kullback-leibler", "itakura-saito"),
            ),
            setting("max_iter", 200, "most iterations"),
            count_or_none("embedding_size", "how many factors; 0 for as many as there are items"),
            setting("alpha_W", 0.0, "weight of the regularisation of users"),
            Setting(Parameter("alpha_H", "same", "that of items: a number, or same"), _number_or_same),
            setting("l1_ratio", 0.0, "share of absolute values in the regularisation"),
        ),
        cite="Lee & Seung (2000), NIPS",
    ),
    Scorer(
        "lenskit.flexmf.FlexMFExplicitScorer",
        "factors and biases fitted to ratings with torch",
        FlexMF,
        _flex(0.1, "L2"),
        predicts=True,
        cite="Koren et al. (2009), IEEE Computer",
    ),
    Scorer(
        "lenskit.flexmf.FlexMFImplicitScorer",
        "factors that tell what the user has from what is drawn, with torch",
        FlexMF,
        (
            *_flex(0.01, "AdamW"),
            word_or_none(
                "preset", NONE, "a model of the literature, for what is not stated", (NONE, "bpr", "warp", "lightgcn")
            ),
            setting("loss", "logistic", "what is minimised", ("logistic", "pairwise", "warp")),
            word_or_none(
                "negative_strategy",
                NONE,
                "how items that the user does not have are drawn; none: misranked for warp, else uniform",
                (NONE, "uniform", "popular", "misranked"),
            ),
            setting("negative_count", 1, "how many are drawn for each that the user has"),
            setting("positive_weight", 1.0, "weight of what the user has, with the logistic loss"),
            flag_or("user_bias", NONE, "whether users have biases; none: with the logistic loss", NONE),
            setting("item_bias", True, "whether items have biases", (True, False)),
            setting("convolution_layers", 0, "layers of LightGCN"),
        ),
        cite="Rendle et al. (2009), UAI; Johnson (2014), NIPS workshop; He et al. (2020), SIGIR",
    ),
)
SCORERS: dict[str, Scorer] = {scorer.name: scorer for scorer in _SCORERS}
RANDOM = "lenskit.basic.RandomSelector"


def _make(scorer: Scorer, **values: ParameterValue) -> Recommender:
    return scorer.make(values)


def ratings_with(parameters: tuple[Parameter, ...]) -> dict[str, tuple[ParameterValue, ...]]:
    """The values of parameters that make a scorer's scores predicted ratings."""
    return {"feedback": ("explicit",)} if any(parameter.name == "feedback" for parameter in parameters) else {}


def algorithm_of(scorer: Scorer) -> Algorithm:
    """The scorer under its own name."""
    fields = {"predicts": scorer.predicts, "ratings_with": ratings_with(scorer.parameters)}
    return own_algorithm(scorer, _make, scorer.path, **fields)


def own_algorithms() -> tuple[Algorithm, ...]:
    """Every scorer under its own name, and the selector that needs no scores."""
    selector = Algorithm("RandomSelector", "items in random order, another for each user", RandomOrder, own=RANDOM)
    return *map(algorithm_of, SCORERS.values()), selector
