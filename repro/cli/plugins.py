"""`repro plugins`: what can be used here."""

from __future__ import annotations

import click

from repro.cli.output import json_option, print_json, print_table


@click.group(epilog="Example: repro plugins list")
def plugins() -> None:
    """Frameworks that can be used here."""


@plugins.command("list", epilog="Example: repro plugins list --json")
@json_option
def list_plugins(as_json: bool) -> None:
    """The frameworks found, their versions and algorithms; broken plug-ins with the reason."""
    from repro.plugin import plugins as installed

    found = installed()
    if as_json:
        print_json(
            {
                "frameworks": [
                    {
                        "name": framework.name,
                        "version": framework.version,
                        "summary": framework.summary,
                        "algorithms": [
                            {
                                "name": algorithm.name,
                                "summary": algorithm.summary,
                                "predicts_ratings": algorithm.predicts,
                                "deterministic": algorithm.deterministic,
                                "cite": algorithm.cite,
                                "parameters": {p.name: p.default for p in algorithm.parameters},
                            }
                            for algorithm in framework.algorithms
                        ],
                    }
                    for framework in found.frameworks.values()
                ],
                "broken": found.broken,
            }
        )
        return
    if not found.frameworks and not found.broken:
        click.echo("no plug-ins are installed; `pip install recsys-repro-reference` brings the reference algorithms")
        return
    print_table(
        ["algorithm", "what it is", "parameters", "predicts ratings"],
        [
            [
                f"{framework.name}/{algorithm.name}",
                algorithm.summary,
                ", ".join(f"{p.name}={p.default}" for p in algorithm.parameters) or "-",
                "yes" if algorithm.predicts else "no",
            ]
            for framework in found.frameworks.values()
            for algorithm in framework.algorithms
        ],
    )
    for framework in found.frameworks.values():
        click.echo(f"\n{framework.name} {framework.version}: {framework.summary}", nl=False)
    click.echo("")
    for name, reason in found.broken.items():
        click.echo(f"broken: {name}: {reason}")
