"""The declaration of the framework ``implicit``."""

from __future__ import annotations

from repro.plugin import Framework, impl, pinned_framework
from repro_implicit.evaluators import EVALUATORS
from repro_implicit.pipelines import PIPELINES


@impl
def repro_framework() -> Framework:
    from repro_implicit.canonical import ALGORITHMS
    from repro_implicit.models import MODELS, algorithm_of

    return pinned_framework(__file__, (*ALGORITHMS, *map(algorithm_of, MODELS.values())))


repro_evaluators = impl(lambda: EVALUATORS)
repro_pipelines = impl(lambda: PIPELINES)
