"""The declaration of the framework ``recpack``."""

from __future__ import annotations

from repro.plugin import Framework, impl
from repro_recpack.declarations import algorithms
from repro_recpack.environment import ENVIRONMENT, framework_version


@impl
def repro_framework() -> Framework:
    return Framework(
        name="recpack",
        version=framework_version(),
        summary="RecPack's algorithms for top-n recommendation from binary feedback",
        algorithms=algorithms(),
        environment=ENVIRONMENT,
    )
