"""The declaration of the framework ``cornac``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from repro.plugin import Environment, Evaluator, Framework, Pipeline, Splitter, impl, read_requirements
from repro_cornac.declarations import algorithms
from repro_cornac.evaluators import evaluators
from repro_cornac.pipelines import pipelines
from repro_cornac.splitters import splitters

_PINS, _HASHES = read_requirements(Path(__file__).with_name("requirements.txt"))
_TORCH = "torch==2.13.0"


@impl
def repro_framework() -> Framework:
    installed = _versions("cornac", "numpy", "scipy", "torch")
    pinned = dict(pin.split("==") for pin in _PINS)
    return Framework(
        name="cornac",
        version=installed.get("cornac", pinned["cornac"]),
        summary="comparative framework for multimodal recommender systems",
        algorithms=algorithms(),
        packages=installed if "cornac" in installed else {},
        environment=Environment(
            imports=("cornac", "torch"),
            steps=((_TORCH,), ("--no-deps", *_PINS)),
            install="pip install 'recsys-repro-cornac[framework]'",
            hashes=_HASHES,
        ),
    )


@impl
def repro_splitters() -> Sequence[Splitter]:
    return splitters()


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    return evaluators()


@impl
def repro_pipelines() -> Sequence[Pipeline]:
    return pipelines()


def _versions(*distributions: str) -> dict[str, str]:
    """The versions of those that are installed here."""
    found = {}
    for name in distributions:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
