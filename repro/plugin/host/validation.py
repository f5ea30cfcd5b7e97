"""Checks of what plug-ins declare, as sentences about the first fault, and of the parameters of algorithms."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from repro.errors import PluginError, nearest
from repro.plugin.api.evaluator import FEATURES, Evaluator, Pipeline
from repro.plugin.api.interfaces import (
    Algorithm,
    Environment,
    Exporter,
    Framework,
    MetricDeclaration,
    Parameter,
    ParameterValue,
    Splitter,
)
from repro.protocol.decision import When

if TYPE_CHECKING:
    from repro.data import Dataset

_WORD = re.compile(r"[^\s/]+")
_PATH = re.compile(r"[^\s/]+/[^\s/]+")
_METRIC = re.compile(r"[a-z][a-z0-9_-]*")


def framework_fault(framework: object) -> str:
    """The first fault of a framework; empty where there is none."""
    if not isinstance(framework, Framework):
        return f"must give a Framework, and gave {framework!r:.80}"
    if not _named(framework.name, _WORD):
        return f"gives a framework the name {framework.name!r}, which must be one word without '/'"
    if not isinstance(framework.version, str):
        return f"gives {framework.name} the version {framework.version!r}, which must be text"
    if not isinstance(framework.environment, Environment | None):
        return f"gives {framework.name} the environment {framework.environment!r:.80}, which must be an Environment"
    if fault := _sequence_fault(framework.algorithms, Algorithm):
        return f"gives {framework.name} algorithms that {fault}"
    for algorithm in framework.algorithms:
        if not _named(algorithm.name, _WORD) or not callable(algorithm.make):
            return f"gives {framework.name} an algorithm {algorithm.name!r}, which must have a name and a make"
        if fault := _parameters_fault(algorithm.parameters):
            return f"gives {framework.name}/{algorithm.name} parameters that {fault}"
        names = {parameter.name for parameter in algorithm.parameters}
        if unknown := [name for name in (*algorithm.ratings_with, *algorithm.adapts_with) if name not in names]:
            return f"says what {framework.name}/{algorithm.name} does with '{unknown[0]}', which it does not have"
    if repeated := _repeated([algorithm.name for algorithm in framework.algorithms]):
        return f"gives {framework.name} two algorithms '{repeated}'"
    return ""


def sequence_fault(answer: object, kind: type, fault: Callable[[Any], str]) -> str:
    """The first fault of the declarations that a hook returned; ``fault`` checks each of them."""
    if wrong := _sequence_fault(answer, kind):
        return f"must give a sequence of {kind.__name__}, and gave what {wrong}"
    assert isinstance(answer, Sequence)
    return next(filter(None, map(fault, answer)), "")


def evaluator_fault(evaluator: Evaluator) -> str:
    if fault := _callable_fault(evaluator.name, _PATH, evaluator.evaluate, "an evaluator"):
        return f"{fault}; an evaluator is called framework/name"
    if not isinstance(evaluator.measures, Mapping) or not evaluator.measures:
        return f"declares the evaluator {evaluator.name} without measures: its own names, and the metrics meant"
    if unknown := [feature for feature in evaluator.cannot if feature not in FEATURES]:
        return f"says that {evaluator.name} cannot take '{unknown[0]}'; known are {', '.join(FEATURES)}"
    return ""


def pipeline_fault(pipeline: Pipeline) -> str:
    if fault := _callable_fault(pipeline.name, _PATH, pipeline.run, "a pipeline"):
        return f"{fault}; a pipeline is called framework/name"
    return ""


def exporter_fault(exporter: Exporter) -> str:
    return _callable_fault(exporter.name, _WORD, exporter.export, "an exporter")


def splitter_fault(splitter: Splitter) -> str:
    if fault := _callable_fault(splitter.name, _PATH, splitter.split, "a splitter"):
        return f"{fault}; a splitter is called framework/name"
    if fault := _parameters_fault(splitter.parameters):
        return f"gives {splitter.name} parameters that {fault}"
    # Its parameters are decisions of a protocol, and a decision with text values has options.
    parameters = splitter.parameters
    if open_text := [parameter.name for parameter in parameters if _is_open_text(parameter)]:
        return f"gives {splitter.name} the parameter {open_text[0]} without the options that it has"
    conditions = [when for parameter in parameters for when in parameter.when]
    if isinstance(splitter.own_order, When):
        conditions.append(splitter.own_order)
    names = [parameter.name for parameter in parameters]
    if unknown := [when.decision for when in conditions if when.decision not in names]:
        return f"gives {splitter.name} a condition on '{unknown[0]}', which is none of its parameters"
    return ""


def metric_fault(metric: MetricDeclaration) -> str:
    names = (metric.name, *metric.aliases)
    if not all(_named(name, _METRIC) for name in names):
        return f"declares a metric {', '.join(map(repr, names))}; a metric is called like ndcg or user-coverage"
    if not callable(getattr(metric, "compute", None)):
        return f"declares the metric {metric.name} without a compute"
    prefix = f"metric.{metric.name}."
    if foreign := [variant.id for variant in metric.variants if not variant.id.startswith(prefix)]:
        return f"declares the decision {foreign[0]} as a variant of {metric.name}; it must begin with {prefix}"
    if repeated := _repeated([variant.id for variant in metric.variants]):
        return f"declares the decision {repeated} twice"
    return ""


def dataset_fault(dataset: Dataset) -> str:
    if not _named(dataset.name, _WORD) or not dataset.sources:
        return f"declares a data set {dataset.name!r}, which must have a name and a source"
    return ""


def _is_open_text(parameter: Parameter) -> bool:
    return isinstance(parameter.default, str) and not parameter.options


def _named(name: object, form: re.Pattern[str]) -> bool:
    return isinstance(name, str) and form.fullmatch(name) is not None


def _callable_fault(name: object, form: re.Pattern[str], function: object, noun: str) -> str:
    if _named(name, form) and callable(function):
        return ""
    return f"declares {noun} {name!r}, which must have a name without blanks and a function"


def _sequence_fault(sequence: object, kind: type) -> str:
    if not isinstance(sequence, Sequence):
        return f"is {sequence!r:.80}"
    others = [element for element in sequence if not isinstance(element, kind)]
    return f"holds {others[0]!r:.80}" if others else ""


def _parameters_fault(parameters: object) -> str:
    if fault := _sequence_fault(parameters, Parameter):
        return fault
    assert isinstance(parameters, Sequence)
    for parameter in parameters:
        if not isinstance(parameter.default, str | int | float | bool):
            return f"hold {parameter.name} = {parameter.default!r:.40}, which is no text, number or flag"
    repeated = _repeated([parameter.name for parameter in parameters])
    return f"hold '{repeated}' twice" if repeated else ""


def _repeated(names: list[str]) -> str:
    return next((name for position, name in enumerate(names) if name in names[:position]), "")


def parameters_of(algorithm: Algorithm, stated: Mapping[str, ParameterValue]) -> dict[str, ParameterValue]:
    """All parameters of ``algorithm``: the stated ones, checked, and the defaults of the others."""
    declared = {parameter.name: parameter for parameter in algorithm.parameters}
    for name in stated:
        if name not in declared:
            raise PluginError(
                f"{algorithm.name} has no parameter '{name}'{nearest(name, declared)} "
                f"It has: {', '.join(declared) or 'none'}"
            )
    checked = {name: _declared_form(algorithm, declared[name], value) for name, value in stated.items()}
    return {name: checked.get(name, parameter.default) for name, parameter in declared.items()}


def _declared_form(algorithm: Algorithm, parameter: Parameter, value: ParameterValue) -> ParameterValue:
    """The value in the type of the declaration (500 and 500.0 are the same), if it is allowed."""
    name, default = parameter.name, parameter.default
    if not parameter.options:
        if not _fits(value, type(default)):
            raise PluginError(f"{algorithm.name}: {name} = {value!r} must be {type(default).__name__}")
        return type(default)(value)
    for option in parameter.options:
        if option == value and _fits(value, type(option)):
            return option
    allowed = ", ".join(map(str, parameter.options))
    raise PluginError(f"{algorithm.name}: {name} = {value!r} is not allowed; allowed: {allowed}")


def _fits(value: ParameterValue, kind: type) -> bool:
    """Whether a value can be converted to that type: a whole number may be written 20 or 20.0."""
    if kind in (bool, str):
        return type(value) is kind
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return number and (kind is float or value == int(value))
