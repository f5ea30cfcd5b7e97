"""The declaration of the framework ``recpack``."""

from __future__ import annotations

from collections.abc import Sequence

from repro.plugin import Evaluator, Framework, Pipeline, impl
from repro_recpack.declarations import algorithms
from repro_recpack.environment import ENVIRONMENT, framework_version
from repro_recpack.evaluators import evaluators
from repro_recpack.pipelines import pipelines


@impl
def repro_framework() -> Framework:
    return Framework(
        name="recpack",
        version=framework_version(),
        summary="RecPack's algorithms for top-n recommendation from binary feedback",
        algorithms=algorithms(),
        environment=ENVIRONMENT,
    )


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    return evaluators()


@impl
def repro_pipelines() -> Sequence[Pipeline]:
    return pipelines()
