"""`repro data`: get, list and describe data sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from repro.cli.help_text import Group
from repro.cli.options.evaluator_options import complete_data
from repro.cli.options.protocol_options import toml_pair
from repro.cli.output import echo, json_option, print_json, print_table
from repro.terminal import printable

if TYPE_CHECKING:
    from repro.data import Description
    from repro.data.download import Progress


@click.group(cls=Group, epilog="Example: repro data get ml-100k")
def data() -> None:
    """Get, list and describe data sets."""


@data.command("list", epilog="Example: repro data list --json")
@json_option
def list_datasets(as_json: bool) -> None:
    """The data sets that are known by name, and which of them are on this machine."""
    from repro.data import data_folder, datasets

    with_files = [(dataset, dataset.cached()) for dataset in datasets().values()]
    if as_json:
        print_json(
            [
                {name: getattr(dataset, name) for name in ("name", "title", "rows", "home", "terms", "citation")}
                | {
                    "path": cached and cached[0],
                    "checked": all(source.checked for source in dataset.sources),
                    "sources": [source.address for source in dataset.sources],
                }
                for dataset, cached in with_files
            ]
        )
        return
    rows = [
        [
            dataset.name,
            dataset.title,
            f"{dataset.rows:,}" if dataset.rows else "-",
            "confirmed" if all(source.checked for source in dataset.sources) else "unchecked",
            "yes" if cached else "-",
        ]
        for dataset, cached in with_files
    ]
    rows.append(["synthetic", "Power-law popularity, generated (--option users=..., alpha=...)", "-", "-", "yes"])
    print_table(["name", "data set", "rows", "checksum", "here"], rows, right=["rows"])
    echo(f"\nkept in {data_folder()}; set REPRO_DATA to keep them elsewhere")


@data.command(epilog="Example: repro data get ml-100k")
@click.argument("name", shell_complete=complete_data)
@json_option
def get(name: str, as_json: bool) -> None:
    """Download a data set, check its checksum and its content, and keep it.

    NAME is one of `repro data list`. A data set that is here already is not downloaded again.
    """
    from repro.data import get_dataset, load_dataset

    with _progress_bar(name) as progress:
        fetched = get_dataset(name, progress)
    interactions = load_dataset(name)
    if as_json:
        print_json(
            {
                "name": name,
                "path": fetched.path,
                "source": fetched.source.address,
                "checked": fetched.source.checked,
                "rows": len(interactions),
                "digest": interactions.digest,
                "terms": fetched.dataset.terms,
            }
        )
        return
    echo(f"{fetched.dataset.title}: {len(interactions):,} rows in {fetched.path}")
    echo(f"from {fetched.source.address}, {fetched.check}")
    echo(f"content digest {interactions.digest}")
    echo(f"terms: {fetched.dataset.terms}")


@data.command(epilog="Example: repro data describe semicolons.csv --option delimiter=';'")
@click.argument("name_or_path", shell_complete=complete_data)
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="How a file is read (format, delimiter, header, encoding, columns={user='uid'}, ...), "
    "or what `synthetic` makes (users, items, ratings, alpha, seed, ...). May be repeated.",
)
@json_option
def describe(name_or_path: str, options: tuple[str, ...], as_json: bool) -> None:
    """Users, items, ratings, density, Gini, rating histogram and time span.

    NAME_OR_PATH is one of `repro data list` (downloaded if it is not here), `synthetic`, or a file.
    """
    from repro.data import describe as describe_interactions
    from repro.data.load import load_with_notes

    chosen = dict(toml_pair(option, "NAME=VALUE, such as delimiter=';'", "--option") for option in options)
    with _progress_bar(name_or_path) as progress:
        result = load_with_notes(name_or_path, progress=progress, **chosen)
    description = describe_interactions(result.interactions)
    if as_json:
        print_json({"name": name_or_path, "read_as": result.notes, **description.to_dict()})
        return
    print_table(["figure", "value"], description.lines(), title=name_or_path)
    if description.explicit:
        echo()
        _print_histogram(description)
    if result.notes:
        echo(f"\nread as: {'; '.join(result.notes)}")


def _print_histogram(description: Description, most_bars: int = 25) -> None:
    """The ratings as bars; only the most frequent ones if there are many."""
    counts = description.histogram
    shown = sorted(sorted(counts, key=lambda value: -counts[value])[:most_bars])
    widest = max(counts.values())
    rows = [
        [
            f"{value:g}",
            f"{counts[value]:,}",
            f"{counts[value] / description.ratings:.1%}",
            "█" * round(40 * counts[value] / widest),
        ]
        for value in shown
    ]
    print_table(["rating", "rows", "share", ""], rows, right=["rating", "rows", "share"])
    if len(shown) < len(counts):
        echo(f"and {len(counts) - len(shown):,} rarer values")


@contextmanager
def _progress_bar(name: str) -> Iterator[Progress]:
    """A bar on standard error that appears with the first bytes."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(printable(f"getting {name}"), total=None, visible=False)
        yield lambda done, total: bar.update(task, completed=done, total=total, visible=True)
