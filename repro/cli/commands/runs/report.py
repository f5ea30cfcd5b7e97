"""`repro report`: the report of a finished run."""

from __future__ import annotations

from pathlib import Path

import click

from repro.cli.help_text import Command
from repro.cli.output import echo, json_option, print_json


@click.command(cls=Command, epilog="Examples: repro report run --open; repro report run --into for-my-supervisor.html")
@click.argument("run", type=click.Path(file_okay=False), metavar="RUN_FOLDER")
@click.option(
    "--into",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write it there, and leave the run as it is [default: report.html in the run].",
)
@click.option("--open", "opened", is_flag=True, help="Open it in the browser.")
@json_option
def report(run: str, into: str | None, opened: bool, as_json: bool) -> None:
    """Write the report of a finished run: one self-contained HTML file.

    RUN_FOLDER is a folder that `repro run` made. The report has the answer, what each decision changed, charts, data
    and versions of the run, and the whole journal.
    """
    from repro.reports import write_report
    from repro.runs.run import Run

    path = write_report(Run(Path(run)), Path(into) if into else None)
    size = path.stat().st_size
    if as_json:
        print_json({"report": str(path), "bytes": size})
    else:
        echo(f"report   {path} ({size / 1e6:.1f} MB)")
    if opened:
        click.launch(str(path.resolve()))
