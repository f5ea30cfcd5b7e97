"""The declaration of the framework ``implicit``."""

from __future__ import annotations

from collections.abc import Sequence

from repro.plugin import Evaluator, Framework, Pipeline, impl, pinned_framework


@impl
def repro_framework() -> Framework:
    from repro_implicit.canonical import ALGORITHMS
    from repro_implicit.models import MODELS, algorithm_of

    return pinned_framework(
        "implicit",
        "fast collaborative filtering for implicit feedback, on the CPU",
        __file__,
        algorithms=(*ALGORITHMS, *map(algorithm_of, MODELS)),
    )


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    from repro_implicit.evaluators import EVALUATORS

    return EVALUATORS


@impl
def repro_pipelines() -> Sequence[Pipeline]:
    from repro_implicit.pipelines import PIPELINES

    return PIPELINES
