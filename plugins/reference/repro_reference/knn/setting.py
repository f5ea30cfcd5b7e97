"""A setting of the decisions of nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass

from repro_reference.checks import at_least, one_of
from repro_reference.knn.similarity import KINDS, OVER, SHRINK
from repro_reference.knn.weighting import DOCUMENTS, IDF, INPUTS, LENGTHS, TF, VALUES

AUTO = "auto"
CENTERS = ("none", "mean", "other-mean", "overall-mean", "z-score", "baseline")
CONTRIBUTIONS = ("ratings", "ones")
DEVIATIONS = ("one", "overall")
DIVISORS = ("sum", "absolute", "count")
FALLBACKS = ("unscored", "zero", "center", "center-for-all", "overall-mean")
ITSELF = ("no", "computed", "one")
NEAREST = ("highest", "absolute")
NEIGHBOURHOODS = ("rated", "all", "neighbour")
POOLS = ("target", "neighbour")
SHARES = ("no", "target", "neighbour")
TIES = ("lower", "higher", "any")

_OPTIONS = {
    "similarity": KINDS,
    "center": CENTERS,
    "deviation": DEVIATIONS,
    "neighbourhood": NEIGHBOURHOODS,
    "pool_of": POOLS,
    "input": INPUTS,
    "values": VALUES,
    "tf": TF,
    "idf": IDF,
    "documents": DOCUMENTS,
    "length": LENGTHS,
    "over": OVER,
    "shrink": SHRINK,
    "nearest": NEAREST,
    "itself": ITSELF,
    "ties": TIES,
    "contributions": CONTRIBUTIONS,
    "divisor": DIVISORS,
    "shares": SHARES,
    "fallback": FALLBACKS,
}
_LEAST = {
    "k": 1,
    "pool": 0,
    "min_overlap": 1,
    "min_neighbours": 1,
    "min_similarity": 0,
    "user_damping": 0,
    "item_damping": 0,
    "epochs": 1,
    "alpha": 0,
    "beta": 0,
    "k1": 0,
    "b": 0,
    "shrinkage": 0,
    "amplify": 0,
    "similarity_epsilon": 0,
    "divisor_epsilon": 0,
}


@dataclass(kw_only=True, eq=False)
class Setting:
    """The parameters; :mod:`repro_reference.knn.parameters` says what each means."""

    k: int = 20
    similarity: str = "cosine"
    normalise: bool | str = AUTO
    center: str = "none"
    user_damping: float = 0.0
    item_damping: float = 0.0
    epochs: int = 1
    deviation: str = "one"
    shrinkage: float = 0.0
    shrink: str = "product"
    min_overlap: int = 1
    min_neighbours: int = 1
    min_similarity: float = 0.0
    neighbourhood: str = "rated"
    pool: int = 0
    pool_of: str = "target"
    input: str = "ratings"
    values: str = "ratings"
    tf: str = "root"
    idf: str = "one-more"
    documents: str = "compared"
    length: str = "sum"
    k1: float = 100.0
    b: float = 0.8
    positive: bool = False
    over: str = "all"
    alpha: float = 0.5
    beta: float = 0.5
    similarity_epsilon: float = 0.0
    amplify: float = 1.0
    negatives: bool = False
    nearest: str = "highest"
    itself: str = "no"
    ties: str = "lower"
    contributions: str = "ratings"
    divisor: str = "sum"
    divisor_epsilon: float = 0.0
    shares: str = "no"
    fallback: str = "unscored"

    def __post_init__(self) -> None:
        one_of(self, **_OPTIONS)
        at_least(self, **_LEAST)
        if isinstance(self.normalise, str):
            one_of(self, normalise=(AUTO,))
