"""Where Spark runs: an environment of its own, with every version pinned; Java is the machine's."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from repro.plugin import Environment, read_requirements

PINS, HASHES = read_requirements(Path(__file__).with_name("requirements.txt"))

ENVIRONMENT = Environment(
    imports=("pyspark", "pyarrow"),
    steps=(("--no-deps", *PINS),),
    install="pip install 'recsys-repro-spark[framework]' (Java 17 or later is needed beside it)",
    hashes=HASHES,
)


def framework_version() -> str:
    """The version of Spark that is installed here, or else the one that is pinned."""
    try:
        return version("pyspark")
    except PackageNotFoundError:
        return next(pin.partition("==")[2] for pin in PINS if pin.startswith("pyspark=="))
