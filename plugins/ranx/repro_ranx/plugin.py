"""The declaration of the framework ``ranx``, which has evaluators and no algorithms."""

from __future__ import annotations

from collections.abc import Sequence

from repro.plugin import Evaluator, Framework, impl, pinned_framework


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "ranx",
        "ranking measures, compiled as they are first used",
        __file__,
    )


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    from repro_ranx.evaluators import EVALUATORS

    return EVALUATORS
