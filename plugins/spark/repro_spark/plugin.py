"""The declaration of the framework ``spark``."""

from __future__ import annotations

from repro.plugin import Framework, impl, pinned_framework


@impl
def repro_framework() -> Framework:
    from repro_spark.als import ALGORITHMS

    return pinned_framework(__file__, ALGORITHMS)
