"""Texts of the project name things that exist, and docstrings start with what a function returns or does."""

import ast
import io
import pkgutil
import re
import subprocess
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"(?<![\w./:-])repro((?:\.[A-Za-z_]\w*)+)")
PATH = re.compile(r"(?<![\w./-])(?:repro|docs|benchmarks|protocols)(?:/[\w-][\w.-]*)+/?")
QUESTION = re.compile(r"(How|Where|What|Which|When|Who|Why)\b")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def tracked(*patterns):
    """The files under version control that match; answers of studies and audits are not texts about the code."""
    command = ["git", "ls-files", "--", *patterns, ":!reports", ":!CHANGELOG.md"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def docstrings(source):
    """The docstrings of a module, with their lines."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            yield node.body[0].lineno, text


def comments(source):
    """The comments of a module, with their lines."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def texts(path):
    """The texts of a file for its readers, with their lines: docstrings and comments of a module, else all lines."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return [*docstrings(source), *comments(source)]
    return list(enumerate(source.splitlines(), 1))


def exists(name):
    """Whether ``name`` is a module, or something in one."""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


FILES = tracked("*.md", "*.css", "*.html", "*.py", "docs", "Makefile", "pyproject.toml", ".github")


def test_every_name_in_a_text_exists():
    named = {}
    for path in FILES:
        for line, text in texts(path):
            for name in NAME.findall(text):
                named.setdefault(f"repro{name}", f"{path.relative_to(ROOT)}:{line}")
    assert len(named) > 100
    assert not {name: where for name, where in named.items() if not exists(name)}


def test_every_path_in_a_text_exists():
    named = {}
    for path in FILES:
        for line, text in texts(path) if path.suffix in (".md", ".py") else ():
            for name in PATH.findall(text):
                named.setdefault(name.rstrip("./"), f"{path.relative_to(ROOT)}:{line}")
    assert len(named) > 100
    assert not {name: where for name, where in named.items() if not any(ROOT.glob(name))}


@pytest.mark.parametrize("name", ["repro.verify.level", "repro.explain.attribution", "repro.nothing"])
def test_names_that_do_not_exist_are_noticed(name):
    assert not exists(name)


def test_docstrings_start_with_what_a_function_returns_or_does():
    questions = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in FILES
        if path.suffix == ".py"
        for line, text in docstrings(path.read_text(encoding="utf-8"))
        if QUESTION.match(text)
    ]
    assert not questions
