"""The declaration of the framework ``sklearn``, which has evaluators and no algorithms."""

from __future__ import annotations

from pathlib import Path

from repro.plugin import Framework, impl, pinned_framework
from repro_sklearn.evaluators import EVALUATORS


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "sklearn",
        summary="machine learning in Python: its metrics of rankings and of predictions",
        requirements=Path(__file__).with_name("requirements.txt"),
        distribution="scikit-learn",
    )


repro_evaluators = impl(lambda: EVALUATORS)
