"""`repro export`: write a finished run in the formats of other tools."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from repro.cli.options.comparison_options import complete_correction, complete_test
from repro.cli.options.option_classes import argument, command, completes, flag, option
from repro.cli.options.shared_options import SHARE, ProgressOptions, into_option
from repro.cli.output import echo, print_json, print_table
from repro.progress import Stages

_SETTINGS = ("baseline", "test", "correct", "level", "license", "author")


@completes()
def complete_form(text: str) -> dict[str, str]:
    """The forms, with a description of each."""
    from repro.exports import exporters

    return {exporter.name: exporter.summary for exporter in exporters().values()}


def list_forms(ctx: click.Context, param: click.Parameter, is_set: bool) -> None:
    """Print all forms, those of plug-ins too, and stop."""
    if is_set:
        from repro.exports import exporters

        print_table(["form", "what it is"], ([each.name, each.summary] for each in exporters().values()))
        ctx.exit()


@dataclass(frozen=True, kw_only=True)
class ExportOptions(ProgressOptions):
    run: Path = argument(type=click.Path(file_okay=False, path_type=Path), metavar="RUN_FOLDER")
    forms: tuple[str, ...] = option(
        "ro-crate, prov, trec, ir-metadata, latex, methods, checklist, csv, or one of a plug-in; may be repeated.",
        "--to",
        required=True,
        metavar="FORM",
        shell_complete=complete_form,
    )
    into: str | None = into_option(
        "The folder that gets a folder or file for each form [default: RUN-export, next to the run]."
    )
    fresh: bool = flag("Replace existing exports.")
    as_zip: bool = flag("Write each folder as a .zip file.", "--zip")
    baseline: str | None = option(
        "latex, methods: test only pairs with this algorithm [default: all].", metavar="LABEL"
    )
    test: str | None = option(
        "latex, methods: the paired test, as in `repro compare` [default: randomisation].",
        metavar="NAME",
        shell_complete=complete_test,
    )
    correct: str | None = option(
        "latex, methods: the correction for the number of pairs [default: holm].",
        metavar="NAME",
        shell_complete=complete_correction,
    )
    level: float | None = option(
        "latex, methods: significance level for corrected p-values [default: 0.05].", type=SHARE
    )
    license: str | None = option("ro-crate: the licence of the published crate.", metavar="URL")
    author: str | None = option("ro-crate: who ran the study.", metavar="NAME")


@command(
    "repro export run --to ro-crate --zip",
    "repro export run --to latex --to methods --baseline popularity --into paper",
)
@click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=list_forms, help="List the forms, and stop."
)
def export(options: ExportOptions) -> None:
    """Export a finished run: RO-Crate, PROV, TREC, LaTeX, methods text, CSV."""
    from repro.exports import export_forms

    run = options.run
    target = Path(options.into) if options.into else run.resolve().parent / f"{run.resolve().name}-export"
    settings = {name: value for name in _SETTINGS if (value := getattr(options, name)) is not None}
    with Stages(hidden=options.hidden) as stages:
        written = export_forms(
            run, options.forms, target, replace=options.fresh, as_zip=options.as_zip, progress=stages.update, **settings
        )
    if options.as_json:
        print_json({"run": str(run), "written": {form: str(path) for form, path in written.items()}})
        return
    width = max(map(len, written))
    for form, path in written.items():
        echo(f"{form:<{width}}  {path}")
