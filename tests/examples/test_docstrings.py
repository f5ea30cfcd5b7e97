"""Every example in a docstring runs and gives what it says, with nothing but `import repro` (and NumPy and pandas)."""

import ast
import doctest
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import repro

ROOT = Path(__file__).parents[2]
SOURCES = [*sorted((ROOT / "repro").rglob("*.py")), *sorted(ROOT.glob("plugins/*/*/*.py"))]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def documented(tree, name=""):
    """All docstrings of a module, by the name of what they are about."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node, clean=True)
            if text and ">>>" in text:
                yield getattr(node, "name", "module"), text


def examples():
    for path in SOURCES:
        source = path.read_text(encoding="utf-8")
        if ">>>" in source and "/tests/" not in str(path):
            for name, text in documented(ast.parse(source)):
                where = f"{path.relative_to(ROOT)}:{name}"
                yield pytest.param(where, text, id=where)


@pytest.mark.parametrize(("where", "text"), examples())
def test_it_gives_what_it_says(where, text, workspace):
    names = {"repro": repro, "pd": pd, "np": np}
    case = doctest.DocTestParser().get_doctest(text, names, where, where, 0)
    assert case.examples, "the docstring has >>> and no example that can be read"
    output = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(case, out=output.append)
    assert result.failed == 0, "".join(output)


def test_an_example_that_does_not_run_is_noticed(workspace):
    for wrong in (">>> repro.no_such_name()", ">>> 1 + 1\n3"):
        with pytest.raises(AssertionError):
            test_it_gives_what_it_says("wrong", wrong, workspace)
