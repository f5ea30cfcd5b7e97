"""The declaration of the framework ``rectools``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repro.plugin import Evaluator, Framework, Pipeline, impl, pinned_framework
from repro_rectools.canonical import ALGORITHMS
from repro_rectools.evaluators import evaluators
from repro_rectools.models import MODELS, own_algorithm
from repro_rectools.pipelines import pipelines


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "rectools",
        distribution="RecTools",
        summary="models of MTS' RecTools, and those of implicit that it wraps",
        requirements=Path(__file__).with_name("requirements.txt"),
        imports=("rectools.models",),
        install="pip install 'recsys-repro-rectools[framework]'",
        algorithms=(*ALGORITHMS, *map(own_algorithm, MODELS)),
    )


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    return evaluators()


@impl
def repro_pipelines() -> Sequence[Pipeline]:
    return pipelines()
