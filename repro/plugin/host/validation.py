"""What is wrong with a declaration, in words: looked at once, when a plug-in gives it, so that nothing fails later."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from repro.plugin.api.evaluator import FEATURES, Evaluator, Pipeline
from repro.plugin.api.interfaces import (
    Algorithm,
    Environment,
    Exporter,
    Framework,
    MetricDeclaration,
    Parameter,
    Splitter,
)
from repro.protocol.decision import When

if TYPE_CHECKING:
    from repro.data import Dataset

_WORD = re.compile(r"[^\s/]+")
_PATH = re.compile(r"[^\s/]+/[^\s/]+")
_METRIC = re.compile(r"[a-z][a-z0-9_-]*")


def framework_fault(framework: object) -> str:
    """What is wrong with a framework; an empty text where nothing is."""
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
        own = {parameter.name for parameter in algorithm.parameters}
        if strange := [name for name in (*algorithm.ratings_with, *algorithm.adapts_with) if name not in own]:
            return f"says what {framework.name}/{algorithm.name} does with '{strange[0]}', which it does not have"
    if again := _repeated([algorithm.name for algorithm in framework.algorithms]):
        return f"gives {framework.name} two algorithms '{again}'"
    return ""


def sequence_fault(answer: object, kind: type, fault: Callable[[Any], str]) -> str:
    """What is wrong with what a hook gave that declares several things."""
    if wrong := _sequence_fault(answer, kind):
        return f"must give a sequence of {kind.__name__}, and gave what {wrong}"
    assert isinstance(answer, Sequence)
    return next(filter(None, map(fault, answer)), "")


def evaluator_fault(evaluator: Evaluator) -> str:
    if fault := _callable_fault(evaluator.name, _PATH, evaluator.evaluate, "an evaluator"):
        return f"{fault}; an evaluator is called framework/name"
    if not isinstance(evaluator.measures, Mapping) or not evaluator.measures:
        return f"declares the evaluator {evaluator.name} without measures: its own names, and the metrics meant"
    if strange := [one for one in evaluator.cannot if one not in FEATURES]:
        return f"says that {evaluator.name} cannot take '{strange[0]}'; known are {', '.join(FEATURES)}"
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
    # Its parameters are decisions of a protocol, and text that is a decision is one of some options.
    if open_text := [one.name for one in splitter.parameters if isinstance(one.default, str) and not one.options]:
        return f"gives {splitter.name} the parameter {open_text[0]} without the options that it has"
    conditions = [when for one in splitter.parameters for when in one.when]
    if isinstance(splitter.own_order, When):
        conditions.append(splitter.own_order)
    names = [one.name for one in splitter.parameters]
    if strange := [when.decision for when in conditions if when.decision not in names]:
        return f"gives {splitter.name} a condition on '{strange[0]}', which is none of its parameters"
    return ""


def metric_fault(metric: MetricDeclaration) -> str:
    names = (metric.name, *metric.aliases)
    if not all(_named(name, _METRIC) for name in names):
        return f"declares a metric {', '.join(map(repr, names))}; a metric is called like ndcg or user-coverage"
    if not callable(getattr(metric, "compute", None)):
        return f"declares the metric {metric.name} without a compute"
    own = f"metric.{metric.name}."
    if strange := [variant.id for variant in metric.variants if not variant.id.startswith(own)]:
        return f"declares the decision {strange[0]} as a variant of {metric.name}; it must begin with {own}"
    if again := _repeated([variant.id for variant in metric.variants]):
        return f"declares the decision {again} twice"
    return ""


def dataset_fault(dataset: Dataset) -> str:
    if not _named(dataset.name, _WORD) or not dataset.sources:
        return f"declares a data set {dataset.name!r}, which must have a name and a source"
    return ""


def _named(name: object, form: re.Pattern[str]) -> bool:
    return isinstance(name, str) and form.fullmatch(name) is not None


def _callable_fault(name: object, form: re.Pattern[str], function: object, noun: str) -> str:
    if _named(name, form) and callable(function):
        return ""
    return f"declares {noun} {name!r}, which must have a name without blanks and a function"


def _sequence_fault(given: object, kind: type) -> str:
    if not isinstance(given, Sequence):
        return f"is {given!r:.80}"
    strange = [one for one in given if not isinstance(one, kind)]
    return f"holds {strange[0]!r:.80}" if strange else ""


def _parameters_fault(parameters: object) -> str:
    if fault := _sequence_fault(parameters, Parameter):
        return fault
    assert isinstance(parameters, Sequence)
    strange = next((one for one in parameters if not isinstance(one.default, str | int | float | bool)), None)
    if strange is not None:
        return f"hold {strange.name} = {strange.default!r:.40}, which is no text, number or flag"
    again = _repeated([parameter.name for parameter in parameters])
    return f"hold '{again}' twice" if again else ""


def _repeated(names: Collection[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return ""
