"""The group of all commands: found in the folders of ``repro.cli.commands``, each imported only when it is called."""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path

import click


@cache
def command_files() -> dict[str, Path]:
    """The file of each command, by name; files whose names begin with an underscore are parts of a command."""
    folder = Path(__file__).parent / "commands"
    files = sorted(folder.glob("*/[!_]*.py"), key=lambda file: file.stem)
    return {file.stem.replace("_", "-"): file for file in files}


def summary(name: str) -> str:
    """The first line of the docstring of a command, read from its file."""
    file = command_files()[name]
    docstring = rf'^def {file.stem}\(.*?^    """(.*?)(?:"""|$)'
    found = re.search(docstring, file.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None, f"{file} has no function {file.stem} with a docstring"
    return found[1]


class CommandGroup(click.Group):
    """Lists its commands without importing them: `repro --help` must not wait for pandas."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(command_files())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        file = command_files().get(cmd_name)
        if file is None:
            return None
        module = importlib.import_module(f"repro.cli.commands.{file.parent.name}.{file.stem}")
        command = getattr(module, file.stem)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from repro.errors import nearest

        name, names = args[0], command_files()
        if name not in names and not name.startswith("-"):
            ctx.fail(f"there is no command '{name}'{nearest(name, names)} Commands: {', '.join(names)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary(name)) for name in command_files()])
