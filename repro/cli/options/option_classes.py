"""Options of a command as the fields of one dataclass: click fills them, and the command gets a single object."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, fields
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from repro.cli.help_text import Command

Options = TypeVar("Options")
Names = Iterable[str] | Mapping[str, str]


def option(help: str, *names: str, **settings: Any) -> Any:
    """A field that a click option fills, named after the field unless it has other ``names``; help shows defaults.

    The option of a field that is a tuple may be repeated.
    """
    if "default" in settings:
        settings.setdefault("show_default", True)
    if placeholder := _placeholder(settings.get("type")):
        settings.setdefault("metavar", placeholder)

    def declare(field_name: str, kind: object) -> Callable[..., Any]:
        flags = names or (f"--{field_name.replace('_', '-')}",)
        settings.setdefault("multiple", str(kind).startswith("tuple"))
        return click.option(*flags, field_name, help=help, **settings)

    return field(metadata={"declare": declare, "required": settings.get("required", False)})


def _placeholder(kind: object) -> str:
    """The word for a value in help: a folder, a file, a whole number or a number; empty for other types."""
    if isinstance(kind, click.Path):
        return "FILE" if not kind.dir_okay else "" if kind.file_okay else "FOLDER"
    if isinstance(kind, click.IntRange) or kind is int:
        return "N"
    return "NUMBER" if isinstance(kind, click.FloatRange) or kind is float else ""


def flag(help: str, *names: str) -> Any:
    """A field that is true if the option is there."""
    return option(help, *names, is_flag=True)


def count_option(help: str, default: int | None = None) -> Any:
    """A field with a whole number from 1."""
    return option(help, type=click.IntRange(1), **({} if default is None else {"default": default}))


def argument(**settings: Any) -> Any:
    """A field that a click argument fills."""
    return field(metadata={"declare": lambda name, kind: click.argument(name, **settings), "required": True})


def command(*examples: str, group: click.Group | None = None) -> Callable[[Callable[[Options], None]], click.Command]:
    """Make a command, of a ``group`` or on its own, of a function that takes an object of a dataclass of options.

    The help lists required options first, then those of the class itself, then those of its base classes; and the
    ``examples``.
    """
    epilog = f"Example{'s' if len(examples) > 1 else ''}: {'; '.join(examples)}"

    def decorate(function: Callable[[Options], None]) -> click.Command:
        (parameter,) = inspect.signature(function, eval_str=True).parameters.values()
        kind = parameter.annotation
        declared = {option.name: option for option in fields(kind)}
        names = dict.fromkeys(name for base in kind.__mro__ for name in inspect.get_annotations(base))
        in_order = sorted(
            (name for name in names if name in declared), key=lambda name: not declared[name].metadata["required"]
        )

        @functools.wraps(function)
        def call(**values: Any) -> None:
            function(kind(**values))

        for name in reversed(in_order):
            call = declared[name].metadata["declare"](name, declared[name].type)(call)
        return (group or click).command(cls=Command, epilog=epilog)(call)

    return decorate


def filled(kind: type[Options], options: object, **others: Any) -> Options:
    """An object of the dataclass ``kind``, whose fields have the values of options of the same name, or ``others``."""
    names = (field.name for field in fields(kind) if hasattr(options, field.name))  # type: ignore[arg-type]
    return kind(**{name: getattr(options, name) for name in names} | others)


def completes(
    *, or_file: bool = False, after_comma: bool = False
) -> Callable[[Callable[[str], Names]], Callable[[click.Context, click.Parameter, str], list[CompletionItem]]]:
    """Decorate a function that gives names for an incomplete text (with their help, if it is a mapping).

    or_file      files are offered if no name matches
    after_comma  the text is a list with commas, of which the last part is completed
    """

    def decorate(
        offered: Callable[[str], Names],
    ) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
        @functools.wraps(offered)
        def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
            before, comma, last = incomplete.rpartition(",") if after_comma else ("", "", incomplete)
            names = offered(last)
            helps = names if isinstance(names, Mapping) else dict.fromkeys(names)
            items = [
                CompletionItem(f"{before}{comma}{name}", help=text)
                for name, text in helps.items()
                if name.startswith(last)
            ]
            return items or ([CompletionItem(incomplete, type="file")] if or_file else [])

        return complete

    return decorate
