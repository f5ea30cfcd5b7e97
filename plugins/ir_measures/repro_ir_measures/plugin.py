"""The declaration of the framework ``ir_measures``, which has evaluators and no algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from repro.plugin import Environment, Evaluator, Framework, impl, read_requirements
from repro_ir_measures.evaluators import EVALUATORS

PINS, HASHES = read_requirements(Path(__file__).with_name("requirements.txt"))
_DISTRIBUTION = "ir-measures"


@impl
def repro_framework() -> Framework:
    return Framework(
        name="ir_measures",
        version=_version(),
        summary="one interface to the measures of several tools",
        algorithms=(),
        environment=Environment(
            imports=("ir_measures", "pytrec_eval"),
            steps=(("--no-deps", *PINS),),
            install="pip install 'recsys-repro-ir-measures[framework]'",
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
