"""The declaration of the framework ``implicit``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from repro.plugin import Environment, Evaluator, Framework, Pipeline, impl, read_requirements
from repro_implicit.canonical import ALGORITHMS
from repro_implicit.evaluators import EVALUATORS
from repro_implicit.models import MODELS, own_algorithm
from repro_implicit.pipelines import PIPELINES

PINS, HASHES = read_requirements(Path(__file__).with_name("requirements.txt"))


@impl
def repro_framework() -> Framework:
    return Framework(
        name="implicit",
        version=framework_version(),
        summary="fast collaborative filtering for implicit feedback, on the CPU",
        algorithms=(*ALGORITHMS, *map(own_algorithm, MODELS)),
        environment=Environment(
            imports=("implicit",),
            steps=(("--no-deps", *PINS),),
            install="pip install 'recsys-repro-implicit[framework]'",
            hashes=HASHES,
        ),
    )


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    return EVALUATORS


@impl
def repro_pipelines() -> Sequence[Pipeline]:
    return PIPELINES


def framework_version() -> str:
    """The version installed here, else the one pinned."""
    try:
        return version("implicit")
    except PackageNotFoundError:
        return dict(pin.split("==") for pin in PINS)["implicit"]
