"""`repro protocol`: what lies between data and a number, to read and to check."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from repro.cli.output import Styled, echo, json_option, print_json, print_table

if TYPE_CHECKING:
    from repro.protocol import Decision, Protocol


def _complete_protocol(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from repro.protocol import protocol_names

    return [CompletionItem(name) for name in protocol_names() if name.startswith(incomplete)]


def _complete_decision(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from repro.protocol import registry

    return [CompletionItem(name) for name in registry() if name.startswith(incomplete)]


@click.group(epilog="Example: repro protocol explain ties.break")
def protocol() -> None:
    """List, show, validate, compare and explain protocols."""


def _complete_group(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(group) for group in _groups() if group.startswith(incomplete) and group]


@protocol.command("list", epilog="Examples: repro protocol list; repro protocol list inferred")
@click.argument("group", required=False, default="", shell_complete=_complete_group)
@json_option
def list_protocols(group: str, as_json: bool) -> None:
    """The protocols that come with the suite.

    GROUP is a folder of them, such as inferred: the policies of evaluators; without it, those of the literature are
    listed.
    """
    from repro.errors import ProtocolError, nearest
    from repro.protocol import read_protocol

    groups = _groups()
    if group not in groups:
        known = ", ".join(filter(None, groups)) or "none"
        raise ProtocolError(f"there is no group of protocols '{group}'{nearest(group, groups)} Groups: {known}")
    found = [read_protocol(name) for name in groups[group]]
    if as_json:
        print_json([_summary(one) for one in found])
        return
    if group:
        print_table(["protocol", "what it is", "hash"], [[one.name, one.title, one.hash[:12]] for one in found])
        return
    print_table(
        ["protocol", "what it is", "left open by its source", "hash"],
        [[one.name, one.title, ", ".join(one.open) or "-", one.hash[:12]] for one in found],
    )
    for other, names in groups.items():
        if other:
            echo(f"\n{other}/...: {len(names)} more (`repro protocol list {other}`)")


def _groups() -> dict[str, list[str]]:
    """The names of protocols by the folder that they are in; those of the literature are in none."""
    from repro.protocol import protocol_names

    found: dict[str, list[str]] = {"": []}
    for name in protocol_names():
        found.setdefault(name.rpartition("/")[0], []).append(name)
    return found


@protocol.command(epilog="Example: repro protocol show cremonesi-2010-1r")
@click.argument("name", shell_complete=_complete_protocol)
@json_option
def show(name: str, as_json: bool) -> None:
    """Every decision of a protocol, its meaning, and where it comes from.

    NAME is one of `repro protocol list`, or the path of a TOML file.
    """
    from repro.protocol import read_protocol, registry

    one = read_protocol(name)
    if as_json:
        print_json(_summary(one) | {"decisions": dict(one), "origins": dict(one.origins)})
        return
    echo(f"{one.name or name}: {one.title}\n")
    if one.source:
        echo(f"Source: {one.source}\n")
    if one.notes:
        echo(f"{one.notes}\n")
    known = registry()
    print_table(
        ["decision", "value", "", "origin"],
        [
            [key, value, known[key].meaning(value) if known[key].options else "", _origin(one, key)]
            for key, value in one.items()
        ],
    )
    echo(f"\nhash {one.hash}")


@protocol.command(epilog="Example: repro protocol validate my-protocol.toml")
@click.argument("file", type=click.Path(dir_okay=False))
@json_option
def validate(file: str, as_json: bool) -> None:
    """Check a protocol file: unknown keys, values, decisions without effect, contradictions."""
    from repro.errors import ProtocolError
    from repro.protocol import read_protocol

    try:
        one = read_protocol(file)
    except ProtocolError as error:
        if not as_json:
            raise
        print_json({"file": file, "valid": False, "problems": str(error).splitlines()})
        raise click.exceptions.Exit(1) from None
    if as_json:
        print_json({"file": file, "valid": True} | _summary(one))
    else:
        stated = sum(origin != "default" for origin in one.origins.values())
        echo(f"{file} is valid: {stated} decisions stated, {len(one) - stated} by default; hash {one.hash[:12]}")


@protocol.command(epilog="Example: repro protocol diff bellogin-ti-an bellogin-ai-an")
@click.argument("first", shell_complete=_complete_protocol)
@click.argument("second", shell_complete=_complete_protocol)
@json_option
def diff(first: str, second: str, as_json: bool) -> None:
    """The decisions in which two protocols differ."""
    from repro.protocol import read_protocol, registry

    one, other = read_protocol(first), read_protocol(second)
    differing = [key for key in registry() if one.values_.get(key) != other.values_.get(key)]
    if as_json:
        print_json({key: {"first": one.values_.get(key), "second": other.values_.get(key)} for key in differing})
        return
    if not differing:
        echo(f"{first} and {second} mean the same (hash {one.hash[:12]})")
        return
    print_table(
        ["decision", first, second, "question"],
        [[key, _value(one, key), _value(other, key), registry()[key].question] for key in differing],
    )
    echo(f"\n{len(differing)} of {len(set(one) | set(other))} decisions differ")


@protocol.command(epilog="Example: repro protocol explain candidates")
@click.argument("decision", required=False, default="", shell_complete=_complete_decision)
@json_option
def explain(decision: str, as_json: bool) -> None:
    """What a decision asks, what may be answered, and who answers what.

    DECISION is an id such as ties.break, or a family such as ties; without it, all are listed.
    """
    from repro.protocol import registry

    known = registry()
    found = known.family(decision) if decision else list(known.values())
    if not found:
        found = [known[decision]]  # raises, with the nearest match
    if as_json:
        print_json([_declaration(one) for one in found])
    elif len(found) == 1 or decision:
        for one in found:
            _print_decision(one)
    else:
        print_table(
            ["decision", "question", "default"],
            [[one.id, one.question, "(required)" if one.required else one.default] for one in found],
        )


@protocol.command(epilog="Example: repro protocol schema > protocol.schema.json")
def schema() -> None:
    """The JSON Schema of protocol files, for editors."""
    from repro.protocol import json_schema

    print_json(json_schema())


def _summary(one: Protocol) -> dict[str, object]:
    return {"name": one.name, "title": one.title, "source": one.source, "open": list(one.open), "hash": one.hash}


def _value(one: Protocol, key: str) -> object:
    return one.values_.get(key, "(no effect)")


def _origin(one: Protocol, key: str) -> str:
    origin = one.origins[key]
    line = origin.rpartition(":")[2]
    where = f"line {line}" if line.isdecimal() else origin
    return where + (", our choice: the source leaves it open" if key in one.open else "")


def _declaration(one: Decision) -> dict[str, object]:
    return {
        "id": one.id,
        "question": one.question,
        "kind": one.kind,
        "default": None if one.required else one.default,
        "required": one.required,
        "allowed": one.allowed(),
        "when": [str(when) for when in one.when],
        "cite": one.cite,
        "options": [
            {
                "value": o.value,
                "meaning": o.meaning,
                "cite": o.cite,
                "used_by": list(o.used_by),
                "means": dict(o.means),
                "when": [str(when) for when in o.when],
            }
            for o in one.options
        ],
    }


def _print_decision(one: Decision) -> None:
    echo(Styled(one.id), f": {one.question}")
    if not one.options:
        echo(f"  {one.allowed()}")
    for option in one.options:
        default = " (default)" if option.value == one.default else ""
        notes = [option.cite] if option.cite else []
        if option.used_by:
            notes.append("used by " + ", ".join(option.used_by))
        if option.means:
            notes.append("short for " + ", ".join(f"{key} = {value}" for key, value in option.means.items()))
        if option.when:
            notes.append("applies when " + " and ".join(map(str, option.when)))
        note = f" [{'; '.join(notes)}]" if notes else ""
        echo(f"  {option.value}{default}: {option.meaning}{note}")
    if not one.options and not one.required:
        echo(f"  default: {one.default}")
    if one.required:
        echo("  no default: a protocol must state it")
    for when in one.when:
        echo(f"  applies when {when}")
    if one.cite:
        echo(f"  see {one.cite}")
    echo("")
