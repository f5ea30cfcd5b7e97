"""The declaration of the framework ``surprise``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from repro.plugin import Environment, Evaluator, Framework, Pipeline, Splitter, impl, read_requirements
from repro_surprise.declarations import algorithms
from repro_surprise.evaluators import EVALUATORS
from repro_surprise.pipelines import PIPELINES
from repro_surprise.splitters import splitters

_DISTRIBUTION = "scikit-surprise"
_PINS, _HASHES = read_requirements(Path(__file__).with_name("requirements.txt"))


@impl
def repro_framework() -> Framework:
    installed = _versions(_DISTRIBUTION, "numpy", "scipy")
    pinned = dict(pin.split("==") for pin in _PINS)
    return Framework(
        name="surprise",
        version=installed.get(_DISTRIBUTION, pinned[_DISTRIBUTION]),
        summary="rating prediction after the papers of the Netflix prize",
        algorithms=algorithms(),
        packages=installed,
        environment=Environment(
            imports=("surprise",),
            steps=(("--no-deps", *_PINS),),
            install="pip install 'recsys-repro-surprise[framework]'",
            hashes=_HASHES,
        ),
    )


@impl
def repro_splitters() -> Sequence[Splitter]:
    return splitters()


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    return EVALUATORS


@impl
def repro_pipelines() -> Sequence[Pipeline]:
    return PIPELINES


def _versions(*distributions: str) -> dict[str, str]:
    """The versions of those that are installed here."""
    found = {}
    for name in distributions:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
