"""`repro doctor`: what this machine has, what is missing, and the command that mends it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from repro.cli.options.option_classes import command
from repro.cli.options.shared_options import JsonOption
from repro.cli.output import Styled, echo, print_json, print_table

if TYPE_CHECKING:
    from repro.machine import Finding

_COLOURS = {"ok": "green", "missing": "yellow", "problem": "red"}


@dataclass(frozen=True, kw_only=True)
class DoctorOptions(JsonOption):
    pass


@command("repro doctor")
def doctor(options: DoctorOptions) -> None:
    """Say what this machine has, what is missing, and the command that mends it.

    The exit code is 1 if there is a problem; what is merely missing is an offer.
    """
    from repro.machine import findings

    listed = findings()
    problems = [finding for finding in listed if finding.status == "problem"]
    if options.as_json:
        print_json({"healthy": not problems, "findings": [asdict(finding) for finding in listed]})
    else:
        _print(listed)
        if not problems:
            echo(Styled("\nno problem", fg="green"))
    if problems:
        raise click.exceptions.Exit(1)


def _print(findings: list[Finding]) -> None:
    for topic in dict.fromkeys(finding.topic for finding in findings):
        rows = [[each.name, each.status, each.value] for each in findings if each.topic == topic]
        print_table([topic, "state", "what is here"], rows)
        echo()
    for status in ("problem", "missing"):
        for finding in findings:
            if finding.status == status and finding.mend:
                echo(Styled(f"{status}: ", fg=_COLOURS[status]), f"{finding.name}: {finding.mend}")
