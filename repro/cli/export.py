"""`repro export`: a finished run in the forms of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from repro.cli.output import json_option, print_json
from repro.cli.progress import Stages, quiet_option


def complete_form(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offers the forms, with what each of them is."""
    from repro.report.export import exporters

    return [
        CompletionItem(one.name, help=one.summary) for one in exporters().values() if one.name.startswith(incomplete)
    ]


class _WithForms(click.Command):
    """Lists the forms below the options: those of plug-ins are only known when it is asked for help."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from repro.report.export import exporters

        with formatter.section("Forms"):
            formatter.write_dl([(one.name, one.summary) for one in exporters().values()])
        super().format_epilog(ctx, formatter)


@click.command(
    cls=_WithForms,
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
    help="A form of those below; may be repeated.",
)
@click.option(
    "--into",
    type=click.Path(file_okay=False),
    help="The folder that gets a folder or file for each form [default: RUN-export, beside the run].",
)
@click.option("--fresh", is_flag=True, help="Replace what is there already.")
@click.option("--zip", "as_zip", is_flag=True, help="Write each folder as a .zip file.")
@click.option("--baseline", metavar="LABEL", help="latex, methods: test against this one [default: the best].")
@click.option("--test", help="latex, methods: the paired test, as in `repro compare` [default: randomisation].")
@click.option("--correct", help="latex, methods: for the number of pairs [default: holm].")
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
    """Write a finished run in other forms: for archives, papers, and evaluators of the field."""
    from repro.report.export import export_forms

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
        click.echo(f"{form:<{width}}  {path}")
