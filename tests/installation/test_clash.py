"""Another package called `repro` is recognised: by what pip wrote about it, and by a real installation of it."""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from repro.clashes import clash
from repro.system import interpreter

ROOT = Path(__file__).parents[2]
OURS, THEIRS = b"ours = 1\n", b"theirs = 1\n"


def record(content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"repro/__init__.py,sha256={digest},{len(content)}\nrepro/x.py,,\n"


@pytest.fixture
def site(tmp_path):
    """A folder of installed packages with recsys-repro in it."""
    (tmp_path / "repro").mkdir()
    (tmp_path / "repro" / "__init__.py").write_bytes(OURS)
    (tmp_path / "recsys_repro-0.1.0.dist-info").mkdir()
    (tmp_path / "recsys_repro-0.1.0.dist-info" / "RECORD").write_text(record(OURS))
    return tmp_path


def add(site, name, text):
    (site / name).mkdir()
    (site / name / "RECORD").write_text(text)


def test_there_is_no_clash_without_the_other_package(site):
    add(site, "repro_eval-0.5.0.dist-info", record(THEIRS))
    add(site, "repro-3.0.dist-info", "another_module/__init__.py,,\n")
    assert clash(site) == ""
    assert clash() == ""


@pytest.mark.parametrize("package", ["repro", "repro2"])
@pytest.mark.parametrize("last", [OURS, THEIRS])
def test_the_other_package_is_named_whichever_was_installed_last(site, package, last):
    add(site, f"{package}-0.1.6.dist-info", record(THEIRS))
    (site / "repro" / "__init__.py").write_bytes(last)
    problem = clash(site)
    assert f"Another package, {package} 0.1.6, is installed in {site}" in problem
    assert ("`import repro` imports the other package" in problem) == (last == THEIRS)
    assert problem.endswith("pip uninstall -y repro recsys-repro, then pip install recsys-repro")


def test_files_that_went_with_the_other_package_are_missed(site):
    (site / "repro" / "__init__.py").unlink()
    assert "pip install --force-reinstall --no-deps recsys-repro" in clash(site)


@pytest.mark.parametrize("last", ["ours", "theirs"])
def test_import_and_command_say_it(tmp_path, last):
    """With the real package in a folder, and next to it files of the other one, as pip leaves them."""
    shutil.copytree(ROOT / "repro", tmp_path / "repro", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "recsys_repro.py", tmp_path)
    add(tmp_path, "repro-0.1.6.dist-info", record(THEIRS))
    if last == "theirs":
        (tmp_path / "repro" / "__init__.py").write_bytes(THEIRS)
        (tmp_path / "repro" / "version.py").write_bytes(b"VERSION = 1\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "REPRO_PLUGINS": "", "PYTHONDONTWRITEBYTECODE": "1"}
    for code in ("import recsys_repro; recsys_repro.main()", *(["import repro"] if last == "ours" else [])):
        done = subprocess.run(
            [sys.executable, "-P", "-c", code, "--version"],
            env=environment,
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert "Another package, repro 0.1.6" in done.stderr
        assert done.returncode == (1 if last == "theirs" else 0)


@pytest.mark.slow
@pytest.mark.parametrize("last", ["ours", "theirs"])
def test_the_package_of_the_index(tmp_path, last):
    venv.create(tmp_path / "env", with_pip=True)
    python = str(interpreter(tmp_path / "env"))
    pip = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"]
    for package in [str(ROOT), "repro==0.1.6"][:: 1 if last == "theirs" else -1]:
        subprocess.run([*pip, package], check=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = str(Path(python).with_name("recsys-repro"))
    result = subprocess.run([command], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert "Another package, repro 0.1.6, is installed in" in result.stderr
    assert ("`import repro` imports the other package" in result.stderr) == (last == "theirs")
