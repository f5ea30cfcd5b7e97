"""`repro export`: a finished run in the forms of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from repro.cli.commands.lists.compare import completes
from repro.cli.output import echo, json_option, print_json, print_table
from repro.cli.progress import Stages, quiet_option


def complete_form(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offers the forms, with what each of them is."""
    from repro.export import exporters

    return [
        CompletionItem(one.name, help=one.summary) for one in exporters().values() if one.name.startswith(incomplete)
    ]


def list_forms(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    """Prints the forms, those of plug-ins among them, in place of doing anything."""
    if wanted:
        from repro.export import exporters

        print_table(["form", "what it is"], ([one.name, one.summary] for one in exporters().values()))
        ctx.exit()


@click.command(
    epilog=(
        "Examples: repro export run --to ro-crate --zip; "
        "repro export run --to latex --to methods --baseline popularity --into paper"
    ),
)
@click.argument("run", type=click.Path(file_okay=False), metavar="RUN")
@click.option(
    "--to",
    "forms",
    multiple=True,
    required=True,
    metavar="FORM",
    shell_complete=complete_form,
    help="ro-crate, prov, trec, ir-metadata, latex, methods, checklist, csv, or one of a plug-in; may be repeated.",
)
@click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=list_forms, help="List the forms, and stop."
)
@click.option(
    "--into",
    type=click.Path(file_okay=False),
    help="The folder that gets a folder or file for each form [default: RUN-export, beside the run].",
)
@click.option("--fresh", is_flag=True, help="Replace what is there already.")
@click.option("--zip", "as_zip", is_flag=True, help="Write each folder as a .zip file.")
@click.option("--baseline", metavar="LABEL", help="latex, methods: test only pairs with this one [default: all].")
@click.option(
    "--test",
    shell_complete=completes("TESTS"),
    help="latex, methods: the paired test, as in `repro compare` [default: randomisation].",
)
@click.option(
    "--correct",
    shell_complete=completes("CORRECTIONS"),
    help="latex, methods: for the number of pairs [default: holm].",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="latex, methods: up to which a corrected p is a difference [default: 0.05].",
)
@click.option("--license", metavar="URL", help="ro-crate: the licence under which it is published.")
@click.option("--author", metavar="NAME", help="ro-crate: who ran it.")
@quiet_option
@json_option
def export(
    run: str,
    forms: tuple[str, ...],
    into: str | None,
    fresh: bool,
    as_zip: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Export a finished run: RO-Crate, PROV, TREC, LaTeX, methods text, CSV."""
    from repro.export import export_forms

    folder = Path(run)
    target = Path(into) if into else folder.resolve().parent / f"{folder.resolve().name}-export"
    settings = {name: value for name, value in options.items() if value is not None}
    with Stages(hidden=quiet or as_json) as stages:
        written = export_forms(folder, forms, target, replace=fresh, as_zip=as_zip, tell=stages.tell, **settings)
    if as_json:
        print_json({"run": str(folder), "written": {form: str(path) for form, path in written.items()}})
        return
    width = max(map(len, written))
    for form, path in written.items():
        echo(f"{form:<{width}}  {path}")
