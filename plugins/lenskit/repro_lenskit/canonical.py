"""The canonical algorithms that LensKit has, and its names for their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from repro.plugin import Algorithm, Parameter, ParameterValue, Recommender
from repro_lenskit.not_personal import RandomOrder
from repro_lenskit.scorers import RANDOM, SCORERS, algorithm_of, ratings_with


@dataclass(frozen=True)
class Mapped:
    """A scorer of LensKit as a canonical algorithm.

    mapping   LensKit's names of canonical parameters; ``damping.user`` is the part ``user`` of ``damping``
    kept      other parameters of LensKit, under its own names
    fixed     parameters that make the scorer this algorithm
    unmapped  canonical parameters that LensKit cannot express
    """

    name: str
    scorer: str
    summary: str
    mapping: Mapping[str, str] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    unmapped: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, object] = field(default_factory=dict)
    cite: str = ""

    def parameters(self) -> tuple[Parameter, ...]:
        own = {parameter.name: parameter for parameter in SCORERS[self.scorer].parameters}
        renamed = ((name, own[path.partition(".")[0]]) for name, path in self.mapping.items())
        mapped = (replace(setting, name=name, meaning=_meaning(name, setting.meaning)) for name, setting in renamed)
        return *mapped, *(own[name] for name in self.kept)

    def make(self, values: Mapping[str, ParameterValue]) -> Recommender:
        own: dict[str, object] = dict(self.fixed)
        for name, value in values.items():
            path, _, part = self.mapping.get(name, name).partition(".")
            if part:
                parts = own.setdefault(path, {})
                assert isinstance(parts, dict)
                parts[part] = value
            else:
                own[path] = value
        return SCORERS[self.scorer].make(own)

    def algorithm(self) -> Algorithm:
        own = algorithm_of(SCORERS[self.scorer])
        return replace(
            own,
            name=self.name,
            summary=self.summary,
            make=partial(_make, self),
            parameters=self.parameters(),
            mapping=self.mapping,
            unmapped=self.unmapped,
            ratings_with=ratings_with(self.parameters()),
            cite=self.cite or own.cite,
        )


def _make(mapped: Mapped, **values: ParameterValue) -> Recommender:
    return mapped.make(values)


def _meaning(name: str, meaning: str) -> str:
    """The meaning of a parameter; a canonical damping is for users or for items, and LensKit's for both."""
    side = name.partition("_")[0]
    return meaning.replace("user and item", side) if name.endswith("_damping") else meaning


_DAMPINGS = {"user_damping": "damping.user", "item_damping": "damping.item"}
_FACTORS = {"factors": "embedding_size", "epochs": "epochs", "regularisation": "regularization"}
_DESCENT = _FACTORS | {"learning_rate": "learning_rate"}
_SOLVED = {"learning_rate": "there are no steps: each side is solved for"}
_NEIGHBOURS = {"k": "max_nbrs", "min_neighbours": "min_nbrs"}
_NOT_WEIGHTED = {
    "shrinkage": "similarities are not shrunk",
    "min_overlap": "one common rating is enough; min_sim is the lowest similarity",
}

_MAPPED = (
    Mapped("popularity", "PopScorer", "popularity of the item, by default as a quantile", kept=("score",)),
    Mapped("bias", "BiasScorer", "overall mean plus damped item and user bias", _DAMPINGS, ("entities",)),
    Mapped(
        "user-knn",
        "UserKNNScorer",
        "mean-centred ratings of the most similar users; predicts ratings with explicit feedback",
        _NEIGHBOURS,
        ("min_sim", "feedback"),
        {
            "similarity": "cosine of ratings less the user's mean (explicit) or of who has what (implicit)",
            "center": "the user's mean with explicit feedback, nothing with implicit",
            **_NOT_WEIGHTED,
        },
    ),
    Mapped(
        "item-knn",
        "ItemKNNScorer",
        "the user's mean-centred ratings of the most similar items; predicts ratings with explicit feedback",
        _NEIGHBOURS,
        ("min_sim", "save_nbrs", "feedback"),
        {
            "similarity": "cosine of ratings less the item's mean (explicit) or of who has what (implicit)",
            "center": "the item's mean with explicit feedback, nothing with implicit",
            **_NOT_WEIGHTED,
        },
    ),
    Mapped(
        "biased-mf",
        "BiasedMFScorer",
        "matrix factorisation of ratings minus biases, by alternating least squares; the regularisation of a user or "
        "item is multiplied by the number of ratings",
        _FACTORS | _DAMPINGS,
        ("user_embeddings",),
        _SOLVED,
    ),
    Mapped(
        "implicit-als",
        "ImplicitMFScorer",
        "weighted matrix factorisation of implicit feedback, by alternating least squares",
        _FACTORS | {"alpha": "weight"},
        ("use_ratings", "user_embeddings"),
    ),
    Mapped(
        "bpr",
        "FlexMFImplicitScorer",
        "matrix factorisation with the pairwise loss, with torch and without biases",
        _DESCENT,
        ("batch_size", "reg_method", "negative_strategy", "negative_count"),
        fixed={"preset": "bpr"},
        cite="Rendle et al. (2009), UAI",
    ),
    Mapped(
        "logistic-mf",
        "FlexMFImplicitScorer",
        "matrix factorisation with biases and the logistic loss, with torch; negative items are sampled",
        _DESCENT,
        ("batch_size", "reg_method", "negative_strategy", "negative_count", "positive_weight"),
        fixed={"loss": "logistic"},
        cite="Johnson (2014), NIPS workshop",
    ),
    Mapped(
        "nmf",
        "NMFScorer",
        "non-negative matrix factorisation of binary interactions (ratings are ignored), by coordinate descent",
        {"factors": "embedding_size", "epochs": "max_iter", "regularisation": "alpha_W"},
        ("alpha_H", "l1_ratio", "beta_loss"),
        {"learning_rate": "coordinate descent has no step"},
    ),
    Mapped(
        "ease",
        "EASEScorer",
        "linear item-item model without a diagonal, in single precision",
        {"regularisation": "regularization"},
    ),
    Mapped(
        "slim",
        "SLIMScorer",
        "sparse linear item-item model, by coordinate descent",
        {"l1": "l1_reg", "l2": "l2_reg"},
        ("max_iters", "max_nbrs"),
    ),
)


def canonical_algorithms() -> tuple[Algorithm, ...]:
    """The canonical algorithms that LensKit has."""
    random = Algorithm("random", "items in random order, another for each user", RandomOrder, own=RANDOM)
    return random, *(mapped.algorithm() for mapped in _MAPPED)
