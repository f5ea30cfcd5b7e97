"""Tests of the files of the container: .dockerignore leaves out what is made here, and nothing that is needed."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MADE = {"__pycache__", ".venv", "build"}


def pattern(line):
    """A line of .dockerignore as a regular expression for paths: `**` is any number of folders, `*` part of a name."""
    parts = [re.escape(part) for part in re.split(r"\*\*/", line)]
    inside = "(?:.*/)?".join(part.replace(r"\*", "[^/]*") for part in parts)
    return re.compile(f"{inside}(?:/.*)?")


def left_out(path):
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    return any(pattern(line).fullmatch(path) for line in lines)


def test_no_source_and_nothing_that_the_makefile_reads_is_left_out():
    sources = [
        path.relative_to(ROOT)
        for folder in ("repro", "plugins", "protocols")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix in (".py", ".toml", ".html", ".css", ".js", ".txt", ".md")
    ]
    needed = [path.as_posix() for path in sources if not MADE & {*path.parts}]
    assert "repro/reports/run/__init__.py" in needed
    needed += ["Makefile", "pyproject.toml", "constraints.txt", "README.md", "LICENSE", "tests/exports/validator.txt"]
    needed += ["recsys_repro.py", "reports/cross-framework-ml100k/study.toml"]
    assert not [path for path in needed if left_out(path)]
    assert all((ROOT / path).exists() for path in needed)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".venv/bin/python", True),
        ("reports/cross-framework-ml100k/run/journal.jsonl", True),
        ("reports/cross-framework-ml100k/ut/run/journal.jsonl", True),
        ("repro/split/__pycache__/ratio.pyc", True),
        ("reports/cross-framework-ml100k/README.md", False),
        ("repro/reports/run/answer_section.py", False),
        ("build/site/index.html", True),
        ("plugins/reference/build.py", False),
    ],
)
def test_what_is_made_here_is_left_out(path, expected):
    assert left_out(path) == expected
