"""Options about metrics and protocols, and how the shell completes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from repro.cli.options.option_classes import completes, option

if TYPE_CHECKING:
    from repro.protocol import Value


@completes()
def complete_metric(text: str) -> dict[str, str] | list[str]:
    """Names of metrics; after an `@`, common cut-offs."""
    from repro.evaluation.metrics import metrics_by_any_name

    name, at, _ = text.partition("@")
    if at:
        return [f"{name}@{cutoff}" for cutoff in (1, 5, 10, 20, 50, 100)]
    return {name: metric.title for name, metric in metrics_by_any_name().items()}


@completes(or_file=True)
def complete_protocol(text: str) -> list[str]:
    """Names of protocols, or files."""
    from repro.protocol import protocol_names

    return list(protocol_names())


@completes()
def complete_change(text: str) -> dict[str, str]:
    """Decisions; after the `=`, their options."""
    from repro.protocol import registry

    decisions = registry()
    key, equals, _ = text.partition("=")
    if not equals:
        return {f"{name}=": decision.question for name, decision in decisions.items()}
    options = decisions[key].options if key in decisions else ()
    return {f"{key}={option.value}": option.meaning for option in options}


@completes(after_comma=True)
def complete_varied(text: str) -> list[str]:
    """Families of decisions about evaluation, and decisions."""
    from repro.protocol import registry

    keys = [key for key, decision in registry().items() if not decision.needs_refit]
    return list(dict.fromkeys((*(key.rpartition(".")[0] for key in keys), *keys)))


@dataclass(frozen=True, kw_only=True)
class ChangeOptions:
    """Changes of decisions of a protocol."""

    changes: tuple[str, ...] = option(
        "Change a decision of the protocol; may be repeated.",
        "--set",
        metavar="DECISION=VALUE",
        shell_complete=complete_change,
    )

    def changed_decisions(self) -> dict[str, Value]:
        """The changes as decisions and values: numbers and true/false are read as such."""
        return dict(toml_pair(text, "DECISION=VALUE, such as ties.break=random", "--set") for text in self.changes)


def toml_pair(text: str, expected: str, option: str) -> tuple[str, Any]:
    """``name=value``, with the value as TOML writes it, or as plain text."""
    import tomllib

    name, equals, written = text.partition("=")
    if not equals:
        raise click.BadParameter(f"'{text}': write {expected}", param_hint=option)
    try:
        return name.strip(), tomllib.loads(f"value = {written}")["value"]
    except tomllib.TOMLDecodeError:
        return name.strip(), written.strip()
