"""The declaration of the framework ``recpack``."""

from __future__ import annotations

from pathlib import Path

from repro.plugin import Framework, impl, pinned_framework
from repro_recpack.declarations import algorithms
from repro_recpack.evaluators import EVALUATORS
from repro_recpack.pipelines import PIPELINES


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "recpack",
        summary="RecPack's algorithms for top-n recommendation from binary feedback",
        requirements=Path(__file__).with_name("requirements.txt"),
        install="pip install torch==2.13.0 && pip install 'recsys-repro-recpack[framework]'",
        algorithms=algorithms(),
        # Installed first and alone: with others, torch would come with an accelerator's libraries.
        first=("torch",),
    )


repro_evaluators = impl(lambda: EVALUATORS)
repro_pipelines = impl(lambda: PIPELINES)
