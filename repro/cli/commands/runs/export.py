"""`repro export`: write a finished run in the formats of other tools."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from repro.cli.options.comparison_options import complete_correction, complete_test
from repro.cli.options.option_classes import argument, completes, option, takes
from repro.cli.options.shared_options import SHARE, ProgressOptions, into_option
from repro.cli.output import echo, print_json, print_table
from repro.cli.progress import Stages

_SETTINGS = ("baseline", "test", "correct", "level", "license", "author")


@completes()
def complete_form(text: str) -> dict[str, str]:
    """The forms, with a description of each."""
    from repro.export import exporters

    return {exporter.name: exporter.summary for exporter in exporters().values()}


def list_forms(ctx: click.Context, param: click.Parameter, is_set: bool) -> None:
    """Print all forms, those of plug-ins too, and stop."""
    if is_set:
        from repro.export import exporters

        print_table(["form", "what it is"], ([one.name, one.summary] for one in exporters().values()))
        ctx.exit()


@dataclass(frozen=True, kw_only=True)
class ExportOptions(ProgressOptions):
    run: Path = argument(type=click.Path(file_okay=False, path_type=Path))
    forms: tuple[str, ...] = option(
        "--to",
        multiple=True,
        required=True,
        metavar="FORM",
        shell_complete=complete_form,
        help="ro-crate, prov, trec, ir-metadata, latex, methods, checklist, csv, or one of a plug-in; may be repeated.",
    )
    into: str | None = into_option(
        "The folder that gets a folder or file for each form [default: RUN-export, next to the run]."
    )
    fresh: bool = option("--fresh", is_flag=True, help="Replace existing exports.")
    as_zip: bool = option("--zip", is_flag=True, help="Write each folder as a .zip file.")
    baseline: str | None = option(
        "--baseline", metavar="LABEL", help="latex, methods: test only pairs with this algorithm [default: all]."
    )
    test: str | None = option(
        "--test",
        shell_complete=complete_test,
        help="latex, methods: the paired test, as in `repro compare` [default: randomisation].",
    )
    correct: str | None = option(
        "--correct",
        shell_complete=complete_correction,
        help="latex, methods: the correction for the number of pairs [default: holm].",
    )
    level: float | None = option(
        "--level", type=SHARE, help="latex, methods: significance level for corrected p-values [default: 0.05]."
    )
    license: str | None = option("--license", metavar="URL", help="ro-crate: the licence of the published crate.")
    author: str | None = option("--author", metavar="NAME", help="ro-crate: who ran the study.")


@click.command(
    epilog=(
        "Examples: repro export run --to ro-crate --zip; "
        "repro export run --to latex --to methods --baseline popularity --into paper"
    ),
)
@takes(ExportOptions)
@click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=list_forms, help="List the forms, and stop."
)
def export(options: ExportOptions) -> None:
    """Export a finished run: RO-Crate, PROV, TREC, LaTeX, methods text, CSV."""
    from repro.export import export_forms

    run = options.run
    target = Path(options.into) if options.into else run.resolve().parent / f"{run.resolve().name}-export"
    settings = {name: value for name in _SETTINGS if (value := getattr(options, name)) is not None}
    with Stages(hidden=options.hidden) as stages:
        written = export_forms(
            run, options.forms, target, replace=options.fresh, as_zip=options.as_zip, tell=stages.update, **settings
        )
    if options.as_json:
        print_json({"run": str(run), "written": {form: str(path) for form, path in written.items()}})
        return
    width = max(map(len, written))
    for form, path in written.items():
        echo(f"{form:<{width}}  {path}")
