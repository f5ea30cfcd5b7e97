"""The declaration of the framework ``surprise``."""

from __future__ import annotations

from repro.plugin import Framework, impl, pinned_framework
from repro_surprise.evaluators import EVALUATORS
from repro_surprise.pipelines import PIPELINES
from repro_surprise.splitters import SPLITTERS


@impl
def repro_framework() -> Framework:
    from repro_surprise.declarations import algorithms

    return pinned_framework(__file__, algorithms())


repro_splitters = impl(lambda: SPLITTERS)
repro_evaluators = impl(lambda: EVALUATORS)
repro_pipelines = impl(lambda: PIPELINES)
