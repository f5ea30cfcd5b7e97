"""Where RecPack runs: an environment of its own, with every version pinned."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from repro.plugin import Environment, read_requirements

PINS, HASHES = read_requirements(Path(__file__).with_name("requirements.txt"))

# torch comes first and alone: a build for the processor satisfies its pin, and nothing asks for another one later.
ENVIRONMENT = Environment(
    imports=("recpack",),
    steps=(tuple(pin for pin in PINS if pin.startswith("torch==")), ("--no-deps", *PINS)),
    install="pip install torch==2.13.0 && pip install 'recsys-repro-recpack[framework]'",
    hashes=HASHES,
)


def framework_version() -> str:
    """The version of RecPack that is installed here, or else the one that is pinned."""
    try:
        return version("recpack")
    except PackageNotFoundError:
        return next(pin.partition("==")[2] for pin in PINS if pin.startswith("recpack=="))
