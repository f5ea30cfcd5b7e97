"""What commands share that go by the kept scores of a run."""

from __future__ import annotations

import click

kept_data_option = click.option(
    "--data", metavar="DATA", help="The data of the run, where it is no longer where the run found it."
)
algorithms_option = click.option(
    "--algorithm", "algorithms", multiple=True, metavar="LABEL", help="Only this one; may be repeated."
)
