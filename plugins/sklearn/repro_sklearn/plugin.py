"""The declaration of the framework ``sklearn``, which has evaluators and no algorithms."""

from __future__ import annotations

from collections.abc import Sequence

from repro.plugin import Evaluator, Framework, impl, pinned_framework


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "sklearn",
        "machine learning in Python: its metrics of rankings and of predictions",
        __file__,
        distribution="scikit-learn",
    )


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    from repro_sklearn.evaluators import EVALUATORS

    return EVALUATORS
