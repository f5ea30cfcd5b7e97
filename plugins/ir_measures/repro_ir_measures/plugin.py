"""The declaration of the framework ``ir_measures``, which has evaluators and no algorithms."""

from __future__ import annotations

from repro.plugin import Framework, impl, pinned_framework
from repro_ir_measures.evaluators import EVALUATORS


@impl
def repro_framework() -> Framework:
    return pinned_framework(__file__)


repro_evaluators = impl(lambda: EVALUATORS)
