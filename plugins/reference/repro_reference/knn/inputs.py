"""The parameters of what similarities are computed from, with the meaning of their choices."""

from __future__ import annotations

from repro.plugin import Choice, Parameter
from repro.protocol.decision import When
from repro_reference.knn.users import Used

_BREESE = "Breese, Heckerman & Kadie (1998), UAI"
_ROBERTSON = "Robertson & Zaragoza (2009), Foundations and Trends in Information Retrieval 3(4), doi:10.1561/1500000019"
_DESHPANDE = "Deshpande & Karypis (2004), ACM TOIS 22(1), doi:10.1145/963770.963776"
_SARWAR = "Sarwar, Karypis, Konstan & Riedl (2001), WWW, doi:10.1145/371920.372071"
_GUNAWARDANA = "Gunawardana & Shani (2009), JMLR 10, section 6.2.2"
_RARE = When("input", ("tf-idf", "bm25", "bm25-root"))
_BM25 = When("input", ("bm25", "bm25-root"))
_VALUES = When("input", ("log", "tf-idf", "bm25", "bm25-root", "column-shares", "column-unit"))


def input_parameters(used: Used) -> tuple[Parameter, ...]:
    """Those of item-knn, or of user-knn."""
    own, other = ("item", "user") if used.by_items else ("user", "item")
    return (
        Parameter(
            "input",
            "ratings",
            "what similarities are computed from",
            choices=(
                Choice("ratings", "the ratings", "r", _SARWAR, used("surprise", "cornac", "implicit", "rectools")),
                Choice("ones", "1 for each rating", "1", _DESHPANDE, used("lenskit", "recbole", "recpack")),
                Choice(
                    "user-centred",
                    "ratings less the mean of the user; with the cosine of items, the adjusted cosine",
                    "r - m(u)",
                    _SARWAR,
                    used("cornac", user=("lenskit",)),
                ),
                Choice(
                    "item-centred",
                    "ratings less the mean of the item; with the cosine of items, a correlation with whole means",
                    "r - m(i)",
                    used_by=used(item=("lenskit", "cornac")),
                ),
                Choice(
                    "double-centred",
                    "ratings less the mean of the user, then less the mean of the item",
                    "x = r - m(u); x - mean of x of i",
                    used_by=used(item=("cornac",)),
                ),
                Choice(
                    "residuals",
                    "ratings less the baseline of the algorithm bias",
                    "r - b(u, i)",
                    "Koren (2010), ACM TKDD 4(1), doi:10.1145/1644873.1644874",
                    used("surprise"),
                ),
                Choice("log", "the logarithm of 1 more than the value", "log(1 + v)"),
                Choice("tf-idf", "TF-IDF", "tf(v) idf", _BREESE, used("cornac", "implicit", "rectools")),
                Choice(
                    "bm25",
                    "BM25",
                    "v (k1 + 1) / (k1 (1 - b + b L) + v) idf",
                    _ROBERTSON,
                    used(item=("implicit", "rectools")),
                ),
                Choice(
                    "bm25-root",
                    "the rating times the root of the BM25 weight of a single occurrence",
                    "r sqrt((k1 + 1) / (k1 (1 - b + b L) + 1) idf)",
                    used_by=used("cornac"),
                ),
                Choice(
                    "column-shares",
                    f"values over their sum for the {other}",
                    f"v / sum of v of the {other}",
                    _DESHPANDE,
                    used(item=("recpack",)),
                ),
                Choice(
                    "column-unit",
                    f"values over the norm of the {other}",
                    f"v / sqrt(sum of v^2 of the {other})",
                    _DESHPANDE,
                ),
            ),
        ),
        Parameter(
            "values",
            "ratings",
            "the values that are weighted",
            when=(_VALUES,),
            choices=(
                Choice("ratings", "ratings", "v = r", used_by=used("cornac", "implicit", "rectools")),
                Choice("binary", "1 for each rating", "v = 1", used_by=used(item=("implicit", "recpack"))),
            ),
        ),
        Parameter(
            "tf",
            "root",
            "how the value enters TF-IDF",
            when=(When("input", ("tf-idf",)),),
            choices=(
                Choice("root", "its square root", "sqrt(v)", used_by=used(item=("implicit", "rectools"))),
                Choice("raw", "the value", "v", _BREESE, used("cornac")),
                Choice("log", "1 more than its logarithm", "1 + log(v)", _ROBERTSON),
            ),
        ),
        Parameter(
            "idf",
            "one-more",
            f"how rare a term (a column, the {other}) is, with N the number of documents and n that of those with it",
            when=(_RARE,),
            choices=(
                Choice(
                    "one-more",
                    "the logarithm, with one more document with the term",
                    "log N - log(1 + n)",
                    used_by=used(item=("implicit", "rectools")),
                ),
                Choice("plain", "the logarithm", "log(N / n)", _BREESE, used("cornac")),
                Choice("one-and-quotient", "the logarithm, never negative", "log(1 + N / n)"),
                Choice(
                    "root",
                    "the root of the logarithm: similarities are sums of squared weights",
                    "sqrt(log(N / n))",
                    used_by=used("cornac"),
                ),
                Choice(
                    "smooth",
                    "smoothed as in scikit-learn",
                    "log((1 + N) / (1 + n)) + 1",
                    "Pedregosa et al. (2011), JMLR 12",
                ),
                Choice("odds", "the odds, as in BM25", "log(1 + (N - n + 0.5) / (n + 0.5))", _ROBERTSON),
                Choice("none", "1: all terms are alike", "1"),
            ),
        ),
        Parameter(
            "documents",
            "compared",
            "what a document is",
            when=(_RARE,),
            choices=(
                Choice(
                    "compared",
                    f"an {own}" if used.by_items else f"a {own}",
                    "N rows that are compared, n of them with the column",
                    used_by=used(user=("cornac",), item=("implicit", "rectools")),
                ),
                Choice(
                    "columns",
                    f"a {other}" if used.by_items else f"an {other}",
                    "N columns, n of them with the row",
                    used_by=used(item=("cornac",)),
                ),
            ),
        ),
        Parameter(
            "length",
            "sum",
            "the length of a document in BM25",
            when=(_BM25,),
            choices=(
                Choice("sum", "the sum of its values", "sum of v", _ROBERTSON, used(item=("implicit", "rectools"))),
                Choice("count", "the number of its values", "|v|", used_by=used("cornac")),
            ),
        ),
        Parameter("k1", 100.0, "BM25: the higher, the later a higher value counts no more", when=(_BM25,), probe=1.2),
        Parameter("b", 0.8, "BM25: how much less the values of a long document count", when=(_BM25,), probe=0.75),
        Parameter(
            "positive",
            False,
            "whether only entries above 0 count",
            choices=(
                Choice(False, "no: all entries count", "x"),
                Choice(True, "yes: the others are as if there were none", "x > 0", _GUNAWARDANA),
            ),
        ),
    )
