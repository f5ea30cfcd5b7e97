"""The declaration of the framework ``cornac``."""

from __future__ import annotations

from repro.plugin import Framework, impl, pinned_framework
from repro_cornac.evaluators import EVALUATORS
from repro_cornac.pipelines import PIPELINES
from repro_cornac.splitters import SPLITTERS


@impl
def repro_framework() -> Framework:
    from repro_cornac.declarations import CANONICAL, OWN

    return pinned_framework(
        "cornac",
        "comparative framework for multimodal recommender systems",
        __file__,
        imports=("cornac", "torch"),
        algorithms=(*CANONICAL, *OWN.values()),
        packages=("cornac", "numpy", "scipy", "torch"),
        # Installed first and alone: with others, torch would come with an accelerator's libraries.
        first=("torch==2.13.0",),
    )


repro_splitters = impl(lambda: SPLITTERS)
repro_evaluators = impl(lambda: EVALUATORS)
repro_pipelines = impl(lambda: PIPELINES)
