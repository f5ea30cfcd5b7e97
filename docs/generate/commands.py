"""The pages about commands, made from the command line itself."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click
from tables import code, escaped, fence, table, toctree

from repro.cli import cli
from repro.cli.command_group import COMPLETION
from repro.cli.exit_codes import EXIT_CODES
from repro.cli.help_text import examples_of, first_paragraph


def command_pages() -> dict[str, str]:
    """A page for each command with its subcommands, and one that lists them all."""
    root = click.Context(cli, info_name="repro")
    rows = []
    pages = {}
    for name in cli.list_commands(root):
        command = cli.get_command(root, name)
        assert command is not None
        rows.append((f"[repro {name}]({name}.md)", escaped(first_paragraph(command))))
        sections = [_section(context) for context in _with_subcommands(click.Context(command, root, info_name=name))]
        pages[f"reference/commands/{name}.md"] = "\n".join(sections)
    own = [_option(parameter, root) for parameter in cli.get_params(root)]
    lines = [
        "# Commands",
        "",
        "Every command has `--help` with examples; all that print results print JSON with `--json`. `--into` is the "
        "file or the folder that is written.",
        "",
        table(("command", "what it does"), rows),
        "## Options of `repro` itself",
        "",
        table(("option", "what it does"), [row for row in own if row is not None]),
    ]
    lines += [
        "## Exit codes",
        "",
        table(("code", "meaning"), [(str(code), escaped(meaning)) for code, meaning in EXIT_CODES.items()]),
        "## Tab completion",
        "",
        "Names of commands, options, decisions and their values, metrics, algorithms, protocols and data sets are "
        "completed after this line in the start-up file of the shell:",
        "",
        table(("shell", "line"), [(shell, code(line)) for shell, line in COMPLETION.items()]),
    ]
    lines += [toctree(f"{name}.md" for name in cli.list_commands(root))]
    return {"reference/commands/index.md": "\n".join(lines), **pages}


def _with_subcommands(context: click.Context) -> Iterator[click.Context]:
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            assert command is not None
            yield from _with_subcommands(click.Context(command, context, info_name=name))


def _section(context: click.Context) -> str:
    command = context.command
    depth = "#" if context.parent is not None and context.parent.parent is None else "##"
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    lines = [f"{depth} {context.command_path}", "", *_help(command.help or ""), fence(usage, "sh")]
    options = [row for row in (_option(parameter, context) for parameter in command.get_params(context)) if row]
    if options:
        lines += [table(("option", "what it does"), options)]
    return "\n".join([*lines, fence("\n".join(examples_of(command.epilog)), "sh")])


def _help(text: str) -> Iterator[str]:
    for paragraph in inspect.cleandoc(text).split("\n\n") if text else ():
        if paragraph.startswith("\b"):
            yield fence(paragraph.removeprefix("\b").strip("\n"))
        else:
            yield escaped(paragraph) + "\n"


def _option(parameter: click.Parameter, context: click.Context) -> tuple[str, str] | None:
    if not isinstance(parameter, click.Option) or (record := parameter.get_help_record(context)) is None:
        return None
    return code(record[0]), escaped(re.sub(r"\s+", " ", record[1]))
