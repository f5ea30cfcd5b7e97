"""The declaration of the framework ``recpack``."""

from __future__ import annotations

from repro.plugin import Framework, impl, pinned_framework
from repro_recpack.evaluators import EVALUATORS
from repro_recpack.pipelines import PIPELINES


@impl
def repro_framework() -> Framework:
    from repro_recpack.canonical import CANONICAL, OWN

    return pinned_framework(__file__, (*CANONICAL, *OWN.values()))


repro_evaluators = impl(lambda: EVALUATORS)
repro_pipelines = impl(lambda: PIPELINES)
