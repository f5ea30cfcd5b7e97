"""The declaration of the framework ``recbole``."""

from __future__ import annotations

from repro.plugin import Framework, impl, pinned_framework
from repro_recbole.canonical import CANONICAL, OWN
from repro_recbole.evaluators import EVALUATORS
from repro_recbole.pipelines import PIPELINES


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "recbole",
        "general recommenders of RecBole: baselines, linear models, factors, graphs and autoencoders",
        __file__,
        imports=("recbole.config", "recbole.trainer"),
        algorithms=(*CANONICAL, *OWN.values()),
        # Installed first and alone: with others, torch would come with an accelerator's libraries.
        first=("torch==2.13.0",),
    )


repro_evaluators = impl(lambda: EVALUATORS)
repro_pipelines = impl(lambda: PIPELINES)
