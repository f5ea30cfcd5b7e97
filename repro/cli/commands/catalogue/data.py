"""`repro data`: get, list, describe and identify data sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from repro.cli.help_text import Group
from repro.cli.options.evaluator_options import complete_data
from repro.cli.options.option_classes import argument, command, count_option, flag, option
from repro.cli.options.protocol_options import toml_pair
from repro.cli.options.shared_options import ProgressOptions
from repro.cli.output import echo, json_option, print_json, print_table
from repro.terminal import printable

if TYPE_CHECKING:
    from repro.data import Description
    from repro.data.download import Progress
    from repro.data.identification import Match


@click.group(cls=Group, epilog="Example: repro data get ml-100k")
def data() -> None:
    """Get, list, describe and identify data sets."""


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


@dataclass(frozen=True, kw_only=True)
class IdentifyOptions(ProgressOptions):
    files: tuple[str, ...] = argument(nargs=-1, type=click.Path(exists=True, dir_okay=False), metavar="[FILE]...")
    users: int | None = count_option("The number of users.")
    items: int | None = count_option("The number of items.")
    rows: int | None = count_option("The number of rows: ratings or interactions.")
    data: tuple[str, ...] = option(
        "Also try filters on this data; may be repeated.",
        multiple=True,
        metavar="NAME|FILE",
        shell_complete=complete_data,
    )
    published: bool = flag("Only look into the table of published sizes: try no filters on data that is here.")


@command(
    "repro data identify --users 22363 --items 12101 --rows 198502",
    "repro data identify --users 943 --rows 99287",
    "repro data identify train.txt test.txt",
    "repro data identify --users 40 --items 29 --data ratings.csv",
    group=data,
)
def identify(options: IdentifyOptions) -> None:
    """Name the data sets, versions and filters that have these sizes.

    The sizes are stated, or counted in FILE; several files are the parts of a single data set. They are looked up in a
    table of published sizes, and filters are tried on the data sets that are on this machine. A near miss differs by at
    most 2 % in each number, and is no match.
    """
    from repro.data import identify as identify_data
    from repro.data.identification.counting import count_sizes
    from repro.errors import DataError

    stated = (options.users, options.items, options.rows)
    if options.files:
        if any(number is not None for number in stated):
            raise DataError("state --users, --items and --rows, or give files to count them in, and not both")
        sizes, notes = count_sizes(options.files)
        stated = (sizes.users, sizes.items, sizes.rows)
        for note in notes:
            echo(f"note: {note}", err=True)
    here = not options.published
    result = identify_data(*stated, data=options.data, try_here=here, progress=not options.hidden)
    if options.as_json:
        print_json(result.to_dict())
        return
    echo(result.summary)
    if result.matches:
        _print_matches("\nhave these sizes", result.matches)
    if result.near:
        _print_matches("\nnear misses, which are no matches", result.near)
    tried = f"filters were tried on {', '.join(result.tried)}" if result.tried else "no filters were tried on data"
    echo(f"\n{tried}")
    for name, reason in result.skipped.items():
        echo(f"not tried: {name}, {reason}")


def _print_matches(title: str, matches: tuple[Match, ...]) -> None:
    names = ("users", "items", "rows")
    rows = []
    for match in matches:
        numbers = []
        for name in names:
            number, off = getattr(match.sizes, name), match.differences.get(name, 0)
            numbers.append("-" if number is None else f"{number:,}" + (f" ({off:+,})" if off else ""))
        rows.append([match.data, *numbers, match.version, match.source])
    print_table(["data", *names, "version", "source"], rows, title=title, right=names, spare=["source"])


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
