"""Functions to be audited, and the audit of docs/how-to/audit.md."""

import contextlib
import importlib.util
import io
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "audit.md").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def functions():
    """The module beside this file with evaluation functions as people write them."""
    spec = importlib.util.spec_from_file_location("audited_functions", Path(__file__).with_name("functions.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def page():
    """The page about audits: its code, and the other blocks."""
    [code] = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    _, printed, case = re.findall(r"```\n(.*?)```", PAGE.replace(f"```python\n{code}```", ""), flags=re.DOTALL)
    names = {}
    exec(code.partition("\nfound = ")[0], names)
    return SimpleNamespace(code=code, printed=printed, case=case, hit_rate=names["hit_rate"])


@pytest.fixture(scope="session")
def ran(page):
    """Run the code of the page; what it prints and finds. Tests that use it are in the xdist_group "inferred"."""
    printed, names = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        exec(page.code, names)
    return SimpleNamespace(printed=printed.getvalue(), found=names["found"])
