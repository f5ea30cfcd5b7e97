"""The declaration of the framework ``surprise``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repro.plugin import Evaluator, Framework, Pipeline, Splitter, impl, pinned_framework
from repro_surprise.declarations import algorithms
from repro_surprise.evaluators import EVALUATORS
from repro_surprise.pipelines import PIPELINES
from repro_surprise.splitters import splitters


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "surprise",
        distribution="scikit-surprise",
        summary="rating prediction after the papers of the Netflix prize",
        requirements=Path(__file__).with_name("requirements.txt"),
        imports=("surprise",),
        install="pip install 'recsys-repro-surprise[framework]'",
        algorithms=algorithms(),
        packages=("scikit-surprise", "numpy", "scipy"),
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
