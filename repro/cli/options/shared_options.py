"""Options that several commands share."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import click

from repro.cli.options.option_classes import flag, option
from repro.cli.options.protocol_options import complete_metric

FILE = click.Path(dir_okay=False)
FOLDER = click.Path(file_okay=False)
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@dataclass(frozen=True, kw_only=True)
class JsonOption:
    """A table for people, or JSON for scripts."""

    as_json: bool = flag("Print JSON, for scripts.", "--json")


@dataclass(frozen=True, kw_only=True)
class ProgressOptions(JsonOption):
    """Progress bars on standard error."""

    quiet: bool = flag("No progress bar.")

    @property
    def hidden(self) -> bool:
        """Whether progress bars are hidden."""
        return self.quiet or self.as_json


@dataclass(frozen=True, kw_only=True)
class StoredRunOptions(ProgressOptions):
    """The data and the algorithms of a finished run."""

    algorithms: tuple[str, ...] = option("Only this algorithm; may be repeated.", "--algorithm", metavar="LABEL")
    data: str | None = option("The file of the run's data, if it has moved.", metavar="FILE")


def metric_option(help: str, **settings: Any) -> Any:
    """``-m`` for metrics, by any of their names."""
    settings = {"shell_complete": complete_metric, "callback": _own_names} | settings
    return option(help, "-m", "--metric", metavar="NAME", **settings)


def _own_names(ctx: click.Context, parameter: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names that the suite gives to these metrics; a note says how a name with several definitions is read."""
    if not names or ctx.resilient_parsing:
        return names
    from repro.cli.output import echo
    from repro.errors import ProtocolError
    from repro.evaluation.metrics import own_name, reading_notes

    for note in reading_notes(names):
        echo(f"note: {note}", err=True)
    own_names = []
    for name in names:
        try:
            own_names.append(own_name(name))
        except ProtocolError:  # the command says what is wrong, if the name is not one that a file defines
            own_names.append(name)
    return tuple(own_names)


def seed_option(help: str = "Random seed.") -> Any:
    """``--seed``, 0 by default."""
    return option(help, type=click.IntRange(0), default=0)


def workers_option(help: str) -> Any:
    """``--workers``, by default one for each core."""
    cores = os.cpu_count() or 1
    return option(help, type=click.IntRange(1), default=cores, show_default="all cores")


def into_option(help: str, kind: click.Path = FOLDER) -> Any:
    """``--into``, a folder or a file."""
    return option(help, type=kind)


def time_limit_option() -> Any:
    """``--time-limit`` of frameworks."""
    return option(
        "How long a framework in a process of its own may take to fit, or to score a block of users.",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
    )
