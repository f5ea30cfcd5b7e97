"""Wheels of the core and the plug-ins have all that they need, and work outside of the source tree."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from repro.system import interpreter

ROOT = Path(__file__).parents[2]
PROJECTS = [ROOT, *sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))]
PYTHONS = ["3.11", "3.12", "3.13"]


def build(folder, projects):
    """The wheels of projects."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--no-build-isolation", "--wheel-dir", str(folder), *map(str, projects)], check=True)
    return sorted(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def wheels(tmp_path_factory):
    """The wheels of the core and of the tutorial's plug-in, which needs NumPy alone."""
    return build(tmp_path_factory.mktemp("wheels"), [ROOT, ROOT / "plugins" / "example"])


def named(wheels, name):
    return next(wheel for wheel in wheels if wheel.name.startswith(f"{name}-"))


def walk(python, folder, study, evaluate_code, path=""):
    """Evaluate, run a study and verify it with an interpreter, in an empty folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "REPRO"))}
    environment |= {"REPRO_PLUGINS": "example"} | ({"PYTHONPATH": path} if path else {})

    def call(*arguments):
        done = subprocess.run(
            [python, "-P", *arguments], env=environment, cwd=folder, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert not Path(call("-c", "import repro; print(repro.__file__)").strip()).is_relative_to(ROOT)
    assert call("-c", evaluate_code).split()[-1] == "0.5"
    call("-m", "repro", "run", str(study), "--into", str(folder / "run"), "--quiet")
    call("-m", "repro", "verify", str(folder / "run"))
    assert "short memory" in (folder / "run" / "report.html").read_text(encoding="utf-8")
    assert "random-5fold" in call("-m", "repro", "protocol", "show", "random-5fold")


def check_files(wheel):
    files = zipfile.ZipFile(wheel).namelist()
    assert not [file for file in files if {"tests", "conftest.py"} & set(file.split("/"))], wheel.name
    assert any(file.endswith("/py.typed") for file in files), wheel.name


@pytest.mark.slow
def test_wheels_of_all_plugins_have_their_types_and_no_tests(tmp_path):
    built = build(tmp_path, PROJECTS)
    assert len(built) == len(PROJECTS)
    for wheel in built:
        check_files(wheel)


def test_the_wheel_has_all_files_and_no_tests(wheels):
    check_files(named(wheels, "recsys_repro"))
    files = set(zipfile.ZipFile(named(wheels, "recsys_repro")).namelist())
    source = {path for path in (ROOT / "repro").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    expected = {path.relative_to(ROOT).as_posix() for path in source}
    protocols = {path.relative_to(ROOT / "protocols") for path in (ROOT / "protocols").rglob("*.toml")}
    expected |= {"recsys_repro.py", *(f"repro/_protocols/{path.as_posix()}" for path in protocols)}
    assert protocols and expected <= files, expected - files
    assert {file.split("/")[0].partition("-")[0] for file in files} == {"repro", "recsys_repro.py", "recsys_repro"}


@pytest.mark.slow
def test_the_wheel_works_outside_of_the_source_tree(wheels, study, evaluate_code, tmp_path):
    """With the dependencies of this environment; compiling everything anew takes most of the time."""
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    chosen = [str(named(wheels, name)) for name in ("recsys_repro", "recsys_repro_example")]
    subprocess.run([*install, "--target", str(site), *chosen], check=True)
    walk(sys.executable, tmp_path, study, evaluate_code, str(site))


@pytest.mark.slow
@pytest.mark.parametrize("version", PYTHONS)
def test_wheels_install_into_an_empty_environment(version, study, evaluate_code, tmp_path):
    python = interpreter_of(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    environment = tmp_path / "environment"
    subprocess.run([python, "-m", "venv", str(environment)], check=True)
    built = build(tmp_path / "wheels", [ROOT, ROOT / "plugins" / "example", ROOT / "plugins" / "reference"])
    chosen = [str(wheel) for wheel in built]
    own = str(interpreter(environment))
    pip = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "10"]
    core = [path for path in chosen if "recsys_repro_reference" not in path]
    subprocess.run([*pip, *core], check=True)
    walk(own, tmp_path, study, evaluate_code)
    assert size(environment) < 650, "megabytes of a minimal installation"
    subprocess.run([*pip, *chosen], check=True)
    listed = subprocess.run([own, "-m", "repro", "algorithms"], cwd=tmp_path, capture_output=True, text=True)
    assert "reference" in listed.stdout


def interpreter_of(version):
    """An interpreter of a version of Python that starts here."""
    versions = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for candidate in (shutil.which(f"python{version}"), *map(str, versions)):
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True).returncode == 0:
            return candidate
    return None


def size(folder):
    """The size of all files on the disk, in megabytes."""
    seen = {path.lstat() for path in folder.rglob("*")}
    return sum(getattr(stat, "st_blocks", stat.st_size // 512) * 512 for stat in seen) / 2**20
