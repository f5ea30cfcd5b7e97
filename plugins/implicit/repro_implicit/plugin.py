"""The declaration of the framework ``implicit``."""

from __future__ import annotations

from pathlib import Path

from repro.plugin import Framework, impl, pinned_framework
from repro_implicit.canonical import ALGORITHMS
from repro_implicit.evaluators import EVALUATORS
from repro_implicit.models import MODELS, algorithm_of
from repro_implicit.pipelines import PIPELINES


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "implicit",
        summary="fast collaborative filtering for implicit feedback, on the CPU",
        requirements=Path(__file__).with_name("requirements.txt"),
        algorithms=(*ALGORITHMS, *map(algorithm_of, MODELS)),
    )


repro_evaluators = impl(lambda: EVALUATORS)
repro_pipelines = impl(lambda: PIPELINES)
