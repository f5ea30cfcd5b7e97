"""`repro plugins`: what can be used here, and how to have what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from repro.cli.output import echo, json_option, print_json, print_table
from repro.terminal import printable

if TYPE_CHECKING:
    from repro.plugin import Algorithm, Framework, Plugins

LOCATIONS = {"in-process": "in this process", "isolated": "in an environment of its own", "missing": "not installed"}

RANKS_BY = {"ratings": "predicted ratings", "ranking": "scores for ranking", "unknown": "unknown"}


def _complete_framework(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from repro.plugin import plugins as installed

    return [CompletionItem(name) for name in installed().frameworks if name.startswith(incomplete)]


@click.group(
    epilog=(
        "REPRO_PLUGINS=lenskit,surprise uses these plug-ins only, REPRO_PLUGINS=-spark all but one; "
        "REPRO_ISOLATE=lenskit (or all) runs frameworks in their own environments; "
        "REPRO_PINS='surprise: scikit-surprise==1.1.4' runs one with other versions; REPRO_TRACE=1 prints every "
        "call of a hook. Example: repro plugins list"
    )
)
def plugins() -> None:
    """List and install the frameworks that can be used here."""


@plugins.command("list", epilog="Example: repro plugins list --json")
@json_option
def list_plugins(as_json: bool) -> None:
    """The frameworks found: version, where each runs, its algorithms; what is missing and how to have it."""
    from repro.app import application
    from repro.plugin import how_to_install

    found = application().ask_plugins()
    if as_json:
        frameworks = [_framework(found, found.framework(name)) for name in found.frameworks]
        print_json({"frameworks": frameworks, "broken": found.broken})
        return
    if not found.frameworks and not found.broken:
        echo("no plug-ins are installed; `pip install recsys-repro-reference` brings the reference algorithms")
        return
    print_table(
        ["framework", "version", "runs", "algorithms"],
        [
            [
                framework.name,
                framework.version,
                LOCATIONS[found.location(framework.name)],
                ", ".join(algorithm.name for algorithm in framework.algorithms) or "none",
            ]
            for framework in map(found.framework, found.frameworks)
        ],
    )
    for framework in map(found.framework, found.frameworks):
        if found.location(framework.name) == "missing":
            echo(f"\n{how_to_install(framework)}", nl=False)
    echo("")
    for name, reason in found.broken.items():
        echo(f"broken: {name}: {reason}")


@plugins.command(
    epilog=(
        "Examples: repro plugins install recbole; "
        "repro plugins install surprise --pin scikit-surprise==1.1.4 --pin numpy==1.26.4"
    )
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=_complete_framework)
@click.option("--again", is_flag=True, help="Build it anew, even if it is there.")
@click.option("--pin", "pins", multiple=True, metavar="NAME==VERSION", help="Take this version; may be repeated.")
@json_option
def install(names: tuple[str, ...], again: bool, pins: tuple[str, ...], as_json: bool) -> None:
    """Build the environment of a framework, once, from its pinned requirements; "all" builds every one."""
    from repro.errors import PluginError
    from repro.plugin import pinned

    if not pins:
        _install(names, again, as_json)
        return
    if len(names) > 1 or names == ("all",):
        raise PluginError(f"--pin is for one framework, and {len(names)} are named: {', '.join(names)}; name one")
    with pinned({names[0]: pins}):
        _install(names, again, as_json)


def _install(names: tuple[str, ...], again: bool, as_json: bool) -> None:
    from repro.errors import PluginError
    from repro.plugin import plugins as installed
    from repro.plugin.isolation import environment

    found = installed()
    wanted = list(found.frameworks) if names == ("all",) else list(names)
    built: dict[str, str] = {}
    failed: dict[str, PluginError] = {}
    for name, needs in [(name, found.environment_of(name)) for name in wanted]:
        if needs is None:
            echo(f"{name} needs no environment of its own", err=True)
            continue
        try:
            with _progress(name, hidden=as_json) as tell:
                built[name] = str(environment.build(name, needs, tell, again=again))
        except PluginError as error:  # the others can be had all the same
            failed[name] = error
        else:
            if not as_json:
                echo(f"{name}: ready in {environment.folder_of(name, needs)}")
    if as_json:
        print_json(built)
    if failed:
        raise PluginError("\n".join(map(str, failed.values())))


class _progress:
    """A line that shows what is being done, while it is being done; plain lines where nobody watches."""

    def __init__(self, name: str, hidden: bool) -> None:
        self._name = name
        self._hidden = hidden

    def __enter__(self) -> Any:
        from rich.console import Console

        console = Console(stderr=True)
        self._status = console.status(printable(self._name)) if console.is_terminal and not self._hidden else None
        if self._status:
            self._status.start()
        return self._tell

    def _tell(self, line: str) -> None:
        from rich.markup import escape

        if self._status:
            self._status.update(escape(printable(f"{self._name}: {line.strip()[:100]}")))
        elif not self._hidden and not line.startswith("  "):
            echo(f"{self._name}: {line}", err=True)

    def __exit__(self, *error: object) -> None:
        if self._status:
            self._status.stop()


def _framework(found: Plugins, framework: Framework) -> dict[str, Any]:
    from repro.plugin import how_to_install

    location = found.location(framework.name)
    return {
        "name": framework.name,
        "version": framework.version,
        "summary": framework.summary,
        "runs": location,
        "install": how_to_install(framework) if location == "missing" else None,
        "algorithms": [describe(algorithm) for algorithm in framework.algorithms],
    }


def ranks_by(algorithm: Algorithm) -> str:
    """What an algorithm ranks by, with its default parameters."""
    return RANKS_BY[algorithm.kind_of_scores({one.name: one.default for one in algorithm.parameters})]


def describe(algorithm: Algorithm) -> dict[str, Any]:
    """An algorithm as plain data."""
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
