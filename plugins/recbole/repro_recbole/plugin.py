"""The declaration of the framework ``recbole``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from repro.plugin import Algorithm, Evaluator, Framework, ParameterValue, Pipeline, impl, pinned_framework
from repro_recbole.canonical import CANONICAL, Canonical
from repro_recbole.evaluators import evaluators
from repro_recbole.models import MODELS, Model
from repro_recbole.pipelines import pipelines
from repro_recbole.recommender import RecBoleRecommender


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "recbole",
        distribution="recbole",
        summary="general recommenders of RecBole: baselines, linear models, factors, graphs and autoencoders",
        requirements=Path(__file__).with_name("requirements.txt"),
        imports=("recbole.config", "recbole.trainer"),
        install="pip install 'recsys-repro-recbole[framework]'",
        algorithms=(*map(_canonical, CANONICAL), *map(_own, MODELS.values())),
        # Installed first and alone: with others, torch would come with an accelerator's libraries.
        first=("torch==2.13.0",),
    )


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    return evaluators()


@impl
def repro_pipelines() -> Sequence[Pipeline]:
    return pipelines()


def _own(model: Model) -> Algorithm:
    """A model under RecBole's name, with RecBole's parameters."""
    return Algorithm(
        model.name,
        model.summary,
        partial(_make, model),
        parameters=model.parameters,
        own=model.name,
        cite=model.cite,
    )


def _canonical(canonical: Canonical) -> Algorithm:
    """A model under its canonical name."""
    model = MODELS[canonical.model]
    return Algorithm(
        canonical.name,
        canonical.summary,
        partial(_make_canonical, canonical),
        parameters=canonical.parameters,
        own=model.name,
        mapping=canonical.mapping,
        unmapped=canonical.unmapped,
        cite=model.cite,
    )


def _make(model: Model, **values: ParameterValue) -> RecBoleRecommender:
    return RecBoleRecommender(model, values)


def _make_canonical(canonical: Canonical, **values: ParameterValue) -> RecBoleRecommender:
    given = {parameter.name: parameter.default for parameter in canonical.parameters} | values
    return RecBoleRecommender(MODELS[canonical.model], canonical.to_own(given))
