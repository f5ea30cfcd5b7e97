"""The declaration of the framework ``sklearn``, which has evaluators and no algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from repro.plugin import Environment, Evaluator, Framework, impl, read_requirements
from repro_sklearn.evaluators import EVALUATORS

PINS, HASHES = read_requirements(Path(__file__).with_name("requirements.txt"))
_DISTRIBUTION = "scikit-learn"


@impl
def repro_framework() -> Framework:
    return Framework(
        name="sklearn",
        version=_version(),
        summary="machine learning in Python: its metrics of rankings and of predictions",
        algorithms=(),
        environment=Environment(
            imports=("sklearn",),
            steps=(("--no-deps", *PINS),),
            install="pip install 'recsys-repro-sklearn[framework]'",
            hashes=HASHES,
        ),
    )


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    return EVALUATORS


def _version() -> str:
    """The version installed here, else the one pinned."""
    try:
        return version(_DISTRIBUTION)
    except PackageNotFoundError:
        return dict(pin.split("==") for pin in PINS)[_DISTRIBUTION]
