"""The declaration of the framework ``lenskit``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repro.plugin import Evaluator, Framework, Pipeline, Splitter, impl, pinned_framework
from repro_lenskit.canonical import canonical_algorithms
from repro_lenskit.evaluators import EVALUATORS
from repro_lenskit.pipelines import PIPELINES
from repro_lenskit.scorers import own_algorithms
from repro_lenskit.splitters import SPLITTERS


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "lenskit",
        distribution="lenskit",
        summary="recommender systems for research and teaching: neighbours, factors, linear models and baselines",
        requirements=Path(__file__).with_name("requirements.txt"),
        imports=("lenskit", "sklearn"),
        install="pip install 'recsys-repro-lenskit[framework]'",
        algorithms=(*canonical_algorithms(), *own_algorithms()),
        packages=("numpy", "scikit-learn", "scipy", "torch"),
        # Installed first and alone: with others, torch would come with an accelerator's libraries.
        first=("torch",),
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
