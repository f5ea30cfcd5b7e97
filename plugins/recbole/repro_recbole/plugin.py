"""The declaration of the framework ``recbole``."""

from __future__ import annotations

from repro.plugin import Framework, impl, pinned_framework
from repro_recbole.canonical import CANONICAL, OWN
from repro_recbole.evaluators import EVALUATORS
from repro_recbole.pipelines import PIPELINES


@impl
def repro_framework() -> Framework:
    return pinned_framework(__file__, (*CANONICAL, *OWN.values()))


repro_evaluators = impl(lambda: EVALUATORS)
repro_pipelines = impl(lambda: PIPELINES)
