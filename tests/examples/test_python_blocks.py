"""Every Python block of the documentation runs; every TOML block can be read; every name of `repro` in it exists."""

import ast
import pkgutil
import re
import textwrap
import tomllib
from pathlib import Path

import pandas as pd
import pytest

import repro
import repro.plugin

from .test_commands import BLOCK, PAGES, ROOT

# Blocks that are not run here, by how they begin, with the reason.
NOT_RUN = {
    "import repro\n\n\ndef hit_rate(": "tests/audits/test_page.py runs it and compares what it prints",
    "class FollowedBy:": "tests/plugin/api/test_queries.py runs it on a few clicks",
    "from repro.plugin import pinned, plugins": "builds an environment, as tests/plugin/isolation/test_pins.py does",
}
# The code of the example plug-in, which plugins/example/tests install and run.
SOURCES = sorted(ROOT.glob("plugins/example/repro_example/*.py"))
EXAMPLE = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)


def blocks(language):
    for page in PAGES:
        for number, (tag, text) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), 1):
            if tag == language:
                yield pytest.param(text, id=f"{page.name}, block {number}")


def pages(language):
    """The blocks of each page, in their order."""
    for page in PAGES:
        texts = [text for tag, text in BLOCK.findall(page.read_text(encoding="utf-8")) if tag == language]
        if texts:
            yield pytest.param(texts, id=str(page.relative_to(ROOT)))


def is_named(text):
    return any(text.startswith(start) for start in NOT_RUN)


@pytest.fixture(scope="module")
def ml_100k_like(made):
    """Small ratings in the place of MovieLens 100K, which pages load."""
    return repro.load_dataset(made / "ratings.csv")


@pytest.mark.parametrize("texts", pages("python"))
def test_they_run_in_order_or_are_the_code_of_the_example_plugin(texts, workspace, ml_100k_like):
    names = {
        **{name: getattr(repro.plugin, name) for name in repro.plugin.__all__},
        "repro": repro,
        "recommendations": pd.read_csv("run.tsv", sep="\t"),
        "truth": pd.read_csv("test.tsv", sep="\t"),
        "ml_100k_like": ml_100k_like,
    }
    for text in texts:
        code = compile(text.replace('repro.load_dataset("ml-100k")', "ml_100k_like"), "block", "exec")
        if not is_named(text) and text.strip() not in EXAMPLE:
            exec(code, names)


def test_what_is_not_run_is_still_there():
    texts = [parameter.values[0] for parameter in blocks("python")]
    for start in NOT_RUN:
        assert any(text.startswith(start) for text in texts), start


def test_a_block_that_does_not_run_is_noticed(workspace, ml_100k_like):
    for wrong in ("repro.no_such_name()", "def f(:"):
        with pytest.raises((AttributeError, SyntaxError)):
            test_they_run_in_order_or_are_the_code_of_the_example_plugin([wrong], workspace, ml_100k_like)


def literal_blocks():
    """Blocks after a line `::` in docstrings of modules; all of them are TOML."""
    for path in sorted((ROOT / "repro").rglob("*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        for block in re.findall(r"^::\n\n((?: {4}.*\n|\n)+)", text, re.MULTILINE):
            yield pytest.param(textwrap.dedent(block), id=path.name)


@pytest.mark.parametrize("text", [*blocks("toml"), *literal_blocks()])
def test_it_is_toml(text):
    assert tomllib.loads(text)


def mentioned():
    """Names such as `repro.replay` in pages, and in the roles and code spans of docstrings."""
    sources = [*PAGES, *sorted((ROOT / "repro").rglob("*.py")), *sorted(ROOT.glob("plugins/*/*/*.py"))]
    pages = {}
    for path in sources:
        for name in re.findall(r"`~?(repro(?:\.[A-Za-z_]\w*)+)", path.read_text(encoding="utf-8")):
            pages.setdefault(name, path)
    return pages


def test_every_name_of_repro_in_the_documentation_exists():
    for name, path in mentioned().items():
        try:
            pkgutil.resolve_name(name)
        except (ImportError, AttributeError) as error:
            pytest.fail(f"{Path(path).relative_to(ROOT)} names {name}: {error}")


def test_names_in_pages_are_reached_by_import_repro_alone():
    for page in PAGES:
        for name in re.findall(r"`(repro(?:\.[A-Za-z_]\w*)+)", page.read_text(encoding="utf-8")):
            member = repro
            for part in name.split(".")[1:]:
                member = getattr(member, part)
