"""The declaration of the framework ``recpack``."""

from __future__ import annotations

from repro.plugin import Framework, impl, pinned_framework
from repro_recpack.evaluators import EVALUATORS
from repro_recpack.pipelines import PIPELINES


@impl
def repro_framework() -> Framework:
    from repro_recpack.canonical import CANONICAL, OWN

    return pinned_framework(
        "recpack",
        "RecPack's algorithms for top-n recommendation from binary feedback",
        __file__,
        install="pip install torch==2.13.0 && pip install 'recsys-repro-recpack[framework]'",
        algorithms=(*CANONICAL, *OWN.values()),
        # Installed first and alone: with others, torch would come with an accelerator's libraries.
        first=("torch",),
    )


repro_evaluators = impl(lambda: EVALUATORS)
repro_pipelines = impl(lambda: PIPELINES)
