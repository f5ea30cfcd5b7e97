"""Surprise's classes as algorithms, under canonical names and under their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from repro.errors import PluginError
from repro.plugin import Algorithm, Parameter, ParameterValue
from repro.plugin.api.adapting import own_algorithm
from repro.plugin.api.canonical import CANONICAL
from repro_surprise.classes import CLASSES, SurpriseClass, own_name
from repro_surprise.in_turn import DrawnInTurn
from repro_surprise.recommender import SurpriseRecommender

CENTERS = {"none": "KNNBasic", "mean": "KNNWithMeans", "baseline": "KNNBaseline", "z-score": "KNNWithZScore"}


@dataclass(frozen=True)
class InSurprise:
    """A class of Surprise as a canonical algorithm.

    name      the canonical name
    of        the name of the class
    mapping   the parameters of the class that each canonical parameter sets
    fixed     parameters of the class that follow from the canonical name, or have no effect with it
    unmapped  canonical parameters that the class does not have, and what it does instead
    """

    name: str
    of: str
    mapping: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fixed: Mapping[str, ParameterValue] = field(default_factory=dict)
    unmapped: Mapping[str, str] = field(default_factory=dict)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The canonical parameters with Surprise's defaults, and the other ones of the class."""
        own = {parameter.name: parameter for parameter in CLASSES[self.of].parameters}
        hidden = {name for names in self.mapping.values() for name in names} | self.fixed.keys()
        mapped = [
            replace(own[names[0]], name=name, meaning=CANONICAL[self.name].parameters[name])
            for name, names in self.mapping.items()
        ]
        return (*mapped, *(parameter for parameter in own.values() if parameter.name not in hidden))

    def own_parameters(self, parameters: Mapping[str, ParameterValue]) -> dict[str, ParameterValue]:
        """The parameters of the class, from canonical ones."""
        own = {name: value for name, value in parameters.items() if name not in self.mapping}
        own |= {name: parameters[canonical] for canonical, names in self.mapping.items() for name in names}
        return own | dict(self.fixed)

    @property
    def known_as(self) -> dict[str, str]:
        """The canonical name of each parameter of the class."""
        return {name: canonical for canonical, names in self.mapping.items() for name in names}


_SGD = {
    "factors": ("n_factors",),
    "epochs": ("n_epochs",),
    "learning_rate": ("lr_all",),
    "regularisation": ("reg_all",),
}
_SHRINKAGE = "pearson_baseline alone is shrunk, by (n - 1) / (n - 1 + sim_shrinkage); other similarities are not"


def _knn(name: str, user_based: bool) -> InSurprise:
    return InSurprise(
        name,
        "KNNBasic",
        {"k": ("k",), "similarity": ("sim_name",), "min_overlap": ("sim_min_support",), "min_neighbours": ("min_k",)},
        fixed={"sim_user_based": user_based},
        unmapped={"shrinkage": _SHRINKAGE},
    )


_KNN = (_knn("user-knn", True), _knn("item-knn", False))
_OTHERS = (
    InSurprise("random", "NormalPredictor"),
    InSurprise(
        "bias",
        "BaselineOnly",
        {"user_damping": ("bsl_reg_u",), "item_damping": ("bsl_reg_i",)},
        fixed={"bsl_method": "als", "bsl_reg": 0.02, "bsl_learning_rate": 0.005},
    ),
    InSurprise("biased-mf", "SVD", _SGD, fixed={"biased": True}),
    InSurprise("svd++", "SVDpp", _SGD),
    InSurprise(
        "nmf",
        "NMF",
        {"factors": ("n_factors",), "epochs": ("n_epochs",), "regularisation": ("reg_pu", "reg_qi")},
        unmapped={
            "learning_rate": "factors are updated by multiplication, whose step follows from the data; biases have "
            "lr_bu and lr_bi"
        },
    ),
    InSurprise("slope-one", "SlopeOne"),
    InSurprise(
        "co-clustering",
        "CoClustering",
        {"user_clusters": ("n_cltr_u",), "item_clusters": ("n_cltr_i",), "epochs": ("n_epochs",)},
    ),
)
_CENTER = Parameter(
    "center",
    "none",
    "what is subtracted from ratings before, and added after: nothing, the mean of the user (user-knn) or item "
    "(item-knn), the baseline, or the mean in standard deviations",
    tuple(CENTERS),
)


def algorithms() -> tuple[Algorithm, ...]:
    """Those with canonical names first."""
    return (
        *map(_declare, _OTHERS),
        *map(_declare_knn, _KNN),
        *map(_own, CLASSES.values()),
        Algorithm(
            "NormalPredictor-in-turn",
            "NormalPredictor as cross_validate has it: NumPy's generator, seeded once before the first of the folds of "
            "KFold, and one draw after the other for the held-out rows in the order of the splitter",
            DrawnInTurn,
            DrawnInTurn.PARAMETERS,
            own="NormalPredictor",
            predicts=True,
        ),
    )


def _own(of: SurpriseClass) -> Algorithm:
    return own_algorithm(of, _make_own, of.name, predicts=True)


def _declare(canonical: InSurprise) -> Algorithm:
    own = _own(CLASSES[canonical.of])
    return replace(
        own,
        name=canonical.name,
        make=partial(_make, canonical),
        parameters=canonical.parameters,
        mapping={name: ", ".join(map(own_name, names)) for name, names in canonical.mapping.items()},
        unmapped=dict(canonical.unmapped),
        cite=CANONICAL[canonical.name].cite or own.cite,
    )


def _declare_knn(canonical: InSurprise) -> Algorithm:
    """Nearest neighbours, for which Surprise has a class for each center."""
    declared = _declare(canonical)
    classes = " / ".join(CENTERS.values())
    return replace(
        declared,
        summary="ratings of the nearest neighbours",
        make=partial(_make_knn, canonical),
        parameters=(*declared.parameters[:2], _CENTER, *declared.parameters[2:]),
        own=classes,
        mapping={**declared.mapping, "center": classes},
    )


def _make_own(of: SurpriseClass, **parameters: ParameterValue) -> SurpriseRecommender:
    return SurpriseRecommender(of, _defaults(of.parameters) | parameters)


def _make(canonical: InSurprise, **parameters: ParameterValue) -> SurpriseRecommender:
    own = canonical.own_parameters(_defaults(canonical.parameters) | parameters)
    return SurpriseRecommender(CLASSES[canonical.of], own, canonical.known_as)


def _make_knn(canonical: InSurprise, *, center: str = "none", **parameters: ParameterValue) -> SurpriseRecommender:
    if center not in CENTERS:
        raise PluginError(f"center = {center!r} is not known; give one of {', '.join(CENTERS)}")
    return _make(replace(canonical, of=CENTERS[center]), **parameters)


def _defaults(parameters: tuple[Parameter, ...]) -> dict[str, ParameterValue]:
    return {parameter.name: parameter.default for parameter in parameters}
