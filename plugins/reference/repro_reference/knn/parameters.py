"""The parameters of nearest neighbours, with the meaning of their choices."""

from __future__ import annotations

from repro.plugin import Choice, Parameter
from repro.protocol.decision import When
from repro_reference.knn.inputs import input_parameters
from repro_reference.knn.setting import AUTO
from repro_reference.knn.users import Used

_SARWAR = "Sarwar, Karypis, Konstan & Riedl (2001), WWW, doi:10.1145/371920.372071"
_HERLOCKER = "Herlocker, Konstan & Riedl (2002), Information Retrieval 5(4), doi:10.1023/A:1020443909834"
_KOREN = "Koren (2010), ACM TKDD 4(1), doi:10.1145/1644873.1644874"
_CREMONESI = "Cremonesi, Koren & Turrin (2010), RecSys, doi:10.1145/1864708.1864721"
_DESHPANDE = "Deshpande & Karypis (2004), ACM TOIS 22(1), doi:10.1145/963770.963776"
_AIOLLI = "Aiolli (2013), RecSys, doi:10.1145/2507157.2507189"
_BREESE = "Breese, Heckerman & Kadie (1998), UAI"
_NORMALISED = When("normalise", (AUTO, True))


def parameters(by_items: bool) -> tuple[Parameter, ...]:
    """Those of item-knn, or of user-knn."""
    used = Used(by_items)
    return (
        Parameter("k", 20, "how many neighbours take part", probe=3),
        _similarity(used),
        Parameter(
            "normalise",
            AUTO,
            "divide by the sum of similarities; if not, the score is not a rating; auto: where the training ratings "
            "differ",
            choices=(
                Choice(
                    AUTO,
                    "divided where the training ratings differ, not divided where all are equal",
                    "sum s r / sum s or sum s r",
                ),
                Choice(True, "divided", "sum s r / sum s", _SARWAR, used("surprise", "lenskit", "cornac")),
                Choice(
                    False,
                    "not divided",
                    "sum s r",
                    _CREMONESI,
                    used("lenskit", "recbole", "implicit", "rectools", "recpack"),
                ),
            ),
        ),
        *_centers(used),
        *_support(used),
        *_neighbourhoods(used),
        *input_parameters(used),
        *_details(used),
        *_neighbours(used),
        *_sums(used),
    )


def _similarity(used: Used) -> Parameter:
    return Parameter(
        "similarity",
        "cosine",
        "how alike two rows are",
        choices=(
            Choice(
                "cosine",
                "the cosine of the angle between two rows; of centred input the adjusted cosine, or a correlation with "
                "means of whole rows",
                "sum_c xy / sqrt(sum x^2 sum y^2)",
                _SARWAR,
                used("surprise", "lenskit", "cornac", "recbole", "implicit", "rectools", "recpack"),
            ),
            Choice(
                "pearson",
                "the correlation over common columns, with the means of these",
                "sum_c (x - mx)(y - my) / sqrt(sum_c (x - mx)^2 sum_c (y - my)^2), mx and my over c",
                _HERLOCKER,
                used("surprise"),
            ),
            Choice("dot", "the inner product", "sum_c xy", _DESHPANDE, used(item=("implicit", "rectools"))),
            Choice(
                "projection",
                "the length of the projection of the target on its neighbour",
                "sum_c xy / sqrt(sum y^2)",
                used_by=used(user=("lenskit",)),
            ),
            Choice(
                "msd",
                "from the mean squared difference of common columns",
                "1 / (1 + sum_c (x - y)^2 / n)",
                "Shardanand & Maes (1995), CHI",
                used("surprise"),
            ),
            Choice("jaccard", "common columns over those that either row has", "n / (|a| + |b| - n)", "Jaccard (1912)"),
            Choice("dice", "common columns over the mean number of columns", "2 n / (|a| + |b|)", "Dice (1945)"),
            Choice(
                "tversky",
                "common columns over these and weighted other ones",
                "n / (n + alpha (|a| - n) + beta (|b| - n))",
                "Tversky (1977), Psychological Review 84(4)",
            ),
            Choice(
                "asymmetric-cosine",
                "the cosine with unequal powers of the two norms",
                "sum_c xy / ((sum x^2)^alpha (sum y^2)^(1 - alpha))",
                _AIOLLI,
            ),
            Choice(
                "conditional",
                "the probability of the target given the neighbour, over a power of the target's frequency",
                "n / (|b| |a|^alpha)",
                _DESHPANDE,
                used(item=("recpack",)),
            ),
            Choice(
                "conditional-values",
                "conditional, with the values of the target instead of the number of common columns",
                "sum_c x / (|b| |a|^alpha)",
                _DESHPANDE,
                used(item=("recpack",)),
            ),
            Choice(
                "pearson-zeros",
                "the correlation over all columns, missing values as zero; rows without common ones are no neighbours",
                "(C sum_c xy - sum x sum y) / sqrt((C sum x^2 - (sum x)^2)(C sum y^2 - (sum y)^2))",
                "Gunawardana & Shani (2009), JMLR 10, section 6.2.2",
            ),
        ),
    )


def _centers(used: Used) -> tuple[Parameter, ...]:
    own, other = ("item", "user") if used.by_items else ("user", "item")
    return (
        Parameter(
            "center",
            "none",
            "what is subtracted from ratings before, and added after",
            choices=(
                Choice(
                    "none",
                    "nothing",
                    "sum s r",
                    _SARWAR,
                    used("surprise", "lenskit", "recbole", "implicit", "rectools", "recpack"),
                ),
                Choice(
                    "mean",
                    f"the mean rating of the {own}",
                    f"m({own}) + sum s (r - m({own}'))",
                    "Resnick, Iacovou, Suchak, Bergstrom & Riedl (1994), CSCW, doi:10.1145/192844.192905",
                    used("surprise", "lenskit", user=("cornac",)),
                ),
                Choice(
                    "other-mean",
                    f"the mean rating of the {other}",
                    f"m({other}) + sum s (r - m({other}'))",
                    used_by=used(item=("cornac",)),
                ),
                Choice("overall-mean", "the mean of all ratings", "m + sum s (r - m)"),
                Choice(
                    "z-score",
                    f"the mean of the {own}, in units of its standard deviation",
                    "m(a) + d(a) sum s (r - m(b)) / d(b)",
                    _HERLOCKER,
                    used("surprise"),
                ),
                Choice(
                    "baseline",
                    "the baseline of the algorithm bias",
                    "b(u, i) + sum s (r - b)",
                    _KOREN,
                    used("surprise"),
                ),
            ),
        ),
        Parameter(
            "user_damping", 0.0, "damping of the user biases of center 'baseline' and input 'residuals'", neutral=0.0
        ),
        Parameter(
            "item_damping", 0.0, "damping of the item biases of center 'baseline' and input 'residuals'", neutral=0.0
        ),
        Parameter("epochs", 1, "epochs of both biases of center 'baseline' and input 'residuals'", neutral=1),
        Parameter(
            "deviation",
            "one",
            "what a standard deviation of 0 is replaced by",
            when=(When("center", ("z-score",)),),
            choices=(
                Choice("one", "1", "d = 1"),
                Choice("overall", "the standard deviation of all ratings", "d = sd of all r", used_by=used("surprise")),
            ),
        ),
    )


def _support(used: Used) -> tuple[Parameter, ...]:
    return (
        Parameter(
            "shrinkage",
            0.0,
            "how much similarities of few common ratings are lowered; see 'shrink'",
            neutral=0.0,
            probe=2.5,
        ),
        Parameter(
            "shrink",
            "product",
            "how shrinkage lowers a similarity",
            when=(When("shrinkage", above=0.0),),
            choices=(
                Choice("product", "by the number of common ratings", "s' = s n / (n + shrinkage)", _CREMONESI),
                Choice(
                    "denominator",
                    "shrinkage is added to the denominator of the similarity",
                    "sum_c xy / (|x| |y| + shrinkage)",
                    _AIOLLI,
                    used("recbole"),
                ),
                Choice(
                    "less-one",
                    "by the number of common ratings less one",
                    "s' = s (n - 1) / (n - 1 + shrinkage)",
                    _KOREN,
                    used("surprise"),
                ),
                Choice(
                    "significance",
                    "significance weighting: in proportion to common ratings, up to a number of them",
                    "s' = s min(n, shrinkage) / shrinkage",
                    _HERLOCKER,
                ),
            ),
        ),
        Parameter("min_overlap", 1, "fewest common ratings for a similarity", neutral=1, probe=2),
        Parameter("min_neighbours", 1, "fewest neighbours for a score", neutral=1, probe=2),
        Parameter("min_similarity", 0.0, "lowest similarity of a neighbour", neutral=0.0),
    )


def _neighbourhoods(used: Used) -> tuple[Parameter, ...]:
    return (
        Parameter(
            "neighbourhood",
            "rated",
            "among which neighbours the k nearest are sought",
            choices=(
                Choice(
                    "rated",
                    "those that have a rating for the pair, for each pair",
                    "k nearest b with a rating",
                    cite=_HERLOCKER,
                    used_by=used("surprise", "lenskit", "cornac"),
                ),
                Choice(
                    "all",
                    "all, once for each target; those of them that have a rating for the pair take part",
                    "b of the k nearest of a, with a rating",
                    cite=_SARWAR,
                    used_by=used("recbole"),
                ),
                Choice(
                    "neighbour",
                    "the other way round: each neighbour takes part for the k targets that are most similar to it",
                    "b with a rating, a of the k nearest of b",
                    cite=_DESHPANDE,
                    used_by=used(item=("implicit", "rectools", "recpack")),
                ),
            ),
        ),
        Parameter(
            "pool",
            0,
            "how many of the nearest of all are candidates; 0: all of them",
            when=(When("neighbourhood", ("rated",)),),
            neutral=0,
            probe=4,
        ),
        Parameter(
            "pool_of",
            "target",
            "of whom the candidates are the nearest",
            when=(When("neighbourhood", ("rated",)), When("pool", above=0)),
            choices=(
                Choice("target", "of the target", "b of the nearest of a"),
                Choice(
                    "neighbour",
                    "of the neighbour: it is a candidate for the targets that are most similar to it",
                    "a of the nearest of b",
                    used_by=used(item=("lenskit",)),
                ),
            ),
        ),
    )


def _details(used: Used) -> tuple[Parameter, ...]:
    powers = ("tversky", "asymmetric-cosine", "conditional", "conditional-values")
    return (
        Parameter(
            "over",
            "all",
            "the norms of the cosine",
            when=(When("similarity", ("cosine",)),),
            choices=(
                Choice(
                    "all",
                    "of all entries of a row",
                    "sum x^2 over the row",
                    _SARWAR,
                    used("lenskit", "recbole", "implicit", "rectools", "recpack"),
                ),
                Choice("common", "of entries in common columns", "sum_c x^2", used_by=used("surprise", "cornac")),
            ),
        ),
        Parameter(
            "alpha",
            0.5,
            "of tversky, asymmetric-cosine and the conditional ones",
            when=(When("similarity", powers),),
            probe=0.3,
        ),
        Parameter("beta", 0.5, "of tversky", when=(When("similarity", ("tversky",)),), probe=0.8),
        Parameter(
            "similarity_epsilon",
            0.0,
            "is added to the denominator of the similarity, so that it is not 0",
            choices=(
                Choice(0.0, "nothing", "sum_c xy / (|x| |y|)"),
                Choice(1e-6, "a millionth", "sum_c xy / (|x| |y| + 1e-6)", used_by=used("recbole")),
            ),
            neutral=0.0,
        ),
        Parameter(
            "amplify", 1.0, "power of the absolute value of similarities (case amplification)", neutral=1.0, probe=2.5
        ),
    )


def _neighbours(used: Used) -> tuple[Parameter, ...]:
    positive = ("surprise", "lenskit", "recbole", "implicit", "rectools", "recpack")
    return (
        Parameter(
            "negatives",
            False,
            "whether negative similarities take part",
            choices=(
                Choice(False, "no", "s > 0", _HERLOCKER, used(*positive)),
                Choice(True, "yes", "s != 0", _BREESE, used("cornac")),
            ),
        ),
        Parameter(
            "nearest",
            "highest",
            "which neighbours are the nearest",
            when=(When("negatives", (True,)),),
            choices=(
                Choice("highest", "those with the highest similarity", "order by s", used_by=used("cornac")),
                Choice("absolute", "those with the highest absolute similarity", "order by |s|", _HERLOCKER),
            ),
        ),
        Parameter(
            "itself",
            "no",
            "whether a user or item is among its own neighbours, which affects scores of training pairs",
            choices=(
                Choice("no", "no", "s(a, a) = 0", _DESHPANDE, used("lenskit", "recbole", "recpack")),
                Choice(
                    "computed",
                    "with the similarity of the formula",
                    "s(a, a), such as 1 for the cosine",
                    used_by=used("cornac", "implicit", "rectools"),
                ),
                Choice("one", "with a similarity of 1", "s(a, a) = 1", used_by=used("surprise")),
            ),
        ),
        Parameter(
            "ties",
            "lower",
            "which of equally similar neighbours is nearer",
            choices=(
                Choice("lower", "that with the lower id", "order by s, then by id"),
                Choice("higher", "that with the higher id", "order by s, then by id from the last"),
                Choice(
                    "any",
                    "not defined: computed with the lower id, and scores that depend on it are not compared",
                    "order by s",
                    used_by=used(item=("implicit", "rectools", "recpack", "recbole"), user=("recbole",)),
                ),
            ),
        ),
    )


def _sums(used: Used) -> tuple[Parameter, ...]:
    return (
        Parameter(
            "contributions",
            "ratings",
            "what neighbours contribute",
            choices=(
                Choice(
                    "ratings",
                    "their ratings",
                    "sum s r",
                    _SARWAR,
                    used("surprise", "lenskit", "cornac", "implicit", "rectools"),
                ),
                Choice(
                    "ones",
                    "ones: similarities are added up",
                    "sum s",
                    _DESHPANDE,
                    used("lenskit", "recbole", "recpack"),
                ),
            ),
        ),
        Parameter(
            "divisor",
            "sum",
            "what normalised sums are divided by",
            when=(_NORMALISED,),
            choices=(
                Choice("sum", "the sum of similarities", "sum s r / sum s", used_by=used("surprise", "lenskit")),
                Choice("absolute", "the sum of their absolute values", "sum s r / sum |s|", _SARWAR, used("cornac")),
                Choice("count", "the number of neighbours that take part", "sum s r / |N|"),
            ),
        ),
        Parameter(
            "divisor_epsilon",
            0.0,
            "is added to what sums are divided by, so that it is not 0",
            when=(_NORMALISED,),
            choices=(
                Choice(0.0, "nothing", "sum s r / sum |s|"),
                Choice(1e-8, "1e-8", "sum s r / (sum |s| + 1e-8)", used_by=used("cornac")),
            ),
            neutral=0.0,
        ),
        Parameter(
            "shares",
            "no",
            "whether the nearest similarities are divided by the sum of their absolute values",
            choices=(
                Choice(
                    "no",
                    "they are not",
                    "s(a, b)",
                    _SARWAR,
                    used_by=used("surprise", "lenskit", "cornac", "recbole", "implicit", "rectools"),
                ),
                Choice(
                    "target", "of each target, whether its neighbours have a rating or not", "s(a, b) / sum_b |s(a, b)|"
                ),
                Choice(
                    "neighbour",
                    "of each neighbour, over the targets for which it takes part",
                    "s(a, b) / sum_a |s(a, b)|",
                    _DESHPANDE,
                    used(item=("recpack",)),
                ),
            ),
        ),
        Parameter(
            "fallback",
            "unscored",
            "what the score of a known user and item is where there are too few neighbours",
            choices=(
                Choice("unscored", "there is none", "none", used_by=used("lenskit", "implicit", "rectools")),
                Choice("zero", "0", "0", _CREMONESI, used("recbole", "recpack")),
                Choice("center", "the center", "b(u, i)", _HERLOCKER, used("cornac", "surprise")),
                Choice(
                    "center-for-all",
                    "the center, also of users and items without ratings",
                    "b(u, i)",
                    used_by=used("surprise"),
                ),
                Choice("overall-mean", "the mean of all ratings", "m", used_by=used("surprise")),
            ),
        ),
    )
