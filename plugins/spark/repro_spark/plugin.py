"""The declaration of the framework ``spark``."""

from __future__ import annotations

from repro.plugin import Framework, impl, pinned_framework


@impl
def repro_framework() -> Framework:
    from repro_spark.als import ALGORITHMS

    return pinned_framework(
        "spark",
        "Apache Spark's alternating least squares, in local mode on one core; needs Java 17",
        __file__,
        imports=("pyspark", "pyarrow"),
        install="pip install 'recsys-repro-spark[framework]' (Java 17 or later is needed beside it)",
        algorithms=ALGORITHMS,
        distribution="pyspark",
    )
