"""The declaration of the framework ``cornac``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repro.plugin import Evaluator, Framework, Pipeline, Splitter, impl, pinned_framework
from repro_cornac.declarations import algorithms
from repro_cornac.evaluators import evaluators
from repro_cornac.pipelines import pipelines
from repro_cornac.splitters import splitters


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "cornac",
        distribution="cornac",
        summary="comparative framework for multimodal recommender systems",
        requirements=Path(__file__).with_name("requirements.txt"),
        imports=("cornac", "torch"),
        install="pip install 'recsys-repro-cornac[framework]'",
        algorithms=algorithms(),
        packages=("cornac", "numpy", "scipy", "torch"),
        # Installed first and alone: with others, torch would come with an accelerator's libraries.
        first=("torch==2.13.0",),
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
