"""Packages import each other by statements that the linter sees, never by names in text."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULE = re.compile(r"repro\.(\w+)[\w.]*(:\w+)?")


def texts(tree):
    """The string constants of a module, docstrings aside; of an f-string, its beginning."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def imports_by_name(source, package):
    """The lines of a module of ``package`` that name a module of another package in text."""
    packages = {path.stem for path in (ROOT / "repro").iterdir()}
    actual = []
    for line, text in texts(ast.parse(source)):
        named = MODULE.fullmatch(text.strip())
        if named and named[1] in packages - {package}:
            actual.append((line, text))
    return actual


def test_no_package_names_a_module_of_another_one_in_text():
    actual = {}
    for path in sorted((ROOT / "repro").rglob("*.py")):
        inside = path.relative_to(ROOT / "repro")
        if inside.name == "__init__.py" and len(inside.parts) == 1:  # names where the public names are
            continue
        if offences := imports_by_name(path.read_text(encoding="utf-8"), inside.parts[0].removesuffix(".py")):
            actual[str(inside)] = offences
    assert not actual


@pytest.mark.parametrize(
    "line",
    [
        'resolve_name("repro.split:decisions")()',
        'import_module("repro.evaluation.metrics")',
        'EXPORT = "repro.exports:export"',
        'import_module(f"repro.evaluation.metrics.{name}")',
        '__import__("repro.plugin")',
    ],
)
def test_an_import_by_name_is_seen(line):
    assert imports_by_name(line, "protocol")
    assert not imports_by_name(line, MODULE.search(line)[1])
    assert not imports_by_name(f"'''{line}'''", "protocol")
