"""Help that can be pasted into a shell: an example in each line, and no line break within a word or a command."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

# Lines are not broken at these, which stand for the hyphens of words and the blanks of commands until help is printed.
_HYPHEN, _BLANK = "\N{NON-BREAKING HYPHEN}", "\N{NO-BREAK SPACE}"


class _WholeWords(click.HelpFormatter):
    """Breaks lines between words alone: not at the hyphen of `--cell-seconds`, and not within backticks."""

    def write(self, string: str) -> None:
        super().write(string.replace(_HYPHEN, "-").replace(_BLANK, " "))

    def write_text(self, text: str) -> None:
        super().write_text(_unbroken(text))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl([(name, _unbroken(text)) for name, text in rows], col_max, col_spacing)


def _unbroken(text: str) -> str:
    commands = re.sub(r"`[^`]+`", lambda command: re.sub(r"\s+", _BLANK, command[0]), text)
    return commands.replace("-", _HYPHEN)


class _Context(click.Context):
    formatter_class = _WholeWords


class Command(click.Command):
    """A command whose epilog is `Examples: one; another`."""

    context_class = _Context

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        examples = examples_of(self.epilog)
        with formatter.section("Examples" if len(examples) > 1 else "Example"):
            for example in examples:
                formatter.write(_shell_lines(example, " " * formatter.current_indent, formatter.width))


class Group(Command, click.Group):
    """A group of such commands, which are listed with the whole first sentence of each."""

    command_class = Command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, first_paragraph(command)) for name, command in commands if command is not None])


def examples_of(epilog: str | None) -> list[str]:
    """The commands in an epilog."""
    return (epilog or "").partition(": ")[2].split("; ")


def first_paragraph(command: click.Command) -> str:
    """The first paragraph of the help of a command, as one line."""
    return (command.help or "").partition("\n\n")[0].replace("\n", " ")


def _shell_lines(example: str, indent: str, width: int) -> str:
    """The example as lines of at most ``width`` characters where it can: broken before options, with a backslash."""
    lines = [indent]
    for part in re.split(r" (?=-)", example):
        joined = f"{lines[-1]} {part}" if lines[-1].strip() else lines[-1] + part
        if len(joined) > width - 2 and lines[-1].strip():
            lines[-1] += " \\"
            lines.append(f"{indent}    {part}")
        else:
            lines[-1] = joined
    return "\n".join(lines) + "\n"
