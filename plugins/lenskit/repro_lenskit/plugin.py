"""The declaration of the framework ``lenskit``."""

from __future__ import annotations

from collections.abc import Sequence

from repro.plugin import Evaluator, Framework, Pipeline, Splitter, impl, pinned_framework


@impl
def repro_framework() -> Framework:
    from repro_lenskit.canonical import canonical_algorithms
    from repro_lenskit.scorers import own_algorithms

    return pinned_framework(
        "lenskit",
        "recommender systems for research and teaching: neighbours, factors, linear models and baselines",
        __file__,
        imports=("lenskit", "sklearn"),
        algorithms=(*canonical_algorithms(), *own_algorithms()),
        packages=("numpy", "scikit-learn", "scipy", "torch"),
        # Installed first and alone: with others, torch would come with an accelerator's libraries.
        first=("torch",),
    )


@impl
def repro_splitters() -> Sequence[Splitter]:
    from repro_lenskit.splitters import SPLITTERS

    return SPLITTERS


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    from repro_lenskit.evaluators import EVALUATORS

    return EVALUATORS


@impl
def repro_pipelines() -> Sequence[Pipeline]:
    from repro_lenskit.pipelines import PIPELINES

    return PIPELINES
