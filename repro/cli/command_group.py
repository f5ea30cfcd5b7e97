"""The group of all commands: modules in the folders of ``repro.cli.commands``, imported only when they are called."""

from __future__ import annotations

import importlib
import os
import re
from functools import cache
from importlib.machinery import SourceFileLoader

import click

from repro.cli import commands
from repro.cli.exit_codes import EXIT_CODES
from repro.cli.help_text import Group

# What the start-up file of each shell needs, for names to be completed.
COMPLETION = {
    "bash": 'eval "$(_REPRO_COMPLETE=bash_source repro)"',
    "zsh": 'eval "$(_REPRO_COMPLETE=zsh_source repro)"',
    "fish": "_REPRO_COMPLETE=fish_source repro | source",
}


@cache
def command_modules() -> dict[str, str]:
    """The module of each command, by name; modules whose names begin with an underscore are parts of a command.

    Folders are read with ``os`` and files with a loader: `repro --help` does not wait for the import of pathlib.
    """
    names = {}
    for room in os.scandir(commands.__path__[0]):
        if room.is_dir():
            for file in os.scandir(room.path):
                if file.name.endswith(".py") and not file.name.startswith("_"):
                    names[file.name.removesuffix(".py")] = f"{commands.__name__}.{room.name}.{file.name[:-3]}"
    return {name.replace("_", "-"): names[name] for name in sorted(names)}


def summary(name: str) -> str:
    """The first line of the docstring of a command, read from its file."""
    _, room, function = command_modules()[name].rsplit(".", 2)
    path = f"{commands.__path__[0]}/{room}/{function}.py"
    source = SourceFileLoader(function, path).get_data(path).decode()
    docstring = re.search(rf'^def {function}\(.*?^    """(.*?)(?:"""|$)', source, re.MULTILINE | re.DOTALL)
    assert docstring is not None, f"{path} has no function {function} with a docstring"
    return docstring[1]


class CommandGroup(Group):
    """Lists its commands without importing them: `repro --help` must not wait for pandas."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(command_modules())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = command_modules().get(cmd_name)
        if module is None:
            return None
        command = getattr(importlib.import_module(module), module.rpartition(".")[2])
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from repro.errors import nearest

        name, names = args[0], command_modules()
        if name not in names and not name.startswith("-"):
            ctx.fail(f"there is no command '{name}'{nearest(name, names)} Commands: {', '.join(names)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary(name)) for name in command_modules()])
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in EXIT_CODES.items()])
        with formatter.section("Tab completion"):
            formatter.write_dl(list(COMPLETION.items()))
