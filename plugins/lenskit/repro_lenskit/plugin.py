"""The declaration of the framework ``lenskit``."""

from __future__ import annotations

from repro.plugin import Framework, impl, pinned_framework
from repro_lenskit.evaluators import EVALUATORS
from repro_lenskit.pipelines import PIPELINES
from repro_lenskit.splitters import SPLITTERS


@impl
def repro_framework() -> Framework:
    from repro_lenskit.canonical import CANONICAL
    from repro_lenskit.scorers import own_algorithms

    return pinned_framework(
        "lenskit",
        "recommender systems for research and teaching: neighbours, factors, linear models and baselines",
        __file__,
        imports=("lenskit", "sklearn"),
        algorithms=(*CANONICAL, *own_algorithms()),
        packages=("numpy", "scikit-learn", "scipy", "torch"),
        # Installed first and alone: with others, torch would come with an accelerator's libraries.
        first=("torch",),
    )


repro_splitters = impl(lambda: SPLITTERS)
repro_evaluators = impl(lambda: EVALUATORS)
repro_pipelines = impl(lambda: PIPELINES)
