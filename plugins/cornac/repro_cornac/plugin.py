"""The declaration of the framework ``cornac``."""

from __future__ import annotations

from repro.plugin import Framework, impl, pinned_framework
from repro_cornac.evaluators import EVALUATORS
from repro_cornac.pipelines import PIPELINES
from repro_cornac.splitters import SPLITTERS


@impl
def repro_framework() -> Framework:
    from repro_cornac.declarations import CANONICAL, OWN

    return pinned_framework(__file__, (*CANONICAL, *OWN.values()))


repro_splitters = impl(lambda: SPLITTERS)
repro_evaluators = impl(lambda: EVALUATORS)
repro_pipelines = impl(lambda: PIPELINES)
