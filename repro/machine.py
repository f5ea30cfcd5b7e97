"""A report on this machine: what it has, what is missing, and the command that mends it."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import pandas as pd

Status = Literal["ok", "missing", "problem"]


@dataclass(frozen=True)
class Finding:
    """Something that this machine has ("ok"), lacks without harm ("missing"), or that stops work ("problem").

    mend  the command, or what to do; empty where nothing needs mending
    """

    topic: str
    name: str
    status: Status
    value: str
    mend: str = ""


def doctor() -> pd.DataFrame:
    """A report on this machine: what it has, what is missing, and the command that mends it.

    Returns a row for each thing that was looked for: ``topic``, ``name``, ``status`` ("ok", "missing" or "problem"),
    ``value`` and ``mend``, which is empty where nothing needs mending.

    >>> set(repro.doctor()["status"]) <= {"ok", "missing", "problem"}
    True
    """
    return pd.DataFrame([asdict(finding) for finding in findings()])


def findings() -> list[Finding]:
    """The findings about all topics, in order."""
    return [finding for topic in _TOPICS for finding in topic()]


def _machine() -> Iterator[Finding]:
    from repro.study.environment import machine

    topic, known = "machine", machine()
    old = sys.version_info < (3, 11)
    mend = "install Python 3.11 or newer, and repro into it" if old else ""
    yield Finding(topic, "Python", "problem" if old else "ok", f"{platform.python_version()}, {sys.executable}", mend)
    yield Finding(topic, "system", "ok", f"{known['system']} {known['release']}, {known['architecture']}")
    yield Finding(topic, "cores", "ok", str(known["cores"]))
    memory = known["memory_bytes"]
    yield Finding(topic, "memory", "ok", _size(int(memory)) if isinstance(memory, int | float) else "unknown")
    interpreters = sorted(_interpreters(), key=lambda name: [int(part) for part in re.findall(r"\d+", name)])
    value = ", ".join(interpreters) or "none besides this one"
    yield Finding(
        topic, "other Pythons", "ok" if interpreters else "missing", value, _OTHER_PYTHONS * (not interpreters)
    )


_OTHER_PYTHONS = "`repro replay` of an old run may need another Python: `uv python install 3.12`, or pyenv"


def _interpreters() -> set[str]:
    """The versions of Python of pyenv, of uv and on the path, such as 3.12.4 (uv)."""
    home = Path.home()
    folders = {
        "pyenv": Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions",
        "uv": Path(os.environ.get("UV_PYTHON_INSTALL_DIR", home / ".local" / "share" / "uv" / "python")),
    }
    names = set()
    for owner, folder in folders.items():
        for path in folder.iterdir() if folder.is_dir() else ():
            if found := re.search(r"\d+\.\d+\.\d+", path.name):
                names.add(f"{found[0]} ({owner})")
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    others = (f"3.{minor}" for minor in range(9, 20))
    return names | {f"{name} (path)" for name in others if name != own and shutil.which(f"python{name}")}


def _installation() -> Iterator[Finding]:
    from importlib.metadata import packages_distributions

    from repro.version import __version__

    topic, folder = "repro", Path(__file__).parent
    yield Finding(topic, "repro", "ok", f"{__version__}, {folder}")
    others = sorted(set(packages_distributions().get("repro", ())) - {"recsys-repro"})
    clash = f"{', '.join(others)} installs a package repro too"
    mend = "`pip uninstall " + " ".join(others) + "`, then `pip install --force-reinstall --no-deps recsys-repro`"
    if others:
        yield Finding(topic, "name", "problem", clash, mend)
    else:
        yield Finding(topic, "name", "ok", "no other project has the name here")
    stored = os.environ.get("NUMBA_CACHE_DIR")
    compiled = [*folder.rglob("*.nbi"), *(Path(stored).rglob("*.nbi") if stored else ())]
    if compiled:
        yield Finding(topic, "compiled code", "ok", f"{len(compiled)} functions are cached")
    else:
        text = "the first evaluation compiles for some seconds, once"
        yield Finding(topic, "compiled code", "missing", "not cached yet", text)


def _frameworks() -> Iterator[Finding]:
    from repro.app import application
    from repro.catalogue.listing import LOCATIONS
    from repro.plugin import how_to_install

    topic, installed = "frameworks", application().ask_plugins()
    usable = False
    for name in installed.frameworks:
        framework, location = installed.framework(name), installed.location(name)
        value = f"{framework.version} {LOCATIONS[location]}"
        if location == "missing":
            yield Finding(topic, name, "missing", value, how_to_install(framework))
        else:
            usable |= bool(framework.algorithms)
            yield Finding(topic, name, "ok", value)
    for name, reason in installed.broken.items():
        mend = f"install it again, or leave it out with REPRO_PLUGINS=-{name}"
        yield Finding(topic, name, "problem", f"broken: {reason}", mend)
    if not usable:
        mend = "`pip install recsys-repro-reference` installs the reference algorithms"
        yield Finding(topic, "algorithms", "problem", "no framework with algorithms can run here", mend)


def _stores() -> Iterator[Finding]:
    from repro.data import data_folder, datasets
    from repro.plugin.isolation.environment import environments_folder

    topic = "stored"
    here = [name for name, dataset in datasets().items() if dataset.cached()]
    mend = "" if here else "`repro data get ml-100k` fetches a first one"
    yield Finding(topic, "data sets", "ok" if here else "missing", ", ".join(here) or "none", mend)
    for name, folder in (("data", Path(data_folder())), ("environments", environments_folder())):
        yield Finding(topic, f"{name} folder", *_writable(folder))
    folder = environments_folder()
    built = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    yield Finding(topic, "environments", "ok", ", ".join(built) or "none built")


def _writable(folder: Path) -> tuple[Status, str, str]:
    """Whether a folder can be written, with its size."""
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(nearest, os.W_OK):
        mend = "make it writable, or set REPRO_DATA and REPRO_ENVIRONMENTS to folders that are"
        return "problem", f"{folder} cannot be written", mend
    size = sum(path.lstat().st_size for path in folder.rglob("*")) if folder.is_dir() else 0
    return "ok", f"{folder}, {_size(size)}", ""


_PROGRAMS = {
    "Java": (("java",), "Spark and the algorithms of `repro-spark` need it: install a JDK of 17 or newer"),
    "Chromium": (("chromium", "chromium-browser", "google-chrome"), "only to print reports to PDF: install Chromium"),
    "TeX": (("pdflatex", "lualatex", "tectonic"), "only to typeset `repro export --to latex`: install TeX Live"),
}


def _programs() -> Iterator[Finding]:
    from repro.extras import is_installed

    for name, (commands, mend) in _PROGRAMS.items():
        path = next(filter(None, map(shutil.which, commands)), None)
        yield Finding("programs", name, "ok" if path else "missing", path or "not found", "" if path else mend)
    ray = is_installed("ray")
    mend = "" if ray else "only for `repro run --executor ray`: `pip install 'recsys-repro[ray]'`"
    yield Finding("programs", "Ray", "ok" if ray else "missing", "installed" if ray else "not installed", mend)


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


_TOPICS = (_machine, _installation, _frameworks, _stores, _programs)
