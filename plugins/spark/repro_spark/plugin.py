"""The declaration of the framework ``spark``."""

from __future__ import annotations

from repro.plugin import Framework, impl
from repro_spark.als import ALGORITHMS
from repro_spark.environment import ENVIRONMENT, framework_version


@impl
def repro_framework() -> Framework:
    return Framework(
        name="spark",
        version=framework_version(),
        summary="Apache Spark's alternating least squares, in local mode on one core; needs Java 17",
        algorithms=ALGORITHMS,
        environment=ENVIRONMENT,
    )
