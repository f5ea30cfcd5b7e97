"""The declaration of the framework ``implicit``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repro.plugin import Evaluator, Framework, Pipeline, impl, pinned_framework
from repro_implicit.canonical import ALGORITHMS
from repro_implicit.evaluators import EVALUATORS
from repro_implicit.models import MODELS, own_algorithm
from repro_implicit.pipelines import PIPELINES


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "implicit",
        distribution="implicit",
        summary="fast collaborative filtering for implicit feedback, on the CPU",
        requirements=Path(__file__).with_name("requirements.txt"),
        imports=("implicit",),
        install="pip install 'recsys-repro-implicit[framework]'",
        algorithms=(*ALGORITHMS, *map(own_algorithm, MODELS)),
    )


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    return EVALUATORS


@impl
def repro_pipelines() -> Sequence[Pipeline]:
    return PIPELINES
