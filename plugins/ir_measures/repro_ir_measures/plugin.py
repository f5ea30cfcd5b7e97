"""The declaration of the framework ``ir_measures``, which has evaluators and no algorithms."""

from __future__ import annotations

from collections.abc import Sequence

from repro.plugin import Evaluator, Framework, impl, pinned_framework


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "ir_measures",
        "one interface to the measures of several tools",
        __file__,
        imports=("ir_measures", "pytrec_eval"),
    )


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    from repro_ir_measures.evaluators import EVALUATORS

    return EVALUATORS
