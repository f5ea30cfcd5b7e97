"""The targets of an audit by name: evaluators, pipelines, their measures, and Python functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from repro.cli.options.option_classes import completes, option
from repro.cli.options.shared_options import ProgressOptions, seed_option

if TYPE_CHECKING:
    from repro.audits import BlackBox
    from repro.plugin import Evaluator, Pipeline

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
    return [*dict.fromkeys(map(framework_of, names)), *names]


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
    from repro.audits.black_boxes.python_function import KEYWORDS

    return list(KEYWORDS)


@dataclass(frozen=True, kw_only=True)
class AuditOptions(ProgressOptions):
    """Options of every audit."""

    seed: int = seed_option()


def only_option() -> Any:
    """``--only``, frameworks or evaluators."""
    return option("Only these frameworks or evaluators.", metavar="NAME,NAME,...", shell_complete=complete_only)


def data_option(help: str) -> Any:
    """``--data``, MovieLens 100K by default."""
    return option(help, default="ml-100k", shell_complete=complete_data)


def framework_of(evaluator: str) -> str:
    """``implicit`` for ``implicit/ranking_metrics_at_k``."""
    return evaluator.partition("/")[0]


def box_called(target: str, metrics: tuple[str, ...], cutoff: str | None, cannot: tuple[str, ...]) -> BlackBox:
    from repro.audits.black_boxes.python_function import box_of_function, load
    from repro.evaluation.metrics import metric_named

    if len(metrics) > 1:
        raise click.UsageError("a function is declared as one metric; give -m once")
    metric = metric_named(metrics[0] if metrics else called_after(target))
    if metric.cutoff == "none" and cutoff not in (None, "none"):
        raise click.UsageError(f"{metric.name} takes no cut-off; leave out --k")
    k = None if metric.cutoff == "none" else _cutoffs(cutoff)
    return box_of_function(load(target), metric.name, k, target, {word.replace("-", "_"): False for word in cannot})


def called_after(target: str) -> str:
    """The metric in the name of a function: ``ndcg`` in ``my_package.metrics:ndcg_at_k``."""
    from repro.evaluation.metrics import metrics_by_any_name

    words = target.rpartition(":")[2].rpartition(".")[2].lower().split("_")
    known = {
        name: metric for name, metric in metrics_by_any_name().items() if len(name) > 1
    }  # r_precision is no recall
    for length in range(len(words), 0, -1):
        for start in range(len(words) - length + 1):
            if (name := "-".join(words[start : start + length])) in known:
                return known[name].name
    raise click.UsageError(f"name the metric of {target} with -m, such as -m ndcg (`repro metrics list`)")


def _cutoffs(text: str | None) -> tuple[int, ...] | None:
    """The cut-offs in an option: ``10``, several as ``1,5,20``, or none."""
    if text == "none":
        return None
    parts = [part.strip() for part in (text or str(DEFAULT_K)).split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        message = f"'{text}': write a whole number from 1, several with commas between them, or none"
        raise click.BadParameter(message, param_hint="--k")
    return tuple(map(int, parts))


def evaluator_called(name: str) -> Evaluator:
    from repro.plugin import plugins

    known = plugins().evaluators()
    _require_known("evaluator", name, list(known), " A function is called package.module:function.")
    refuse_missing(known[name])
    return known[name]


def pipeline_called(name: str) -> Pipeline:
    from repro.plugin import plugins

    known = plugins().pipelines()
    _require_known("pipeline", name, list(known))
    return known[name]


def _require_known(kind: str, name: str, known: list[str], hint: str = "") -> None:
    from repro.errors import PluginError, nearest

    if name not in known:
        names = ", ".join(known) or "none"
        raise PluginError(f"there is no {kind} '{name}'{nearest(name, known)} There are: {names}.{hint}")


def measures_called(evaluator: Evaluator, requested: tuple[str, ...]) -> list[str]:
    """The measures of an evaluator with these names, or declared as these metrics; all if no name is given."""
    from repro.errors import PluginError, ProtocolError, nearest
    from repro.evaluation.metrics import own_name

    def called(name: str) -> set[str]:
        """A requested name, as it is and as the suite calls the metric."""
        try:
            return {name.lower(), own_name(name)}
        except ProtocolError:
            return {name.lower()}

    names = {
        measure: (measure.lower(), metric, metric.partition("@")[0]) for measure, metric in evaluator.measures.items()
    }
    for name in requested:
        if not any(called(name) & set(own_names) for own_names in names.values()):
            known = ", ".join(f"{measure} ({metric})" for measure, metric in evaluator.measures.items())
            raise PluginError(f"{evaluator.name} has no measure '{name}'{nearest(name, names)} It has: {known}")
    chosen = {name for text in requested for name in called(text)}
    return [measure for measure, own_names in names.items() if not chosen or chosen & set(own_names)]


def chosen_evaluators(only: str | None) -> list[Evaluator]:
    """The evaluators with these names, or of these frameworks; all if no name is given."""
    from repro.plugin import plugins

    known = plugins().evaluators()
    if only is None:
        return list(known.values())
    names = [part.strip() for part in only.split(",") if part.strip()]
    frameworks = list(dict.fromkeys(map(framework_of, known)))
    for name in names:
        _require_known("framework or evaluator", name, [*frameworks, *known])
    return [evaluator for name, evaluator in known.items() if {name, framework_of(name)} & set(names)]


def usable(evaluators: list[Evaluator]) -> tuple[list[Evaluator], dict[str, str]]:
    """The evaluators whose frameworks can run, and how to install the other frameworks."""
    from repro.plugin import how_to_install, plugins

    installed = plugins()
    missing = {
        framework: how_to_install(installed.frameworks[framework])
        for framework in dict.fromkeys(framework_of(evaluator.name) for evaluator in evaluators)
        if framework in installed.frameworks and installed.location(framework) == "missing"
    }
    return [evaluator for evaluator in evaluators if framework_of(evaluator.name) not in missing], missing


def refuse_missing(evaluator: Evaluator) -> None:
    """Raise an error if the framework of the evaluator is not installed."""
    from repro.errors import PluginError

    for sentence in usable([evaluator])[1].values():
        raise PluginError(f"{evaluator.name}: {sentence}")
