"""The command line: one file per command, found by name and imported only when called."""

from __future__ import annotations

import importlib
import io
import signal
import sys
import traceback
import warnings
from types import FrameType, TracebackType
from typing import NoReturn, TextIO

import click

from repro.cli.output import Styled, echo

COMMANDS = {
    "algorithms": "Which framework has which algorithm, and how it calls the parameters.",
    "audit": "Find out what evaluators really compute, by asking them, and who agrees with whom.",
    "claim": "Write a claim about published numbers, and check what its source leaves open.",
    "compare": "Test which algorithms of a run differ: paired tests, corrections, effect sizes, intervals.",
    "curve": "Precision-recall and ROC curves of recommendations, joined over users in three ways.",
    "data": "Get, list and describe data sets.",
    "diff": "What differs between two runs, or a run and a protocol: decisions, data, versions, numbers.",
    "evaluate": "Measure recommendations that are in files.",
    "explain": "How much of a gap each decision accounts for; which protocol gives published numbers.",
    "export": "Write a finished run in other forms: RO-Crate, PROV, TREC, LaTeX, methods text, CSV.",
    "metrics": "List the metrics, and show what each one means.",
    "multiverse": "The numbers of a study under many protocols: spread, winners, what turns the order round.",
    "plugins": "Frameworks that can be used here.",
    "protocol": "List, show, validate, compare and explain protocols.",
    "replay": "Run a finished run again from its folder alone, in its own versions, and compare each number.",
    "replicate": "Run the claims of papers and pages again: a verdict for each published number.",
    "report": "Write the report of a finished run: one HTML file that needs nothing else.",
    "run": "Run a study: progress, then a table; a run folder with the journal.",
    "seal": "Record the digests of files that the journal of a folder does not cover yet.",
    "study-metrics": "Which metric and cut-off to trust: correlation, robustness, discriminative power.",
    "verify": "Check a run: is it whole, do its numbers follow from what it stored, do they come again.",
}


class LazyGroup(click.Group):
    """Lists its commands without importing them: `repro --help` must not wait for pandas."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = cmd_name.replace("-", "_")
        command = getattr(importlib.import_module(f"repro.cli.commands.{module}"), module)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from repro.errors import nearest

        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            ctx.fail(f"there is no command '{name}'{nearest(name, COMMANDS)} Commands: {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Example: repro run reports/reference-ml100k/study.toml. "
        'Tab completion for bash: eval "$(_REPRO_COMPLETE=bash_source repro)".'
    ),
)
@click.version_option(package_name="recsys-repro", prog_name="repro")
def cli() -> None:
    """Recommender-system results that can be compared across toolkits."""


class Terminated(KeyboardInterrupt):
    """SIGTERM: a scheduler or a shutdown asks to stop, as Ctrl-C does."""


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
    """The `repro` command: errors that a user can mend are printed as a sentence, without a traceback."""
    from repro.errors import ReproError

    warnings.showwarning, sys.excepthook = _show_warning, _show_error
    signal.signal(signal.SIGTERM, _terminate)
    try:
        status = cli(prog_name="repro", standalone_mode=False)
        if isinstance(status, int):  # what a command that ends with an exit code leaves
            sys.exit(status)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        echo(shown.getvalue(), err=True, nl=False)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt) as abort:
        stop = abort.__cause__ or abort  # click turns the one into the other
        echo(str(stop) or "stopped", err=True)
        sys.exit(143 if isinstance(stop, Terminated) else 130)
    except ReproError as error:
        echo(Styled("error: ", fg="red"), str(error), err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except OSError as error:  # a full disk, a folder that cannot be written
        where = f": {error.filename}" if error.filename else ""
        echo(Styled("error: ", fg="red"), f"{error.strerror or error}{where}", err=True)
        sys.exit(1)
