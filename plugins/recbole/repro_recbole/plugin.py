"""The declaration of the framework ``recbole``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from repro.plugin import Algorithm, Framework, ParameterValue, impl, pinned_framework
from repro.plugin.api.adapting import own_algorithm
from repro_recbole.canonical import CANONICAL, Canonical
from repro_recbole.evaluators import EVALUATORS
from repro_recbole.models import MODELS, Model
from repro_recbole.pipelines import PIPELINES
from repro_recbole.recommender import RecBoleRecommender


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "recbole",
        "general recommenders of RecBole: baselines, linear models, factors, graphs and autoencoders",
        __file__,
        imports=("recbole.config", "recbole.trainer"),
        algorithms=(*map(_canonical, CANONICAL), *map(_own, MODELS.values())),
        # Installed first and alone: with others, torch would come with an accelerator's libraries.
        first=("torch==2.13.0",),
    )


repro_evaluators = impl(lambda: EVALUATORS)
repro_pipelines = impl(lambda: PIPELINES)


def _own(model: Model) -> Algorithm:
    """A model under RecBole's name, with RecBole's parameters."""
    return own_algorithm(model, _make, model.name)


def _canonical(canonical: Canonical) -> Algorithm:
    """A model under its canonical name."""
    return replace(
        _own(MODELS[canonical.model]),
        name=canonical.name,
        summary=canonical.summary,
        make=partial(_make_canonical, canonical),
        parameters=canonical.parameters,
        mapping=canonical.mapping,
        unmapped=canonical.unmapped,
    )


def _make(model: Model, **values: ParameterValue) -> RecBoleRecommender:
    return RecBoleRecommender(model, values)


def _make_canonical(canonical: Canonical, **values: ParameterValue) -> RecBoleRecommender:
    defaults = {parameter.name: parameter.default for parameter in canonical.parameters}
    return RecBoleRecommender(MODELS[canonical.model], canonical.to_own(defaults | values))
