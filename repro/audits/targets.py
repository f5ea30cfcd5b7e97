"""The targets of an audit by name: evaluators, pipelines, their measures, and the metric in the name of a function."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from repro.errors import PluginError, ProtocolError, nearest
from repro.evaluation.metrics import metrics_by_any_name, own_name
from repro.plugin import Evaluator, Pipeline, how_to_install, plugins


def framework_of(evaluator: str) -> str:
    """``implicit`` for ``implicit/ranking_metrics_at_k``."""
    return evaluator.partition("/")[0]


def metric_in_name(target: str) -> str:
    """The metric in the name of a function: ``ndcg`` in ``my_package.metrics:ndcg_at_k``."""
    words = target.rpartition(":")[2].rpartition(".")[2].lower().split("_")
    known = {
        name: metric for name, metric in metrics_by_any_name().items() if len(name) > 1
    }  # r_precision is no recall
    for length in range(len(words), 0, -1):
        for start in range(len(words) - length + 1):
            if (name := "-".join(words[start : start + length])) in known:
                return known[name].name
    raise PluginError(f'name the metric of {target}, such as -m ndcg or metric="ndcg" (`repro metrics list`)')


def evaluator_called(name: str) -> Evaluator:
    evaluators = plugins().evaluators()
    _require_known("evaluator", name, list(evaluators), " A function is called package.module:function.")
    refuse_missing(evaluators[name])
    return evaluators[name]


def pipeline_called(name: str) -> Pipeline:
    pipelines = plugins().pipelines()
    _require_known("pipeline", name, list(pipelines))
    return pipelines[name]


def _require_known(kind: str, name: str, known: list[str], hint: str = "") -> None:
    if name not in known:
        names = ", ".join(known) or "none"
        raise PluginError(f"there is no {kind} '{name}'{nearest(name, known)} There are: {names}.{hint}")


def measures_called(evaluator: Evaluator, requested: Sequence[str]) -> list[str]:
    """The measures of an evaluator with these names, or declared as these metrics; all if no name is given."""

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


def chosen_evaluators(only: Collection[str] | None) -> list[Evaluator]:
    """The evaluators with these names, or of these frameworks; all if no name is given."""
    evaluators = plugins().evaluators()
    if only is None:
        return list(evaluators.values())
    names = [only] if isinstance(only, str) else list(only)
    frameworks = list(dict.fromkeys(map(framework_of, evaluators)))
    for name in names:
        _require_known("framework or evaluator", name, [*frameworks, *evaluators])
    return [evaluator for name, evaluator in evaluators.items() if {name, framework_of(name)} & set(names)]


def usable(evaluators: list[Evaluator]) -> tuple[list[Evaluator], dict[str, str]]:
    """The evaluators whose frameworks can run, and how to install the other frameworks."""
    installed = plugins()
    missing = {
        framework: how_to_install(installed.frameworks[framework])
        for framework in dict.fromkeys(framework_of(evaluator.name) for evaluator in evaluators)
        if framework in installed.frameworks and installed.location(framework) == "missing"
    }
    return [evaluator for evaluator in evaluators if framework_of(evaluator.name) not in missing], missing


def refuse_missing(evaluator: Evaluator) -> None:
    """Raise an error if the framework of the evaluator is not installed."""
    for sentence in usable([evaluator])[1].values():
        raise PluginError(f"{evaluator.name}: {sentence}")
