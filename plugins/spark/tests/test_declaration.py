"""The declaration, which does not need Spark."""

from __future__ import annotations

from repro.plugin import plugins
from repro_spark.plugin import repro_framework


def test_both_algorithms_are_declared() -> None:
    assert [algorithm.name for algorithm in repro_framework().algorithms] == ["implicit-als", "ALS"]


def test_canonical_defaults_are_sparks() -> None:
    _, canonical = plugins().algorithm("spark/implicit-als")
    _, own = plugins().algorithm("spark/ALS")
    defaults = {parameter.name: parameter.default for parameter in own.parameters}
    renamed = {"factors": "rank", "epochs": "maxIter", "regularisation": "regParam"}
    for parameter in canonical.parameters:
        assert parameter.default == defaults[renamed.get(parameter.name, parameter.name)]
