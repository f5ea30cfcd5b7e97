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
        others = ", ".join(filter(None, groups)) or "none"
        raise ProtocolError(f"there is no group of protocols '{group}'{nearest(group, groups)} Groups: {others}")
    protocols = [read_protocol(name) for name in groups[group]]
    if as_json:
        print_json([_summary(protocol) for protocol in protocols])
        return
    if group:
        print_table(
            ["protocol", "what it is", "hash"],
            [[protocol.name, protocol.title, protocol.hash[:12]] for protocol in protocols],
        )
        return
    print_table(
        ["protocol", "what it is", "left open by its source", "hash"],
        [
            [protocol.name, protocol.title, ", ".join(protocol.open) or "-", protocol.hash[:12]]
            for protocol in protocols
        ],
    )
    for other, names in groups.items():
        if other:
            echo(f"\n{other}/...: {len(names)} more (`repro protocol list {other}`)")


def _groups() -> dict[str, list[str]]:
    """The names of protocols by the folder that they are in; those of the literature are in none."""
    from repro.protocol import protocol_names

    groups: dict[str, list[str]] = {"": []}
    for name in protocol_names():
        groups.setdefault(name.rpartition("/")[0], []).append(name)
    return groups


@protocol.command(epilog="Example: repro protocol show cremonesi-2010-1r")
@click.argument("name", shell_complete=_complete_protocol)
@json_option
def show(name: str, as_json: bool) -> None:
    """Every decision of a protocol, its meaning, and where it comes from.

    NAME is one of `repro protocol list`, or the path of a TOML file.
    """
    from repro.protocol import read_protocol, registry

    protocol = read_protocol(name)
    if as_json:
        print_json(_summary(protocol) | {"decisions": dict(protocol), "origins": dict(protocol.origins)})
        return
    echo(f"{protocol.name or name}: {protocol.title}\n")
    if protocol.source:
        echo(f"Source: {protocol.source}\n")
    if protocol.notes:
        echo(f"{protocol.notes}\n")
    decisions = registry()
    print_table(
        ["decision", "value", "", "origin"],
        [
            [key, value, decisions[key].meaning(value) if decisions[key].options else "", _origin(protocol, key)]
            for key, value in protocol.items()
        ],
    )
    echo(f"\nhash {protocol.hash}")


@protocol.command(epilog="Example: repro protocol validate my-protocol.toml")
@click.argument("file", type=click.Path(dir_okay=False))
@json_option
def validate(file: str, as_json: bool) -> None:
    """Check a protocol file: unknown keys, values, decisions without effect, contradictions."""
    from repro.errors import ProtocolError
    from repro.protocol import read_protocol

    try:
        protocol = read_protocol(file)
    except ProtocolError as error:
        if not as_json:
            raise
        print_json({"file": file, "valid": False, "problems": str(error).splitlines()})
        raise click.exceptions.Exit(1) from None
    if as_json:
        print_json({"file": file, "valid": True} | _summary(protocol))
    else:
        chosen = sum(origin != "default" for origin in protocol.origins.values())
        default = len(protocol) - chosen
        echo(f"{file} is valid: {chosen} decisions stated, {default} by default; hash {protocol.hash[:12]}")


@protocol.command(epilog="Example: repro protocol diff bellogin-ti-an bellogin-ai-an")
@click.argument("first", shell_complete=_complete_protocol)
@click.argument("second", shell_complete=_complete_protocol)
@json_option
def diff(first: str, second: str, as_json: bool) -> None:
    """The decisions in which two protocols differ."""
    from repro.protocol import read_protocol, registry

    before, after = read_protocol(first), read_protocol(second)
    differing = [key for key in registry() if before.values_.get(key) != after.values_.get(key)]
    if as_json:
        print_json({key: {"first": before.values_.get(key), "second": after.values_.get(key)} for key in differing})
        return
    if not differing:
        echo(f"{first} and {second} mean the same (hash {before.hash[:12]})")
        return
    print_table(
        ["decision", first, second, "question"],
        [[key, _value(before, key), _value(after, key), registry()[key].question] for key in differing],
    )
    echo(f"\n{len(differing)} of {len(set(before) | set(after))} decisions differ")


@protocol.command(epilog="Example: repro protocol explain candidates")
@click.argument("decision", required=False, default="", shell_complete=_complete_decision)
@json_option
def explain(decision: str, as_json: bool) -> None:
    """What a decision asks, what may be answered, and who answers what.

    DECISION is an id such as ties.break, or a family such as ties; without it, all are listed.
    """
    from repro.protocol import registry

    decisions = registry()
    explained = decisions.family(decision) if decision else list(decisions.values())
    if not explained:
        explained = [decisions[decision]]  # raises, with the nearest match
    if as_json:
        print_json([_declaration(one) for one in explained])
    elif len(explained) == 1 or decision:
        for one in explained:
            _print_decision(one)
    else:
        print_table(
            ["decision", "question", "default"],
            [[one.id, one.question, "(required)" if one.required else one.default] for one in explained],
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
