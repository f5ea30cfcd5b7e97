"""The command line."""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
import warnings
from types import FrameType, TracebackType
from typing import NoReturn, TextIO

import click

from repro.cli.command_group import CommandGroup
from repro.cli.exit_codes import CLOSED, FAILED, INTERRUPTED, TERMINATED
from repro.cli.output import Styled, echo


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Examples: repro study new ratings.csv --into first.toml; repro run study.toml; repro metrics show ndcg",
)
@click.version_option(package_name="recsys-repro", prog_name="repro")
def cli() -> None:
    """Recommender-system results that can be compared across toolkits."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, from a scheduler or a shutdown; it stops a command as Ctrl-C does."""


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    echo(warnings.formatwarning(message, category, filename, lineno, line), err=True, nl=False)


def _show_error(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    echo("".join(traceback.format_exception(kind, error, trace)), err=True, nl=False)


def main() -> None:
    """The `repro` command: expected errors are printed as a sentence, without a traceback."""
    from repro.errors import ReproError

    if "_REPRO_COMPLETE" in os.environ:  # a shell asks
        from repro.cli.shell_completion import register

        register()
    warnings.showwarning, sys.excepthook = _show_warning, _show_error
    signal.signal(signal.SIGTERM, _terminate)
    try:
        status = cli(prog_name="repro", standalone_mode=False)
        if isinstance(status, int):  # a command raised click.exceptions.Exit
            sys.exit(status)
    except click.ClickException as error:
        message = io.StringIO()
        error.show(message)
        echo(message.getvalue(), err=True, nl=False)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt) as abort:
        stop = abort.__cause__ or abort  # click raises Abort from a KeyboardInterrupt
        echo(str(stop) or "stopped", err=True)
        sys.exit(TERMINATED if isinstance(stop, Terminated) else INTERRUPTED)
    except ReproError as error:
        echo(Styled("error: ", fg="red"), str(error), err=True)
        sys.exit(FAILED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(CLOSED)
    except OSError as error:  # a full disk, a folder that cannot be written
        where = f": {error.filename}" if error.filename else ""
        echo(Styled("error: ", fg="red"), f"{error.strerror or error}{where}", err=True)
        sys.exit(FAILED)
