"""The declaration of the framework ``rectools``."""

from __future__ import annotations

from repro.plugin import Framework, impl, pinned_framework
from repro_rectools.evaluators import EVALUATORS
from repro_rectools.pipelines import PIPELINES


@impl
def repro_framework() -> Framework:
    from repro_rectools.canonical import ALGORITHMS
    from repro_rectools.models import MODELS, algorithm_of

    return pinned_framework(__file__, (*ALGORITHMS, *map(algorithm_of, MODELS.values())))


repro_evaluators = impl(lambda: EVALUATORS)
repro_pipelines = impl(lambda: PIPELINES)
