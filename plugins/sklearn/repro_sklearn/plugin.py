"""The declaration of the framework ``sklearn``, which has evaluators and no algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repro.plugin import Evaluator, Framework, impl, pinned_framework
from repro_sklearn.evaluators import EVALUATORS


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "sklearn",
        distribution="scikit-learn",
        summary="machine learning in Python: its metrics of rankings and of predictions",
        requirements=Path(__file__).with_name("requirements.txt"),
        imports=("sklearn",),
        install="pip install 'recsys-repro-sklearn[framework]'",
    )


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    return EVALUATORS
