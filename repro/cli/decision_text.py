"""A decision of a protocol as text for people, and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from repro.cli.output import Styled, echo

if TYPE_CHECKING:
    from repro.protocol import Decision


def print_decision(decision: Decision, *title: str | Styled, prefix: str = "") -> None:
    """Print the question of a decision, its options (each after ``prefix``), and when it applies."""
    echo(*title, f": {decision.question}")
    default = "no default: a protocol must state it" if decision.required else f"default {decision.default}"
    if not decision.options:
        echo(f"  {decision.allowed()}; {default}")
    elif decision.required:
        echo(f"  {default}")
    for option in decision.options:
        is_default = " (default)" if option.value == decision.default else ""
        notes = [option.cite] if option.cite else []
        if option.used_by:
            notes.append("used by " + ", ".join(option.used_by))
        if option.means:
            notes.append("short for " + ", ".join(f"{key} = {value}" for key, value in option.means.items()))
        if option.when:
            notes.append("applies when " + " and ".join(map(str, option.when)))
        note = f" [{'; '.join(notes)}]" if notes else ""
        echo(f"  {prefix}{option.value}{is_default}: {option.meaning}{note}")
    for condition in decision.when:
        echo(f"  applies when {condition}")
    if decision.cite:
        echo(f"  see {decision.cite}")
    echo("")


def plain_decision(decision: Decision) -> dict[str, Any]:
    """A decision as plain data, without its id."""
    return {
        "question": decision.question,
        "kind": decision.kind,
        "default": None if decision.required else decision.default,
        "required": decision.required,
        "allowed": decision.allowed(),
        "when": [str(condition) for condition in decision.when],
        "cite": decision.cite,
        "options": [
            {
                "value": option.value,
                "meaning": option.meaning,
                "cite": option.cite,
                "used_by": list(option.used_by),
                "means": dict(option.means),
                "when": [str(condition) for condition in option.when],
            }
            for option in decision.options
        ],
    }
