"""Pages whose examples run when the site is built: each `<!-- output -->` becomes what the block before it prints."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from tables import fence

from repro.cli import cli

OUTPUT = "<!-- output -->"
BLOCK = re.compile(
    r"(?:<!-- (?P<mark>not run|file: (?P<file>[\w.-]+)) -->\n)?"
    r"```(?P<language>\w+)\n(?P<text>.*?)^```\n"
    r"(?P<output><!-- output -->\n)?",
    re.MULTILINE | re.DOTALL,
)


@contextlib.contextmanager
def _workspace() -> Iterator[None]:
    """An empty folder as the current one."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def with_outputs(page: str, *, run: bool) -> str:
    """A page whose examples have run, in their order and in one folder; without ``run`` it says that they have not."""
    if OUTPUT not in page:
        return page
    names: dict[str, Any] = {}

    def replace(block: re.Match[str]) -> str:
        shown = fence(block["text"], block["language"])
        output = _run(block, names) if run else "(not computed in this build)"
        return shown + (f"\n{fence(output)}" if block["output"] else "")

    with _workspace():
        return BLOCK.sub(replace, page)


def _run(block: re.Match[str], names: dict[str, Any]) -> str:
    if block["file"]:
        Path(block["file"]).write_text(block["text"], encoding="utf-8")
    elif block["mark"] is None and block["language"] == "python":
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(block["text"], "page", "exec"), names)
        return printed.getvalue()
    elif block["mark"] is None and block["language"] == "sh":
        return "".join(_command(line) for line in block["text"].splitlines() if line.startswith("repro "))
    return ""


def _command(line: str) -> str:
    """Run a command; what it prints to standard output."""
    arguments = line.partition("  #")[0].split()[1:]
    result = CliRunner(env={"COLUMNS": "110"}).invoke(cli, arguments)
    if result.exit_code:
        raise RuntimeError(f"'{line}' failed:\n{result.output}") from result.exception
    return re.sub(r"[ \t]+$", "", result.stdout, flags=re.MULTILINE)
