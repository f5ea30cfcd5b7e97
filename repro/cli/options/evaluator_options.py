"""The targets of an audit by name: evaluators, pipelines, their measures, and Python functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from repro.cli.options.option_classes import completes, option
from repro.cli.options.shared_options import ProgressOptions, seed_option

if TYPE_CHECKING:
    from repro.audits import BlackBox

DEFAULT_K = 10


@completes()
def complete_evaluator(text: str) -> dict[str, str]:
    from repro.plugin import plugins

    return {evaluator.name: evaluator.summary for evaluator in plugins().evaluators().values()}


@completes(after_comma=True)
def complete_only(text: str) -> list[str]:
    """Frameworks and evaluators."""
    from repro.plugin import plugins

    names = plugins().evaluators()
    return [*dict.fromkeys(name.partition("/")[0] for name in names), *names]


@completes()
def complete_pipeline(text: str) -> dict[str, str]:
    from repro.plugin import plugins

    return {pipeline.name: pipeline.summary for pipeline in plugins().pipelines().values()}


@completes(or_file=True)
def complete_data(text: str) -> dict[str, str]:
    """Data sets, or files."""
    from repro.data import datasets

    return {name: dataset.title for name, dataset in datasets().items()}


@completes()
def complete_cannot(text: str) -> list[str]:
    from repro.audits.black_boxes.python_function import CANNOT

    return list(CANNOT)


def names_in(only: str | None) -> list[str] | None:
    """The names in ``--only``, if it is given."""
    return None if only is None else [part.strip() for part in only.split(",") if part.strip()]


@dataclass(frozen=True, kw_only=True)
class AuditOptions(ProgressOptions):
    """Options of every audit."""

    seed: int = seed_option()


def only_option() -> Any:
    """``--only``, frameworks or evaluators."""
    return option("Only these frameworks or evaluators.", metavar="NAME,NAME,...", shell_complete=complete_only)


def data_option(help: str) -> Any:
    """``--data``, MovieLens 100K by default."""
    return option(help, default="ml-100k", metavar="NAME|FILE", shell_complete=complete_data)


def box_called(target: str, metrics: tuple[str, ...], cutoff: str | None, cannot: tuple[str, ...]) -> BlackBox:
    from repro.audits.black_boxes.python_function import box_of_function
    from repro.audits.targets import metric_in_name
    from repro.evaluation.metrics import metric_named
    from repro.models import load_code

    if len(metrics) > 1:
        raise click.UsageError("a function is declared as one metric; give -m once")
    metric = metric_named(metrics[0] if metrics else metric_in_name(target))
    if metric.cutoff == "none" and cutoff not in (None, "none"):
        raise click.UsageError(f"{metric.name} takes no cut-off; leave out --k")
    k = None if metric.cutoff == "none" else _cutoffs(cutoff)
    return box_of_function(load_code(target), metric.name, k, target, [word.replace("-", "_") for word in cannot])


def _cutoffs(text: str | None) -> tuple[int, ...] | None:
    """The cut-offs in an option: ``10``, several as ``1,5,20``, or none."""
    if text == "none":
        return None
    parts = [part.strip() for part in (text or str(DEFAULT_K)).split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        message = f"'{text}': write a whole number from 1, several with commas between them, or none"
        raise click.BadParameter(message, param_hint="--k")
    return tuple(map(int, parts))
