"""`repro protocol`: list, show, validate and compare protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from repro.cli.decision_text import plain_decision, print_decision
from repro.cli.help_text import Group
from repro.cli.options.option_classes import completes
from repro.cli.options.protocol_options import complete_protocol
from repro.cli.output import Styled, echo, json_option, print_json, print_table

if TYPE_CHECKING:
    from repro.protocol import Protocol


@completes()
def _complete_decision(text: str) -> list[str]:
    from repro.protocol import registry

    return list(registry())


@click.group(cls=Group, epilog="Example: repro protocol explain ties.break")
def protocol() -> None:
    """List, show, validate, compare and explain protocols."""


@completes()
def _complete_group(text: str) -> list[str]:
    from repro.catalogue import protocol_groups

    return [group for group in protocol_groups() if group]


@protocol.command("list", epilog="Examples: repro protocol list; repro protocol list inferred")
@click.argument("group", required=False, default="", shell_complete=_complete_group)
@json_option
def list_protocols(group: str, as_json: bool) -> None:
    """The protocols that come with the suite.

    GROUP is a folder of them, such as inferred: the policies of evaluators; without it, those of the literature are
    listed.
    """
    from repro.catalogue import protocol_groups
    from repro.errors import ProtocolError, nearest
    from repro.protocol import read_protocol

    groups = protocol_groups()
    if group not in groups:
        known = ", ".join(filter(None, groups)) or "none"
        raise ProtocolError(f"there is no group of protocols '{group}'{nearest(group, groups)} Groups: {known}")
    protocols = [read_protocol(name) for name in groups[group]]
    if as_json:
        print_json([_summary(protocol) for protocol in protocols])
        return
    columns = ["protocol", "what it is", *([] if group else ["left open by its source"]), "hash"]
    rows = []
    for protocol in protocols:
        left_open = [] if group else [", ".join(protocol.open) or "-"]
        rows.append([protocol.name, protocol.title, *left_open, protocol.hash[:12]])
    print_table(columns, rows)
    for folder, names in groups.items():
        if folder and not group:
            echo(f"\n{folder}/...: {len(names)} more (`repro protocol list {folder}`)")


@protocol.command(epilog="Example: repro protocol show cremonesi-2010-1r")
@click.argument("name", shell_complete=complete_protocol)
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
@click.argument("first", shell_complete=complete_protocol)
@click.argument("second", shell_complete=complete_protocol)
@json_option
def diff(first: str, second: str, as_json: bool) -> None:
    """The decisions in which two protocols differ."""
    from repro.protocol import read_protocol

    before, after = read_protocol(first), read_protocol(second)
    differing = before.diff(after)
    if as_json:
        rows = differing.itertuples(index=False)
        print_json({row.decision: {"first": row.first, "second": row.second} for row in rows})
        return
    if differing.empty:
        echo(f"{first} and {second} mean the same (hash {before.hash[:12]})")
        return
    rows = differing.where(differing.notna(), "(no effect)").itertuples(index=False)
    print_table(["decision", first, second, "question"], rows)
    echo(f"\n{len(differing)} of {len(set(before) | set(after))} decisions differ")


@protocol.command(epilog="Example: repro protocol explain candidates")
@click.argument("name", required=False, default="", metavar="[DECISION]", shell_complete=_complete_decision)
@json_option
def explain(name: str, as_json: bool) -> None:
    """The question of a decision, its options, and who uses which.

    DECISION is an id such as ties.break, or a family such as ties; without it, all are listed.
    """
    from repro.protocol import registry

    all_decisions = registry()
    decisions = all_decisions.family(name) if name else list(all_decisions.values())
    if not decisions:
        decisions = [all_decisions[name]]  # raises an error that suggests the nearest name
    if as_json:
        print_json([{"id": decision.id, **plain_decision(decision)} for decision in decisions])
    elif name:
        for decision in decisions:
            print_decision(decision, Styled(decision.id))
    else:
        print_table(
            ["decision", "question", "default"],
            [[each.id, each.question, "(required)" if each.required else each.default] for each in decisions],
        )


@protocol.command(epilog="Example: repro protocol schema > protocol.schema.json")
def schema() -> None:
    """The JSON Schema of protocol files, for editors."""
    from repro.protocol import json_schema

    print_json(json_schema())


def _summary(protocol: Protocol) -> dict[str, object]:
    names = ("name", "title", "source", "open", "hash")
    return {name: getattr(protocol, name) for name in names}


def _origin(protocol: Protocol, key: str) -> str:
    origin = protocol.origins[key]
    line = origin.rpartition(":")[2]
    where = f"line {line}" if line.isdecimal() else origin
    return where + (", our choice: the source leaves it open" if key in protocol.open else "")
