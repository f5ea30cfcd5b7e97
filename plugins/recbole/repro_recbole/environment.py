"""The environment of RecBole: exact versions, since later ones of NumPy, SciPy, pandas and setuptools break it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from repro.plugin import Environment, read_requirements

RECBOLE = "1.2.1"
TORCH = "2.13.0"
# Every distribution of the environment but torch, with its version.
PINS, HASHES = read_requirements(Path(__file__).with_name("requirements.txt"))


def recbole_version() -> str:
    """The version of RecBole that is installed here, or else the one that its environment will have."""
    try:
        return version("recbole")
    except PackageNotFoundError:
        return RECBOLE


# torch comes first and alone: as a dependency of others it would come with an accelerator's libraries.
ENVIRONMENT = Environment(
    imports=("recbole.config", "recbole.trainer"),
    steps=((f"torch=={TORCH}",), ("--no-deps", *PINS)),
    install="pip install 'recsys-repro-recbole[framework]'",
    hashes=HASHES,
)
