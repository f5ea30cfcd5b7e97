"""The extras of the package: which optional packages each installs, and the sentence about one that is missing.

with needed_for("Student's t test"):
    from scipy import stats
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec

from repro.errors import ReproError

# For each extra, the modules that it makes available and the packages on the index that have them.
EXTRAS: Mapping[str, Mapping[str, str]] = {
    "stats": {"scipy": "scipy"},
    "report": {"altair": "altair", "vl_convert": "vl-convert-python"},
    "export": {
        "prov": "prov",
        "pybtex": "pybtex",
        "pylatexenc": "pylatexenc",
        "rocrate": "rocrate",
        "ruamel": "ruamel.yaml",
    },
    "ray": {"ray": "ray", "virtualenv": "virtualenv"},
    "tune": {"optuna": "optuna"},
}


class MissingPackage(ReproError):
    """An optional package that is not installed."""


@contextmanager
def needed_for(purpose: str) -> Iterator[None]:
    """Import optional packages inside: where one is missing, the error names its extra; ``purpose`` begins it."""
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        for extra, packages in EXTRAS.items():
            if module in packages:
                raise MissingPackage(sentence(purpose, extra, [packages[module]])) from None
        raise


def missing(extra: str, purpose: str) -> str:
    """The sentence about the packages of an extra that are not installed; empty if all are."""
    lacking = [package for module, package in EXTRAS[extra].items() if not is_installed(module)]
    return sentence(purpose, extra, lacking) if lacking else ""


def sentence(purpose: str, extra: str, packages: list[str]) -> str:
    """A sentence about what needs which missing packages, and the command that installs them."""
    which, are = ("package", "is") if len(packages) == 1 else ("packages", "are")
    return (
        f"{purpose} needs the {which} {' and '.join(packages)}, which {are} not installed; the extra '{extra}' has "
        f'{"it" if len(packages) == 1 else "them"}: pip install "recsys-repro[{extra}]"'
    )


def is_installed(module: str) -> bool:
    """Whether a module can be imported here."""
    try:
        return find_spec(module) is not None
    except ImportError:
        return False
