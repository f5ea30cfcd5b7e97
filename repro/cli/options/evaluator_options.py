"""The targets of an audit: evaluators, pipelines, their measures and Python functions, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from repro.audit import BlackBox
    from repro.plugin import Evaluator, Pipeline

DEFAULT_K = 10


def complete_evaluator(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from repro.plugin import plugins

    evaluators = plugins().evaluators().values()
    names = (evaluator for evaluator in evaluators if evaluator.name.startswith(incomplete))
    return [CompletionItem(evaluator.name, help=evaluator.summary) for evaluator in names]


def complete_only(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Frameworks and evaluators, also after a comma."""
    from repro.plugin import plugins

    before, comma, last = incomplete.rpartition(",")
    names = plugins().evaluators()
    offered = [*dict.fromkeys(name.partition("/")[0] for name in names), *names]
    return [CompletionItem(f"{before}{comma}{name}") for name in offered if name.startswith(last)]


def complete_pipeline(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from repro.plugin import plugins

    pipelines = plugins().pipelines().values()
    names = (pipeline for pipeline in pipelines if pipeline.name.startswith(incomplete))
    return [CompletionItem(pipeline.name, help=pipeline.summary) for pipeline in names]


def complete_data(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from repro.data import datasets

    completions = [CompletionItem(name) for name in datasets() if name.startswith(incomplete)]
    return completions or [CompletionItem(incomplete, type="file")]


def complete_cannot(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from repro.audit.black_boxes.python_function import KEYWORDS

    return [CompletionItem(word) for word in KEYWORDS if word.startswith(incomplete)]


def box_called(target: str, metrics: tuple[str, ...], cutoff: str | None, cannot: tuple[str, ...]) -> BlackBox:
    from repro.audit.black_boxes.python_function import box_of_function, load
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
    known = metrics_by_any_name()
    for length in range(len(words), 0, -1):
        for start in range(len(words) - length + 1):
            if (name := "-".join(words[start : start + length])) in known:
                return name
    raise click.UsageError(f"name the metric of {target} with -m, such as -m ndcg (`repro metrics list`)")


def _cutoffs(given: str | None) -> tuple[int, ...] | None:
    """The cut-offs in an option: ``10``, several as ``1,5,20``, or none."""
    if given == "none":
        return None
    parts = [part.strip() for part in (given or str(DEFAULT_K)).split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        message = f"'{given}': write a whole number from 1, several with commas between them, or none"
        raise click.BadParameter(message, param_hint="--k")
    return tuple(map(int, parts))


def evaluator_called(name: str) -> Evaluator:
    from repro.plugin import plugins

    known = plugins().evaluators()
    if name not in known:
        _fail_unknown("evaluator", name, list(known))
    refuse_missing(known[name])
    return known[name]


def pipeline_called(name: str) -> Pipeline:
    from repro.plugin import plugins

    known = plugins().pipelines()
    if name not in known:
        _fail_unknown("pipeline", name, list(known))
    return known[name]


def _fail_unknown(what: str, name: str, known: list[str]) -> NoReturn:
    from repro.errors import PluginError, nearest

    hint = " A function is called package.module:function." if what == "evaluator" else ""
    raise PluginError(
        f"there is no {what} '{name}'{nearest(name, known)} There are: {', '.join(known) or 'none'}.{hint}"
    )


def measures_called(evaluator: Evaluator, wanted: tuple[str, ...]) -> list[str]:
    """The measures of an evaluator with these names, or declared as these metrics; all if no name is given."""
    from repro.errors import PluginError, nearest

    names = {
        measure: (measure.lower(), metric, metric.partition("@")[0]) for measure, metric in evaluator.measures.items()
    }
    for name in wanted:
        if not any(name.lower() in called for called in names.values()):
            known = ", ".join(f"{measure} ({metric})" for measure, metric in evaluator.measures.items())
            raise PluginError(f"{evaluator.name} has no measure '{name}'{nearest(name, names)} It has: {known}")
    return [one for one, called in names.items() if not wanted or any(name.lower() in called for name in wanted)]


def chosen_evaluators(only: str | None) -> list[Evaluator]:
    """The evaluators with these names, or of these frameworks; all if no name is given."""
    from repro.plugin import plugins

    known = plugins().evaluators()
    if only is None:
        return list(known.values())
    names = [part.strip() for part in only.split(",") if part.strip()]
    frameworks = list(dict.fromkeys(name.partition("/")[0] for name in known))
    for name in names:
        if name not in known and name not in frameworks:
            _fail_unknown("framework or evaluator", name, [*frameworks, *known])
    return [one for one in known.values() if {one.name, one.name.partition("/")[0]} & set(names)]


def usable(evaluators: list[Evaluator]) -> tuple[list[Evaluator], dict[str, str]]:
    """The evaluators whose frameworks can run, and how to install the other frameworks."""
    from repro.plugin import how_to_install, plugins

    found = plugins()
    missing = {
        framework: how_to_install(found.frameworks[framework])
        for framework in dict.fromkeys(one.name.partition("/")[0] for one in evaluators)
        if framework in found.frameworks and found.location(framework) == "missing"
    }
    return [one for one in evaluators if one.name.partition("/")[0] not in missing], missing


def refuse_missing(evaluator: Evaluator) -> None:
    from repro.errors import PluginError

    for sentence in usable([evaluator])[1].values():
        raise PluginError(f"{evaluator.name}: {sentence}")


seed_option = click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")
only_option = click.option(
    "--only", metavar="NAME,NAME,...", shell_complete=complete_only, help="Only these frameworks or evaluators."
)
