"""The declaration of the framework ``pytrec_eval``, which has evaluators and no algorithms."""

from __future__ import annotations

from collections.abc import Sequence

from repro.plugin import Evaluator, Framework, impl, pinned_framework


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "pytrec_eval",
        "the measures of trec_eval, called from Python",
        __file__,
        distribution="pytrec-eval-terrier",
    )


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    from repro_pytrec_eval.evaluators import EVALUATORS

    return EVALUATORS
