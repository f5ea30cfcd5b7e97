"""Options that commands share: metrics, a protocol, and changes of its decisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from repro.protocol import Value


Command = TypeVar("Command", bound=Callable[..., Any])


def complete_metric(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of metrics; after an `@`, cut-offs that people use."""
    from repro.evaluation.metrics import metrics_by_any_name

    name, at, _ = incomplete.partition("@")
    if at:
        offered = [f"{name}@{cutoff}" for cutoff in (1, 5, 10, 20, 50, 100)]
        return [CompletionItem(text) for text in offered if text.startswith(incomplete)]
    known = metrics_by_any_name().items()
    return [CompletionItem(name, help=one.title) for name, one in known if name.startswith(incomplete)]


def complete_protocol(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of protocols, or files."""
    from repro.protocol import protocol_names

    found = [CompletionItem(name) for name in protocol_names() if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


def complete_change(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Decisions; after the `=`, their options."""
    from repro.protocol import registry

    known = registry()
    key, equals, _ = incomplete.partition("=")
    if not equals:
        return [CompletionItem(f"{name}=", help=one.question) for name, one in known.items() if name.startswith(key)]
    options = known[key].options if key in known else ()
    offered = {f"{key}={option.value}": option.meaning for option in options}
    return [CompletionItem(text, help=meaning) for text, meaning in offered.items() if text.startswith(incomplete)]


def complete_varied(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Families of decisions about evaluation, and decisions, after the last comma."""
    from repro.protocol import registry

    before, comma, last = incomplete.rpartition(",")
    own = [key for key, decision in registry().items() if not decision.needs_refit]
    names = dict.fromkeys((*(key.rpartition(".")[0] for key in own), *own))
    return [CompletionItem(f"{before}{comma}{name}") for name in names if name.startswith(last)]


def read_changes(given: tuple[str, ...]) -> dict[str, Value]:
    """`ties.break=random` as a decision and its value; numbers and true/false are read as such."""
    import tomllib

    changes: dict[str, Value] = {}
    for text in given:
        key, equals, written = text.partition("=")
        if not equals:
            raise click.BadParameter(f"'{text}': write DECISION=VALUE, such as ties.break=random", param_hint="--set")
        try:
            changes[key.strip()] = tomllib.loads(f"value = {written}")["value"]
        except tomllib.TOMLDecodeError:
            changes[key.strip()] = written.strip()
    return changes


def metric_option(told: str) -> Callable[[Command], Command]:
    """``-m`` for metrics; ``told`` is its help."""
    return click.option(
        "-m", "--metric", "metrics", multiple=True, metavar="NAME", shell_complete=complete_metric, help=told
    )
