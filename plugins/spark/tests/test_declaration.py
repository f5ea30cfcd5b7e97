"""What is declared, without Spark being there."""

from __future__ import annotations

import subprocess
import sys

from repro.plugin import plugins
from repro.plugin.api.canonical import CANONICAL
from repro_spark.environment import PINS
from repro_spark.plugin import repro_framework


def test_the_installed_plugin_is_found() -> None:
    assert "spark" in plugins().frameworks
    assert "spark" not in plugins().broken
    assert [algorithm.name for algorithm in repro_framework().algorithms] == ["implicit-als", "ALS"]


def test_every_canonical_parameter_is_mapped() -> None:
    _, algorithm = plugins().algorithm("spark/implicit-als")
    assert set(algorithm.mapping) == set(CANONICAL["implicit-als"].parameters)
    assert set(algorithm.mapping) <= {parameter.name for parameter in algorithm.parameters}
    assert not algorithm.unmapped
    assert not algorithm.predicts


def test_canonical_defaults_are_sparks() -> None:
    _, canonical = plugins().algorithm("spark/implicit-als")
    _, own = plugins().algorithm("spark/ALS")
    defaults = {parameter.name: parameter.default for parameter in own.parameters}
    renamed = {"factors": "rank", "epochs": "maxIter", "regularisation": "regParam"}
    for parameter in canonical.parameters:
        assert parameter.default == defaults[renamed.get(parameter.name, parameter.name)]


def test_the_declaration_needs_no_framework() -> None:
    code = (
        "import sys; import repro_spark.plugin as p; p.repro_framework(); "
        "assert not {'pyspark', 'pyarrow', 'scipy', 'pandas'} & set(sys.modules), sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_requirement_is_pinned() -> None:
    assert all(pin.count("==") == 1 and "+" not in pin for pin in PINS)
    assert {"numpy", "pandas", "scipy", "pluggy", "pyspark"} <= {pin.partition("==")[0] for pin in PINS}
