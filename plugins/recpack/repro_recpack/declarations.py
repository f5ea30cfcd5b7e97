"""RecPack's algorithms under canonical names and under its own."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from repro.plugin import Algorithm, Parameter, ParameterValue
from repro.plugin.api.adapting import own_algorithm
from repro_recpack.canonical import CANONICAL, Renamed
from repro_recpack.models import MODELS, Model
from repro_recpack.recommender import RecPackRecommender


def algorithms() -> tuple[Algorithm, ...]:
    """Those with canonical names first."""
    own = {name: own_algorithm(model, _make, f"recpack.algorithms.{name}") for name, model in MODELS.items()}
    canonical = (_canonical(name, renamed, own[renamed.own]) for name, renamed in CANONICAL.items())
    return (*canonical, *own.values())


def _make(model: Model, **parameters: ParameterValue) -> RecPackRecommender:
    return RecPackRecommender(model, parameters)


def _canonical(name: str, renamed: Renamed, own: Algorithm) -> Algorithm:
    return replace(
        own,
        name=name,
        make=partial(_make_canonical, renamed, MODELS[renamed.own]),
        parameters=_parameters(renamed, own),
        mapping={name: renamed.notes.get(name, " and ".join(names)) for name, names in renamed.mapping.items()},
        unmapped=renamed.unmapped,
    )


def _parameters(renamed: Renamed, model: Algorithm) -> tuple[Parameter, ...]:
    """Those with a canonical name, and the other ones of RecPack."""
    own = {parameter.name: parameter for parameter in model.parameters}
    mapped = []
    for name, (first, *others) in renamed.mapping.items():
        assert all(own[other].default == own[first].default for other in others)
        mapped.append(replace(own[first], name=name))
    hidden = {name for names in renamed.mapping.values() for name in names} | set(renamed.fixed)
    return (*mapped, *(parameter for name, parameter in own.items() if name not in hidden))


def _make_canonical(renamed: Renamed, model: Model, **parameters: ParameterValue) -> RecPackRecommender:
    own = dict(renamed.fixed)
    for name, value in parameters.items():
        own |= dict.fromkeys(renamed.mapping.get(name, (name,)), value)
    return RecPackRecommender(model, own)
