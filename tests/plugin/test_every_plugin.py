"""A plug-in of this repository touches its own folder only: whatever is in plugins/ is picked up, and named nowhere."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from repro.plugin import plugins

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
each = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
# Its own tests install the example.
INSTALLED = [folder for folder in FOLDERS if folder.name != "example"]


def made(*arguments: str) -> str:
    """The commands that `make` would run."""
    return subprocess.run(["make", "-n", "-B", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


@each
def test_its_package_is_type_checked_and_typed(folder):
    packages = {path for pattern in PROJECT["tool"]["mypy"]["files"] for path in ROOT.glob(pattern)}
    assert folder / f"repro_{folder.name}" in packages
    assert (folder / f"repro_{folder.name}" / "py.typed").is_file()


def test_each_is_installed_with_its_framework_where_it_says_so():
    installed = dict(re.findall(r"-e '\./plugins/(\w+)(\[framework\])?'", made("install")))
    assert sorted(installed) == [folder.name for folder in INSTALLED]
    for folder in INSTALLED:
        project = tomllib.loads((folder / "pyproject.toml").read_text())
        assert bool(installed[folder.name]) == project.get("tool", {}).get("repro", {}).get("together", False)


@pytest.mark.parametrize("folder", INSTALLED, ids=lambda folder: folder.name)
def test_it_is_tested_with_the_kit(folder):
    tests = "".join(path.read_text() for path in (folder / "tests").glob("test_*.py"))
    assert re.search(rf'Contract\b.*plugin = "repro_{folder.name}\.plugin"', tests, flags=re.DOTALL)
    assert folder.parent.name in PROJECT["tool"]["pytest"]["ini_options"]["testpaths"]


@pytest.mark.parametrize("file", ["pyproject.toml", "Makefile", "conftest.py", "plugins/conftest.py"])
def test_no_list_names_plugins(file):
    text = (ROOT / file).read_text()
    assert not re.findall(r"plugins/(?!example|lock)[a-z]\w+(?<!conftest)", text.replace("plugins install", ""))
    assert not re.findall(r"\brepro_(?!eval\b)[a-z]\w+", text)


def test_the_core_imports_no_framework_and_no_plugin():
    """Neither what the environments of plug-ins name nor plug-ins themselves, wherever the import stands."""
    forbidden = {f"repro_{folder.name}" for folder in FOLDERS}
    for framework in plugins().frameworks.values():
        if framework.environment is not None:
            forbidden |= {module.partition(".")[0] for module in framework.environment.imports}
    assert {"lenskit", "surprise", "torch", "repro_reference"} <= forbidden
    forbidden -= {"pyarrow"}  # which the core has too
    for path in (ROOT / "repro").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Import(names=names):
                    modules = {alias.name.partition(".")[0] for alias in names}
                case ast.ImportFrom(module=str(module), level=0):
                    modules = {module.partition(".")[0]}
                case _:
                    continue
            assert not modules & forbidden, f"{path} imports {modules & forbidden}"
