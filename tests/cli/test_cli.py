"""The command line: help that comes at once, errors in a sentence, JSON for scripts."""

import json
import re
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from repro.cli import cli
from repro.cli.command_group import command_modules
from repro.cli.exit_codes import EXIT_CODES
from repro.cli.help_text import examples_of, first_paragraph

HEAVY = ("numba", "numpy", "pandas", "pyarrow", "pydantic", "rich", "scipy")


def all_paths():
    def walk(path, command):
        yield path
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                yield from walk([*path, name], command.get_command(context, name))

    return list(walk([], cli))


def command_at(path):
    command = cli
    for name in path:
        command = command.get_command(click.Context(command), name)
    return command


@pytest.mark.parametrize("path", all_paths(), ids=lambda path: " ".join(path) or "repro")
def test_help_has_an_example_and_every_command_that_prints_can_print_json(path):
    result = CliRunner().invoke(cli, [*path, "--help"])
    assert result.exit_code == 0
    assert re.search(r"^Examples?:\n  repro ", result.output, re.MULTILINE)
    if not isinstance(command_at(path), click.Group) and path != ["protocol", "schema"]:  # a schema is JSON
        assert "--json" in result.output


def test_help_imports_nothing_heavy():
    paths = json.dumps(all_paths())
    code = f"""
import json, sys
from click.testing import CliRunner
from repro.cli import cli
for path in json.loads({paths!r}):
    assert CliRunner().invoke(cli, [*path, "--help"]).exit_code == 0
print(*(name for name in {HEAVY!r} if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def repro(*arguments):
    return subprocess.run([sys.executable, "-m", "repro", *arguments], capture_output=True, text=True)


def test_errors_are_a_sentence_without_a_traceback():
    done = repro("protocol", "show", "no-such-protocol")
    assert done.returncode == 1
    assert done.stderr.startswith("error: there is no protocol 'no-such-protocol'")
    assert "Traceback" not in done.stderr


def test_an_unknown_command_gets_the_nearest():
    done = repro("protcol")
    assert done.returncode == 2
    assert "did you mean 'protocol'?" in done.stderr


def test_commands_are_listed_with_what_they_do():
    """The help of a command is written once: the list has the first line of what the command says of itself."""
    output = " ".join(CliRunner().invoke(cli, ["--help"]).output.split())
    assert len(command_modules()) > 15
    for name in command_modules():
        command = cli.get_command(click.Context(cli), name)
        first = command.help.partition("\n")[0]
        assert len(first) > 20 and f" {name} {first}" in output


def test_version():
    assert "repro, version" in CliRunner().invoke(cli, ["--version"]).output


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("path", all_paths(), ids=lambda path: " ".join(path) or "repro")
def test_examples_in_help_are_not_broken_within_a_word(path, width):
    """Without the backslashes at the ends of lines, each example is in the help as it is written."""
    shown = CliRunner().invoke(cli, [*path, "--help"], terminal_width=width).output
    whole = [line.strip() for line in re.sub(r" \\\n +", " ", shown).splitlines()]
    assert examples_of(command_at(path).epilog)
    for example in examples_of(command_at(path).epilog):
        assert example in whole


@pytest.mark.parametrize("path", all_paths(), ids=lambda path: " ".join(path) or "repro")
def test_help_fits_into_80_columns_and_breaks_no_word_and_no_command(path):
    shown = CliRunner().invoke(cli, [*path, "--help"], terminal_width=80).output
    for line in shown.splitlines():
        assert len(line) <= 80, line
        assert not re.search(r"\w[-/]$", line), line
        assert line.count("`") % 2 == 0, line
    command = command_at(path)
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            assert first_paragraph(command_at([*path, name])) in " ".join(shown.split())


def test_the_help_has_the_exit_codes():
    output = " ".join(CliRunner().invoke(cli, ["--help"]).output.split())
    assert "Exit codes: 0 done" in output
    for code, meaning in EXIT_CODES.items():
        assert f" {code} {meaning}" in output


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("metrics", "show", "ndcg"), 0),
        (("--help",), 0),
        (("metrics", "show", "no-such-metric"), 1),
        (("protocol", "validate", "no-such-file.toml"), 1),
        (("study", "check", "no-such-file.toml"), 1),
        (("run", "no-such-study.toml"), 1),
        (("verify", "no-such-run"), 1),
        (("no-such-command",), 2),
        (("run",), 2),
        (("metrics", "list", "--no-such-option"), 2),
    ],
)
def test_commands_follow_the_exit_codes(arguments, code):
    done = repro(*arguments)
    assert done.returncode == code, done.stderr
    assert bool(done.stderr) == (code != 0) or arguments[0] == "study"


def test_options_have_one_name_and_one_style_of_placeholders():
    """Folders and files are written with --into, placeholders are words in capitals, and -m and -h are short."""
    other_words = {"--out", "--output", "--outdir", "--output-dir", "--dest", "--directory"}
    for path in all_paths():
        command = command_at(path)
        for parameter in command.params:
            assert not other_words & {*parameter.opts}, path
            short = {name for name in parameter.opts if re.fullmatch("-[^-]", name)}
            assert short <= {"-m", "-h"}, (path, short)
            if not getattr(parameter, "is_flag", False):
                placeholder = parameter.make_metavar(click.Context(command))
                if not isinstance(parameter.type, click.Choice):
                    assert re.fullmatch(r"[A-Z_=|.,\[\] ]+(none)?\]?", placeholder), (path, placeholder)
                assert not re.search("INTEGER|FLOAT|DIRECTORY|RANGE", placeholder), (path, placeholder)
                assert "TEXT" not in placeholder or parameter.name in ("question", "title", "source"), path
                assert parameter.name not in ("data", "protocol") or placeholder in ("NAME|FILE", "FILE", "DATA"), path
            if "--json" in parameter.opts:
                assert parameter.is_flag
