"""The declaration of the framework ``surprise``."""

from __future__ import annotations

from collections.abc import Sequence

from repro.plugin import Evaluator, Framework, Pipeline, Splitter, impl, pinned_framework


@impl
def repro_framework() -> Framework:
    from repro_surprise.declarations import algorithms

    return pinned_framework(
        "surprise",
        "rating prediction after the papers of the Netflix prize",
        __file__,
        algorithms=algorithms(),
        distribution="scikit-surprise",
        packages=("scikit-surprise", "numpy", "scipy"),
    )


@impl
def repro_splitters() -> Sequence[Splitter]:
    from repro_surprise.splitters import SPLITTERS

    return SPLITTERS


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    from repro_surprise.evaluators import EVALUATORS

    return EVALUATORS


@impl
def repro_pipelines() -> Sequence[Pipeline]:
    from repro_surprise.pipelines import PIPELINES

    return PIPELINES
