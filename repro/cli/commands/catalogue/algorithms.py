"""`repro algorithms`: list the algorithms of all frameworks, and find out which definitions they follow."""

from __future__ import annotations

import click

from repro.cli.commands.catalogue._definitions import agree, align, audit
from repro.cli.help_text import Group
from repro.cli.options.option_classes import completes
from repro.cli.output import echo, json_option, print_json, print_table


@completes()
def _complete_algorithm(text: str) -> list[str]:
    from repro.plugin.api.canonical import CANONICAL

    return list(CANONICAL)


@click.group(cls=Group, epilog="Examples: repro algorithms show item-knn; repro algorithms audit lenskit/item-knn")
def algorithms() -> None:
    """List the algorithms of all frameworks, and find out which definitions they follow."""


for _command in (audit, agree, align):
    algorithms.add_command(_command)


@algorithms.command("list", epilog="Example: repro algorithms list --json")
@json_option
def list_algorithms(as_json: bool) -> None:
    """List the algorithms of the frameworks, and how each framework calls them."""
    from repro.cli.commands.catalogue.plugins import describe
    from repro.plugin import plugins
    from repro.plugin.api.canonical import CANONICAL

    by_framework = {
        name: {algorithm.name: algorithm for algorithm in framework.algorithms}
        for name, framework in plugins().frameworks.items()
        if framework.algorithms
    }
    own = {name: [own for own in algorithms if own not in CANONICAL] for name, algorithms in by_framework.items()}
    if as_json:
        canonical = {
            name: {
                "title": declared.title,
                "cite": declared.cite,
                "parameters": declared.parameters,
                "frameworks": {
                    framework: describe(algorithms[name])
                    for framework, algorithms in by_framework.items()
                    if name in algorithms
                },
            }
            for name, declared in CANONICAL.items()
        }
        print_json({"canonical": canonical, "own": own})
        return
    rows = [
        [
            name,
            *((algorithms[name].own or "yes") if name in algorithms else "-" for algorithms in by_framework.values()),
        ]
        for name in CANONICAL
        if any(name in algorithms for algorithms in by_framework.values())
    ]
    print_table(["algorithm", *by_framework], rows)
    echo("\nUnder the frameworks' own names:")
    for framework, names in own.items():
        if names:
            echo(f"  {framework}: {', '.join(names)}")
    echo("\n`repro algorithms show NAME` shows the parameters of one; use them as framework/NAME or */NAME.")


@algorithms.command(epilog="Example: repro algorithms show item-knn")
@click.argument("name", shell_complete=_complete_algorithm)
@json_option
def show(name: str, as_json: bool) -> None:
    """Show how each framework calls an algorithm and its parameters, and what it cannot express."""
    from repro.catalogue.listing import ranks_by
    from repro.cli.commands.catalogue.plugins import describe
    from repro.errors import PluginError, nearest
    from repro.plugin import plugins
    from repro.plugin.api.canonical import CANONICAL

    algorithms = {
        framework.name: {algorithm.name: algorithm for algorithm in framework.algorithms}
        for framework in plugins().frameworks.values()
    }
    columns = {framework: named[name] for framework, named in algorithms.items() if name in named}
    if not columns:
        names = sorted({*CANONICAL, *(known for named in algorithms.values() for known in named)})
        raise PluginError(
            f"no framework here has an algorithm '{name}'{nearest(name, names)} `repro algorithms list` lists all"
        )
    if as_json:
        print_json({framework: describe(algorithm) for framework, algorithm in columns.items()})
        return
    canonical = CANONICAL.get(name)
    if canonical:
        echo(f"{canonical.title}" + (f" ({canonical.cite})" if canonical.cite else "") + "\n")
    defaults = [{parameter.name: parameter.default for parameter in a.parameters} for a in columns.values()]
    parameters = dict.fromkeys(
        [*(canonical.parameters if canonical else ()), *(key for own in defaults for key in own)]
    )
    rows = [
        ["(called)", *(algorithm.own or "-" for algorithm in columns.values())],
        ["(ranks by)", *map(ranks_by, columns.values())],
    ]
    for parameter in parameters:
        row = [parameter]
        for algorithm, own in zip(columns.values(), defaults, strict=True):
            if parameter in own:
                mapped = algorithm.mapping.get(parameter, "")
                row.append(f"{own[parameter]}" + (f" ({mapped})" if mapped and mapped != parameter else ""))
            else:
                row.append("cannot" if parameter in algorithm.unmapped else "-")
        rows.append(row)
    print_table(["parameter", *columns], rows)
    for framework, algorithm in columns.items():
        for parameter, reason in algorithm.unmapped.items():
            echo(f"{framework} cannot express {parameter}: {reason}")
