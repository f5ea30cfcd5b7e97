"""The declaration of the framework ``rectools``."""

from __future__ import annotations

from collections.abc import Sequence

from repro.plugin import Evaluator, Framework, Pipeline, impl, pinned_framework


@impl
def repro_framework() -> Framework:
    from repro_rectools.canonical import ALGORITHMS
    from repro_rectools.models import MODELS, algorithm_of

    return pinned_framework(
        "rectools",
        "models of MTS' RecTools, and those of implicit that it wraps",
        __file__,
        imports=("rectools.models",),
        algorithms=(*ALGORITHMS, *map(algorithm_of, MODELS)),
    )


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    from repro_rectools.evaluators import EVALUATORS

    return EVALUATORS


@impl
def repro_pipelines() -> Sequence[Pipeline]:
    from repro_rectools.pipelines import PIPELINES

    return PIPELINES
