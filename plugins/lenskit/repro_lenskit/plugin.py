"""The declaration of the framework ``lenskit``."""

from __future__ import annotations

from repro.plugin import Framework, impl, pinned_framework
from repro_lenskit.evaluators import EVALUATORS
from repro_lenskit.pipelines import PIPELINES
from repro_lenskit.splitters import SPLITTERS


@impl
def repro_framework() -> Framework:
    from repro_lenskit.canonical import CANONICAL
    from repro_lenskit.scorers import own_algorithms

    return pinned_framework(__file__, (*CANONICAL, *own_algorithms()))


repro_splitters = impl(lambda: SPLITTERS)
repro_evaluators = impl(lambda: EVALUATORS)
repro_pipelines = impl(lambda: PIPELINES)
