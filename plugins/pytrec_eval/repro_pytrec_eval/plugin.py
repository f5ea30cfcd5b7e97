"""The declaration of the framework ``pytrec_eval``, which has evaluators and no algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from repro.plugin import Environment, Evaluator, Framework, impl, read_requirements
from repro_pytrec_eval.evaluators import EVALUATORS

PINS, HASHES = read_requirements(Path(__file__).with_name("requirements.txt"))
_DISTRIBUTION = "pytrec-eval-terrier"


@impl
def repro_framework() -> Framework:
    return Framework(
        name="pytrec_eval",
        version=_version(),
        summary="the measures of trec_eval, called from Python",
        algorithms=(),
        environment=Environment(
            imports=("pytrec_eval",),
            steps=(("--no-deps", *PINS),),
            install="pip install 'recsys-repro-pytrec-eval[framework]'",
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
