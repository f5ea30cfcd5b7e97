"""The declaration of the framework ``lenskit``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from repro.plugin import Environment, Evaluator, Framework, Pipeline, Splitter, impl, read_requirements
from repro_lenskit.canonical import canonical_algorithms
from repro_lenskit.evaluators import EVALUATORS
from repro_lenskit.pipelines import PIPELINES
from repro_lenskit.scorers import own_algorithms
from repro_lenskit.splitters import SPLITTERS

PINS, HASHES = read_requirements(Path(__file__).with_name("requirements.txt"))
_BELOW = ("numpy", "scikit-learn", "scipy", "torch")


@impl
def repro_framework() -> Framework:
    return Framework(
        name="lenskit",
        version=_version("lenskit"),
        summary="recommender systems for research and teaching: neighbours, factors, linear models and baselines",
        algorithms=(*canonical_algorithms(), *own_algorithms()),
        packages={name: _version(name) for name in _BELOW},
        environment=Environment(
            imports=("lenskit", "sklearn"),
            # torch comes first and alone: with others, its builds for accelerators would come along.
            steps=((_pin("torch"),), ("--no-deps", *PINS)),
            install="pip install 'recsys-repro-lenskit[framework]'",
            hashes=HASHES,
        ),
    )


@impl
def repro_splitters() -> Sequence[Splitter]:
    return SPLITTERS


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    return EVALUATORS


@impl
def repro_pipelines() -> Sequence[Pipeline]:
    return PIPELINES


def _pin(name: str) -> str:
    return next(pin for pin in PINS if pin.partition("==")[0] == name)


def _version(name: str) -> str:
    """The version installed here, else the one pinned."""
    try:
        return version(name)
    except PackageNotFoundError:
        return _pin(name).partition("==")[2]
