"""Functions to be audited, and the audit of the README."""

import contextlib
import importlib.util
import io
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def functions():
    """The module beside this file with evaluation functions as people write them."""
    spec = importlib.util.spec_from_file_location("audited_functions", Path(__file__).with_name("functions.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def readme():
    """The section of the README about audits: its code, and the other blocks."""
    section = README.partition("\n## Audit an evaluator\n")[2].partition("\n## ")[0]
    [code] = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    _, printed, case = re.findall(r"```\n(.*?)```", section.replace(f"```python\n{code}```", ""), flags=re.DOTALL)
    names = {}
    exec(code.partition("\nfound = ")[0], names)
    return SimpleNamespace(code=code, printed=printed, case=case, hit_rate=names["hit_rate"])


@pytest.fixture(scope="session")
def ran(readme):
    """What the code of the README prints and finds; tests that use it are in the xdist_group "inferred"."""
    printed, names = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        exec(readme.code, names)
    return SimpleNamespace(printed=printed.getvalue(), found=names["found"])
