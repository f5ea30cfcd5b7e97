"""RecPack's algorithms under canonical names and under its own, declared from the tables."""

from __future__ import annotations

from functools import partial

from repro.plugin import Algorithm, Parameter, ParameterValue
from repro_recpack.canonical import CANONICAL, Renamed
from repro_recpack.models import MODELS, Model
from repro_recpack.recommender import RecPackRecommender


def algorithms() -> tuple[Algorithm, ...]:
    """All of them, the canonical ones first."""
    renamed = (_canonical(name, renamed, MODELS[renamed.own]) for name, renamed in CANONICAL.items())
    return (*renamed, *map(_own, MODELS.values()))


def _own(model: Model) -> Algorithm:
    return Algorithm(
        model.name,
        model.summary,
        partial(_make, model),
        parameters=model.parameters,
        own=f"recpack.algorithms.{model.name}",
        cite=model.cite,
    )


def _make(model: Model, **parameters: ParameterValue) -> RecPackRecommender:
    return RecPackRecommender(model, parameters)


def _canonical(name: str, renamed: Renamed, model: Model) -> Algorithm:
    return Algorithm(
        name,
        model.summary,
        partial(_make_canonical, renamed, model),
        parameters=_parameters(renamed, model),
        own=f"recpack.algorithms.{model.name}",
        mapping={name: renamed.notes.get(name, " and ".join(own)) for name, own in renamed.mapping.items()},
        unmapped=renamed.unmapped,
        cite=model.cite,
    )


def _parameters(renamed: Renamed, model: Model) -> tuple[Parameter, ...]:
    """Those with a canonical name, and the further ones of RecPack."""
    own = {parameter.name: parameter for parameter in model.parameters}
    mapped = []
    for name, (first, *others) in renamed.mapping.items():
        assert all(own[other].default == own[first].default for other in others)
        mapped.append(Parameter(name, own[first].default, own[first].meaning, own[first].options))
    taken = {one for several in renamed.mapping.values() for one in several} | set(renamed.fixed)
    return (*mapped, *(parameter for name, parameter in own.items() if name not in taken))


def _make_canonical(renamed: Renamed, model: Model, **parameters: ParameterValue) -> RecPackRecommender:
    own = dict(renamed.fixed)
    for name, value in parameters.items():
        own |= dict.fromkeys(renamed.mapping.get(name, (name,)), value)
    return RecPackRecommender(model, own)
