"""Environments of frameworks that cannot share this one: built once from pinned requirements, stored by digest."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from repro.errors import PluginError
from repro.plugin.api.interfaces import Environment
from repro.plugin.isolation import process_guard
from repro.plugin.isolation.pins import is_pin
from repro.system import interpreter

COMPLETE = "complete.json"
FROZEN = "frozen.txt"
TRIES = 3
PAUSE = 5.0
# How Python makes an empty environment in the folder that follows.
VENV = ("-m", "venv")
# The packages that the worker itself imports.
WORKER = ("numpy", "pandas", "pluggy", "scipy")
_LAST = 15
# The start of pip's message about a file that differs from the pinned one.
_MISMATCH = "DO NOT MATCH THE HASHES"

Report = Callable[[str], None]


def environments_folder() -> Path:
    """The folder of all environments: ``REPRO_ENVIRONMENTS``, or one in the user's cache folder."""
    if own := os.environ.get("REPRO_ENVIRONMENTS"):
        return Path(own)
    import platformdirs

    return platformdirs.user_cache_path("repro") / "environments"


def digest(environment: Environment) -> str:
    """The digest of the requirements and of the version of Python, which decide the content of an environment."""
    stated: dict[str, object] = {"python": platform.python_version(), "steps": environment.steps}
    if environment.frozen:
        stated["frozen"] = environment.frozen
    return hashlib.sha256(json.dumps(stated, sort_keys=True).encode()).hexdigest()


def folder_of(name: str, environment: Environment) -> Path:
    """The folder of a framework's environment, whether it was built or not."""
    return environments_folder() / f"{name}-{digest(environment)[:16]}"


def python_of(name: str, environment: Environment) -> Path | None:
    """The interpreter of a framework's environment, if that has been built."""
    folder = folder_of(name, environment)
    return interpreter(folder) if (folder / COMPLETE).is_file() else None


def freeze_of(name: str, environment: Environment) -> list[str]:
    """Every distribution of a framework's environment with its version, as it was built."""
    record = json.loads((folder_of(name, environment) / COMPLETE).read_text(encoding="utf-8"))
    return [str(line) for line in record["freeze"]]


def load(environment: Environment | None) -> None:
    """Import the modules of a framework before an algorithm is made, so that fitting times do not include it."""
    for module in environment.imports if environment else ():
        importlib.import_module(module)


def build(name: str, environment: Environment, report: Report, *, again: bool = False) -> Path:
    """Build the environment of a framework, unless it exists (or ``again``); returns its interpreter.

    ``report`` receives a line of progress. Two processes that build the same
    environment wait for each other; an interrupted build starts again.
    """
    folder = folder_of(name, environment)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.with_name(folder.name + ".lock"), report):
        if again or not (folder / COMPLETE).is_file():
            (folder / COMPLETE).unlink(missing_ok=True)  # first, so that a half-removed folder is not complete
            shutil.rmtree(folder, ignore_errors=True)
            _build(name, environment, folder, report)
    return interpreter(folder)


@contextlib.contextmanager
def _locked(path: Path, report: Report) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        report("another process is building the same environment; waiting for it")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _build(name: str, environment: Environment, folder: Path, report: Report) -> None:
    report(f"environment of {name} in {folder}")
    _run(name, [sys.executable, *VENV, str(folder)], report)
    python = str(interpreter(folder))
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--no-input", "--retries", "10", "--timeout", "60"]
    for arguments in _installs(environment, folder, report):
        _run(name, [*pip, "install", "--prefer-binary", *arguments], report, tries=TRIES)
    for module in (*WORKER, *environment.imports):
        report(f"importing {module}")
        _run(name, [python, "-c", f"import {module}"], report)
    listed = subprocess.run([*pip, "freeze", "--all"], capture_output=True, text=True, check=True).stdout
    record = {"framework": name, "steps": environment.steps, "freeze": listed.splitlines()}
    part = folder / f"{COMPLETE}.part"
    part.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    part.replace(folder / COMPLETE)
    report(f"{name} is ready")


def _mismatched(lines: Sequence[str]) -> str:
    """The requirement with a wrong file, which pip names after its line about hashes."""
    after = lines[next(n for n, line in enumerate(lines) if _MISMATCH in line) + 1 :]
    return next((line.split()[0] for line in after if "==" in line), "it does not say of what")


def _installs(environment: Environment, folder: Path, report: Report) -> Iterator[list[str]]:
    """The arguments of each call of pip: pins with hashes are installed with them, in a separate call."""
    frozen = []
    if environment.frozen:
        (folder / FROZEN).write_text("\n".join(environment.frozen) + "\n", encoding="utf-8")
        frozen = ["-c", str(folder / FROZEN)]
    for number, step in enumerate(environment.steps, 1):
        report(f"installing {' '.join(step)}")
        hashed = [argument for argument in step if argument in environment.hashes]
        options = [argument for argument in step if not is_pin(argument)]
        if hashed:
            lines = [" ".join([pin, *(f"--hash={digest}" for digest in environment.hashes[pin])]) for pin in hashed]
            listed = folder / f"requirements-{number}.txt"
            listed.write_text("\n".join(lines) + "\n", encoding="utf-8")
            yield [*options, "--require-hashes", "-r", str(listed)]
        unhashed = [argument for argument in step if argument not in environment.hashes]
        if not hashed or unhashed != options:
            yield [*frozen, *unhashed]


def _guarded(command: Sequence[str]) -> subprocess.Popen[str]:
    """Start a command that ends when this process ends or is killed, with all processes that it starts."""
    return subprocess.Popen(
        [sys.executable, "-I", process_guard.__file__, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _run(name: str, command: Sequence[str], report: Report, tries: int = 1) -> None:
    """Run a command and report each line; after the last failed try, the error has its last lines."""
    for left in range(tries - 1, -1, -1):
        lines: list[str] = []
        with _guarded(command) as process:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line.rstrip())
                report("  " + line.rstrip())
        if process.returncode == 0:
            return
        if any(_MISMATCH in line for line in lines):
            raise PluginError(
                f"the environment of {name} is not built: pip downloaded a file that is not one of those that the "
                f"plug-in pins by their hashes ({_mismatched(lines)}); it was changed on its way, or the index has "
                "another build of it: use the index that the plug-in was locked with"
            )
        if left:
            report(f"failed with status {process.returncode}; trying again")
            time.sleep(PAUSE)
    last_lines = "\n".join(f"    {line}" for line in lines[-_LAST:])
    raise PluginError(
        f"the environment of {name} cannot be built: `{' '.join(command)[:300]}` ended with "
        f"status {process.returncode}; its last lines:\n{last_lines}"
    )
