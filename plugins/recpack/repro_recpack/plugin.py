"""The declaration of the framework ``recpack``."""

from __future__ import annotations

from collections.abc import Sequence

from repro.plugin import Evaluator, Framework, Pipeline, impl, pinned_framework


@impl
def repro_framework() -> Framework:
    from repro_recpack.declarations import algorithms

    return pinned_framework(
        "recpack",
        "RecPack's algorithms for top-n recommendation from binary feedback",
        __file__,
        install="pip install torch==2.13.0 && pip install 'recsys-repro-recpack[framework]'",
        algorithms=algorithms(),
        # Installed first and alone: with others, torch would come with an accelerator's libraries.
        first=("torch",),
    )


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    from repro_recpack.evaluators import EVALUATORS

    return EVALUATORS


@impl
def repro_pipelines() -> Sequence[Pipeline]:
    from repro_recpack.pipelines import PIPELINES

    return PIPELINES
