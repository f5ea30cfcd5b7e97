"""`repro plugins`: list and install frameworks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from repro.cli.help_text import Group
from repro.cli.options.option_classes import completes
from repro.cli.output import echo, json_option, print_json, print_table
from repro.terminal import printable

if TYPE_CHECKING:
    from repro.plugin import Algorithm, Framework, Plugins


@completes()
def _complete_framework(text: str) -> list[str]:
    from repro.plugin import plugins as installed

    return list(installed().frameworks)


@click.group(cls=Group, epilog="Examples: repro plugins list; repro plugins install recbole")
def plugins() -> None:
    """List and install the frameworks that can be used here.

    Environment variables of every command:

    \b
      REPRO_PLUGINS=lenskit,surprise  use these plug-ins only; -spark: all but one
      REPRO_ISOLATE=lenskit           run it in an environment of its own; or all
      REPRO_PINS='surprise: scikit-surprise==1.1.4'
                                      run a framework with other versions
      REPRO_TRACE=1                   print every call of a hook
    """


@plugins.command("list", epilog="Example: repro plugins list --json")
@json_option
def list_plugins(as_json: bool) -> None:
    """The installed frameworks: version, where each runs, its algorithms; and how to install missing ones."""
    from repro.app import application
    from repro.catalogue.listing import LOCATIONS
    from repro.plugin import how_to_install

    installed = application().ask_plugins()
    frameworks = [installed.framework(name) for name in installed.frameworks]
    if as_json:
        described = [_framework(installed, framework) for framework in frameworks]
        print_json({"frameworks": described, "broken": installed.broken})
        return
    if not frameworks and not installed.broken:
        echo("no plug-ins are installed; `pip install recsys-repro-reference` installs the reference algorithms")
        return
    rows = []
    for framework in frameworks:
        algorithms = ", ".join(algorithm.name for algorithm in framework.algorithms) or "none"
        rows.append([framework.name, framework.version, LOCATIONS[installed.location(framework.name)], algorithms])
    print_table(["framework", "version", "runs", "algorithms"], rows)
    for framework in frameworks:
        if installed.location(framework.name) == "missing":
            echo(f"\n{how_to_install(framework)}", nl=False)
    echo("")
    for name, reason in installed.broken.items():
        echo(f"broken: {name}: {reason}")


@plugins.command(
    epilog=(
        "Examples: repro plugins install recbole; "
        "repro plugins install surprise --pin scikit-surprise==1.1.4 --pin numpy==1.26.4"
    )
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=_complete_framework)
@click.option("--again", is_flag=True, help="Build it again, even if it exists.")
@click.option("--pin", "pins", multiple=True, metavar="NAME==VERSION", help="Take this version; may be repeated.")
@json_option
def install(names: tuple[str, ...], again: bool, pins: tuple[str, ...], as_json: bool) -> None:
    """Build the environment of a framework, once, from its pinned requirements; "all" builds every one."""
    from repro.errors import PluginError
    from repro.plugin import pinned
    from repro.plugin import plugins as installed
    from repro.plugin.isolation import environment

    if pins and (len(names) > 1 or names == ("all",)):
        raise PluginError(f"--pin is for one framework, and {len(names)} are named: {', '.join(names)}; name one")
    with pinned({names[0]: pins}) if pins else nullcontext():
        manager = installed()
        built: dict[str, str] = {}
        failed: dict[str, PluginError] = {}
        frameworks = manager.frameworks if names == ("all",) else names
        for name, needs in [(name, manager.environment_of(name)) for name in frameworks]:  # unknown names fail first
            if needs is None:
                echo(f"{name} needs no environment of its own", err=True)
                continue
            try:
                with _progress(name, hidden=as_json) as progress:
                    built[name] = str(environment.build(name, needs, progress, again=again))
            except PluginError as error:  # the other frameworks are built all the same
                failed[name] = error
            else:
                if not as_json:
                    echo(f"{name}: ready in {environment.folder_of(name, needs)}")
        if as_json:
            print_json(built)
        if failed:
            raise PluginError("\n".join(map(str, failed.values())))


@contextmanager
def _progress(name: str, hidden: bool) -> Iterator[Callable[[str], None]]:
    """Shows the current step in a line that changes, or as plain lines if the output is not a terminal."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(stderr=True)
    if hidden:
        yield lambda line: None
    elif console.is_terminal:
        with console.status(printable(name)) as status:
            yield lambda line: status.update(escape(printable(f"{name}: {line.strip()[:100]}")))
    else:
        yield lambda line: None if line.startswith("  ") else echo(f"{name}: {line}", err=True)


def _framework(installed: Plugins, framework: Framework) -> dict[str, Any]:
    from repro.plugin import how_to_install

    location = installed.location(framework.name)
    return {
        "name": framework.name,
        "version": framework.version,
        "summary": framework.summary,
        "runs": location,
        "install": how_to_install(framework) if location == "missing" else None,
        "algorithms": [describe(algorithm) for algorithm in framework.algorithms],
    }


def describe(algorithm: Algorithm) -> dict[str, Any]:
    """An algorithm as plain data."""
    from repro.catalogue.listing import ranks_by

    return {
        "name": algorithm.name,
        "own": algorithm.own,
        "summary": algorithm.summary,
        "predicts_ratings": algorithm.predicts,
        "ranks_by": ranks_by(algorithm),
        "deterministic": algorithm.deterministic,
        "only_with": dict(algorithm.only_with),
        "cite": algorithm.cite,
        "parameters": {p.name: p.default for p in algorithm.parameters},
        "mapping": dict(algorithm.mapping),
        "unmapped": dict(algorithm.unmapped),
    }
