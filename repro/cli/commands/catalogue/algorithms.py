"""`repro algorithms`: which framework has which algorithm, and how it calls the parameters."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

from repro.cli.output import echo, json_option, print_json, print_table


def _complete_algorithm(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from repro.plugin.api.canonical import CANONICAL

    return [CompletionItem(name) for name in CANONICAL if name.startswith(incomplete)]


@click.command(epilog="Examples: repro algorithms; repro algorithms item-knn; repro algorithms --json")
@click.argument("name", required=False, shell_complete=_complete_algorithm)
@json_option
def algorithms(name: str | None, as_json: bool) -> None:
    """List the algorithms of all frameworks and how each framework names them.

    With a NAME: how each framework calls the algorithm and its parameters, and what it cannot express.
    """
    if name is None:
        _print_matrix(as_json)
    else:
        _print_algorithm(name, as_json)


def _print_matrix(as_json: bool) -> None:
    from repro.cli.commands.catalogue.plugins import describe
    from repro.plugin import plugins
    from repro.plugin.api.canonical import CANONICAL

    frameworks = {name: one for name, one in plugins().frameworks.items() if one.algorithms}
    has = {name: {one.name: one for one in framework.algorithms} for name, framework in frameworks.items()}
    own = {name: [one for one in mine if one not in CANONICAL] for name, mine in has.items()}
    if as_json:
        canonical = {
            one.name: {
                "title": one.title,
                "cite": one.cite,
                "parameters": one.parameters,
                "frameworks": {name: describe(mine[one.name]) for name, mine in has.items() if one.name in mine},
            }
            for one in CANONICAL.values()
        }
        print_json({"canonical": canonical, "own": own})
        return
    print_table(
        ["algorithm", *frameworks],
        [
            [one, *((mine[one].own or "yes") if one in mine else "-" for mine in has.values())]
            for one in CANONICAL
            if any(one in mine for mine in has.values())
        ],
    )
    echo("\nUnder the frameworks' own names:")
    for framework, names in own.items():
        if names:
            echo(f"  {framework}: {', '.join(names)}")
    echo("\n`repro algorithms NAME` shows the parameters of one; use them as framework/NAME or */NAME.")


def _print_algorithm(name: str, as_json: bool) -> None:
    from repro.cli.commands.catalogue.plugins import describe, ranks_by
    from repro.errors import PluginError, nearest
    from repro.plugin import plugins
    from repro.plugin.api.canonical import CANONICAL

    frameworks = plugins().frameworks
    having = {f: a for f, framework in frameworks.items() for a in framework.algorithms if a.name == name}
    if not having:
        names = sorted({a.name for framework in frameworks.values() for a in framework.algorithms} | set(CANONICAL))
        raise PluginError(
            f"no framework here has an algorithm '{name}'{nearest(name, names)} `repro algorithms` lists all"
        )
    canonical = CANONICAL.get(name)
    if as_json:
        print_json({framework: describe(algorithm) for framework, algorithm in having.items()})
        return
    if canonical:
        echo(f"{canonical.title}" + (f" ({canonical.cite})" if canonical.cite else "") + "\n")
    parameters = list(canonical.parameters) if canonical else []
    for algorithm in having.values():
        parameters += [candidate.name for candidate in algorithm.parameters if candidate.name not in parameters]
    rows: list[list[Any]] = []
    for parameter in parameters:
        row = [parameter]
        for algorithm in having.values():
            match = next((candidate for candidate in algorithm.parameters if candidate.name == parameter), None)
            if match:
                called = algorithm.mapping.get(parameter, "")
                row.append(f"{match.default}" + (f" ({called})" if called and called != parameter else ""))
            else:
                row.append("cannot" if parameter in algorithm.unmapped else "-")
        rows.append(row)
    about = [
        ["(called)", *(a.own or "-" for a in having.values())],
        ["(ranks by)", *(ranks_by(a) for a in having.values())],
    ]
    print_table(["parameter", *having], [*about, *rows])
    for framework, algorithm in having.items():
        for parameter, reason in algorithm.unmapped.items():
            echo(f"{framework} cannot express {parameter}: {reason}")
