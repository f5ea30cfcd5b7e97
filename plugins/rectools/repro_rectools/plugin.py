"""The declaration of the framework ``rectools``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from repro.plugin import Environment, Evaluator, Framework, Pipeline, impl, read_requirements
from repro_rectools.canonical import ALGORITHMS
from repro_rectools.evaluators import evaluators
from repro_rectools.models import MODELS, own_algorithm
from repro_rectools.pipelines import pipelines

PINS, HASHES = read_requirements(Path(__file__).with_name("requirements.txt"))


@impl
def repro_framework() -> Framework:
    return Framework(
        name="rectools",
        version=framework_version(),
        summary="models of MTS' RecTools, and those of implicit that it wraps",
        algorithms=(*ALGORITHMS, *map(own_algorithm, MODELS)),
        environment=Environment(
            imports=("rectools.models",),
            steps=(("--no-deps", *PINS),),
            install="pip install 'recsys-repro-rectools[framework]'",
            hashes=HASHES,
        ),
    )


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    return evaluators()


@impl
def repro_pipelines() -> Sequence[Pipeline]:
    return pipelines()


def framework_version() -> str:
    """The version installed here, else the one pinned."""
    try:
        return version("rectools")
    except PackageNotFoundError:
        return dict(pin.split("==") for pin in PINS)["RecTools"]
