"""The declaration of the framework ``ranx``, which has evaluators and no algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from repro.plugin import Environment, Evaluator, Framework, impl, read_requirements
from repro_ranx.evaluators import EVALUATORS

PINS, HASHES = read_requirements(Path(__file__).with_name("requirements.txt"))
_DISTRIBUTION = "ranx"


@impl
def repro_framework() -> Framework:
    return Framework(
        name="ranx",
        version=_version(),
        summary="ranking measures, compiled as they are first used",
        algorithms=(),
        environment=Environment(
            imports=("ranx",),
            steps=(("--no-deps", *PINS),),
            install="pip install 'recsys-repro-ranx[framework]'",
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
