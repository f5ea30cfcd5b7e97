"""The declaration of the framework ``recpack``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repro.plugin import Evaluator, Framework, Pipeline, impl, pinned_framework
from repro_recpack.declarations import algorithms
from repro_recpack.evaluators import evaluators
from repro_recpack.pipelines import pipelines


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "recpack",
        distribution="recpack",
        summary="RecPack's algorithms for top-n recommendation from binary feedback",
        requirements=Path(__file__).with_name("requirements.txt"),
        imports=("recpack",),
        install="pip install torch==2.13.0 && pip install 'recsys-repro-recpack[framework]'",
        algorithms=algorithms(),
        # Installed first and alone: with others, torch would come with an accelerator's libraries.
        first=("torch",),
    )


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    return evaluators()


@impl
def repro_pipelines() -> Sequence[Pipeline]:
    return pipelines()
