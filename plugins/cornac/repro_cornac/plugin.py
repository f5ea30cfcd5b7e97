"""The declaration of the framework ``cornac``."""

from __future__ import annotations

from collections.abc import Sequence

from repro.plugin import Evaluator, Framework, Pipeline, Splitter, impl, pinned_framework


@impl
def repro_framework() -> Framework:
    from repro_cornac.declarations import algorithms

    return pinned_framework(
        "cornac",
        "comparative framework for multimodal recommender systems",
        __file__,
        imports=("cornac", "torch"),
        algorithms=algorithms(),
        packages=("cornac", "numpy", "scipy", "torch"),
        # Installed first and alone: with others, torch would come with an accelerator's libraries.
        first=("torch==2.13.0",),
    )


@impl
def repro_splitters() -> Sequence[Splitter]:
    from repro_cornac.splitters import SPLITTERS

    return SPLITTERS


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    from repro_cornac.evaluators import EVALUATORS

    return EVALUATORS


@impl
def repro_pipelines() -> Sequence[Pipeline]:
    from repro_cornac.pipelines import PIPELINES

    return PIPELINES
