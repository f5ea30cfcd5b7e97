"""The audits of algorithms as functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from repro.data import Interactions, load_dataset
from repro.definitions.agreement import AlgorithmAgreement, Pair, compare_implementations
from repro.definitions.alignment import Aligned, align_with
from repro.definitions.audit import (
    FACTOR_MODELS,
    AlgorithmAudit,
    AuditOptions,
    audit_implementation,
    defining_spaces,
    probes_of,
)
from repro.definitions.comparison import Level
from repro.definitions.implementation import Implementation
from repro.definitions.inference import Inference
from repro.definitions.named import NAMED
from repro.definitions.optimality.alignment import FactorAgreement, FactorAligned, FactorAlignment, Objective
from repro.definitions.optimality.decomposition import FactorDecomposition
from repro.definitions.optimality.inference import FactorInference
from repro.definitions.optimality.result import FactorDefinition, FactorUnexplained
from repro.definitions.optimality.targets import Target as FactorModel
from repro.definitions.result import Definition
from repro.errors import PluginError, nearest
from repro.models import load_code
from repro.plugin import ParameterValue, how_to_install, plugins
from repro.progress import Shown, progress_reporter
from repro.types import Progress


def audit(
    target: Any,
    parameters: Mapping[str, ParameterValue] | None = None,
    *,
    only: Collection[str] = (),
    data: str | Path | None = None,
    evidence: bool = True,
    seed: int = 0,
    progress: Shown = True,
) -> AlgorithmAudit:
    """Infer the definition that an implementation of an algorithm follows, from its scores on small training sets.

    target      an algorithm of a plug-in, such as ``lenskit/item-knn``; a class ``package.module:Class`` or an object
                with ``fit`` and ``score`` or ``predict``, as :class:`repro.Study` takes it
    parameters  of the algorithm; by default an algorithm of a plug-in has values that make the effect of its decisions
                visible, such as few neighbours
    only        only definitions of these canonical algorithms, such as ``["item-knn"]``
    data        a data set on which the definition is confirmed too, such as ``"ml-100k"``
    evidence    whether to search for the cases that reject other options
    seed        the random seed of the training sets
    progress    whether to show the progress, or a function that receives it (:mod:`repro.progress`)

    >>> audited = repro.definitions.audit("reference/bias", {"item_damping": 3.0}, evidence=False)
    >>> audited.definition.stated["item_damping"]
    3.0
    """
    implementation = implementation_of(target, parameters or {})
    rows = () if data is None else (load_dataset(data),)
    options = AuditOptions(seed, evidence, rows, tuple(only))
    factor_model = factor_model_of(target, parameters or {}, implementation)
    with progress_reporter(progress) as report_progress:
        return audit_implementation(implementation, options, report_progress, factor_model)


def implementation_of(target: Any, parameters: Mapping[str, ParameterValue]) -> Implementation:
    """The implementation that is meant by a name, a class or an object."""
    if isinstance(target, str) and ":" not in target:
        return Implementation.of_plugin(target, parameters or probes_of(target))
    label = target if isinstance(target, str) else ""
    code = load_code(target) if isinstance(target, str) else target
    return Implementation.of_object(code(**parameters) if isinstance(code, type) else code, label)


def factor_model_of(
    target: Any, parameters: Mapping[str, ParameterValue], implementation: Implementation
) -> FactorModel:
    """The implementation with parameters that can be changed; those of an object that was made stay as they are."""
    if isinstance(target, str) and ":" not in target:
        return FactorModel.of_plugin(target, parameters)
    code = load_code(target) if isinstance(target, str) else target
    if isinstance(code, type):
        return FactorModel.of_class(code, implementation.label, parameters)
    return FactorModel.of_object(implementation)


def agree(
    name: str,
    parameters: Mapping[str, ParameterValue] | None = None,
    *,
    only: Collection[str] | None = None,
    definitions: bool = True,
    data: str | Path | None = None,
    seed: int = 0,
    progress: Shown = True,
) -> AlgorithmAgreement | FactorAgreement:
    """Compare the implementations of an algorithm in all frameworks: the same scores, the same order, or different;
    of factor models, whether they minimise the same objective.

    name         a canonical name, such as ``"item-knn"``
    parameters   of the algorithm, for each framework that has them; by default those of an audit
    only         only these frameworks
    definitions  whether to infer the definition of each implementation, and so the decisions in which they differ
    data         a data set on which they are compared too, such as ``"ml-100k"``
    seed         the random seed of the training sets
    progress     whether to show the progress, or a function that receives it (:mod:`repro.progress`)
    """
    frameworks, left_out = _frameworks(name, only)
    if name in FACTOR_MODELS:
        with progress_reporter(progress) as report_progress:
            return _objectives(name, frameworks, left_out, parameters or {}, report_progress)
    implementations = [_with(f"{framework}/{name}", parameters or {}) for framework in frameworks]
    rows = () if data is None else (load_dataset(data),)
    with progress_reporter(progress) as report_progress:
        steps = len(implementations) * (len(implementations) + 1) // 2 + len(implementations) * definitions
        step = _counted(report_progress, name, steps)
        pairs = compare_implementations(implementations, seed, rows, step)
        known: dict[str, Definition] = {}
        if definitions and name in defining_spaces():
            for implementation in implementations:
                step(implementation.label)
                space = defining_spaces()[name]
                finding = Inference(implementation, space, seed, evidence=False, data=rows).run()
                if isinstance(finding, Definition):
                    known[implementation.label] = finding
        step("")
    pairs = [_with_decisions(pair, known) for pair in pairs]
    return AlgorithmAgreement(name, implementations, pairs, known, left_out)


def align(
    name: str,
    like: str,
    parameters: Mapping[str, ParameterValue] | None = None,
    *,
    only: Collection[str] | None = None,
    data: str | Path | None = None,
    seed: int = 0,
    progress: Shown = True,
) -> list[Aligned] | list[FactorAligned]:
    """Find parameters with which other frameworks compute what one of them computes, or what stands in the way.

    name        a canonical name, such as ``"item-knn"``
    like        the framework whose implementation is the target, or the name of a definition, such as ``"cosine-sum"``
                (:data:`repro.definitions.NAMED`)
    parameters  of the target
    only        only these frameworks
    data        a data set on which the result is confirmed too, such as ``"ml-100k"``
    seed        the random seed of the training sets
    progress    whether to show the progress, or a function that receives it (:mod:`repro.progress`)

    Returns for each other framework its parameters and the proof, or the smallest training set on which no parameters
    give the scores of the target, with the decisions in which the definitions differ.
    """
    if name in FACTOR_MODELS:
        rows = () if data is None else (load_dataset(data),)
        with progress_reporter(progress) as report_progress:
            return _aligned_objectives(name, like, parameters or {}, only, (seed, rows, report_progress))
    target = target_of(name, like, parameters or {})
    frameworks, _ = _frameworks(name, only)
    labels = [f"{framework}/{name}" for framework in frameworks if f"{framework}/{name}" != target.label]
    rows = () if data is None else (load_dataset(data),)
    results = []
    with progress_reporter(progress) as report_progress:
        step = _counted(report_progress, name, len(labels))
        for label in labels:
            step(label)
            aligned = align_with(target, label, seed=seed, data=rows)
            if aligned.parameters is None and name in defining_spaces():
                aligned = replace(aligned, decisions=_obstacles(label, target, name, seed))
            results.append(aligned)
        step("")
    return results


def _objectives(
    name: str,
    frameworks: Sequence[str],
    left_out: Mapping[str, str],
    parameters: Mapping[str, ParameterValue],
    report_progress: Progress,
) -> FactorAgreement:
    """The objective of the factor model of each framework."""
    step = _counted(report_progress, name, len(frameworks))
    findings: dict[str, FactorDefinition | FactorDecomposition | FactorUnexplained] = {}
    for framework in frameworks:
        label = f"{framework}/{name}"
        step(label)
        own = {parameter.name for parameter in plugins().algorithm(label)[1].parameters}
        stated = {key: value for key, value in parameters.items() if key in own}
        findings[label] = FactorInference(FactorModel.of_plugin(label, stated), FACTOR_MODELS[name]).run()
    step("")
    return FactorAgreement(name, findings, left_out)


def _aligned_objectives(
    name: str,
    like: str,
    parameters: Mapping[str, ParameterValue],
    only: Collection[str] | None,
    how: tuple[int, Sequence[Interactions], Progress],
) -> list[FactorAligned]:
    """The parameters with which each framework minimises the objective of ``like``."""
    seed, rows, report_progress = how
    frameworks, _ = _frameworks(name, only)
    others = [framework for framework in frameworks if framework != like]
    step = _counted(report_progress, name, len(others) + 1)
    step(f"the objective of {like}")
    objective = objective_of(name, like, parameters)
    results = []
    for framework in others:
        step(f"{framework}/{name}")
        results.append(FactorAlignment(objective, f"{framework}/{name}", seed, rows).run())
    step("")
    return results


def objective_of(name: str, like: str, parameters: Mapping[str, ParameterValue]) -> Objective:
    """The objective that is meant by a framework with these parameters, or by the name of a definition."""
    if like in NAMED:
        definition = NAMED[like]
        if definition.algorithm != name:
            raise PluginError(f"the definition {like} is one of {definition.algorithm}, not of {name}")
        return Objective.of(name, {"regularisation": 2.0, "alpha": 3.0, **parameters, **definition.parameters})
    if like not in plugins().frameworks_with(name):
        known = [*plugins().frameworks_with(name), *(n for n, d in NAMED.items() if d.algorithm == name)]
        raise PluginError(
            f"'{like}' is neither a framework with {name} nor a definition of it{nearest(like, known)} "
            f"There are: {', '.join(known)}"
        )
    finding = FactorInference(FactorModel.of_plugin(f"{like}/{name}", parameters), FACTOR_MODELS[name]).run()
    if not isinstance(finding, FactorDefinition):
        raise PluginError(f"the objective of {like}/{name} is unexplained, so that nothing can be aligned with it")
    return Objective(finding.fit.hypothesis, {"alpha": 1.0, "unobserved": 1.0, **finding.fit.numbers})


def target_of(name: str, like: str, parameters: Mapping[str, ParameterValue]) -> Implementation:
    """The implementation that others are aligned with: that of a framework, or a named definition."""
    if like in NAMED:
        definition = NAMED[like]
        if definition.algorithm != name:
            raise PluginError(f"the definition {like} is one of {definition.algorithm}, not of {name}")
        return definition.implementation(parameters)
    if like not in plugins().frameworks_with(name):
        known = [*plugins().frameworks_with(name), *(n for n, d in NAMED.items() if d.algorithm == name)]
        raise PluginError(
            f"'{like}' is neither a framework with {name} nor a definition of it{nearest(like, known)} "
            f"There are: {', '.join(known)}"
        )
    return _with(f"{like}/{name}", parameters)


def _frameworks(name: str, only: Collection[str] | None) -> tuple[list[str], dict[str, str]]:
    """The frameworks that have an algorithm and run here; and by framework, why others are left out."""
    installed = plugins()
    having = installed.frameworks_with(name)
    if not having:
        names = sorted({each.name for framework in installed.frameworks.values() for each in framework.algorithms})
        raise PluginError(
            f"no framework here has an algorithm '{name}'{nearest(name, names)} `repro algorithms list` lists all"
        )
    if only is not None and (unknown := [each for each in only if each not in having]):
        raise PluginError(f"{unknown[0]} has no {name}{nearest(unknown[0], having)} Frameworks: {', '.join(having)}")
    chosen = [framework for framework in having if only is None or framework in only]
    missing = {
        framework: how_to_install(installed.framework(framework))
        for framework in chosen
        if installed.location(framework) == "missing"
    }
    return [framework for framework in chosen if framework not in missing], missing


def _with(label: str, parameters: Mapping[str, ParameterValue]) -> Implementation:
    """An algorithm with those of the parameters that it has, and for the others the values of an audit."""
    algorithm = plugins().algorithm(label)[1]
    own = {parameter.name for parameter in algorithm.parameters}
    stated = {name: value for name, value in parameters.items() if name in own}
    return Implementation.of_plugin(label, {**probes_of(label), **stated})


def _with_decisions(pair: Pair, definitions: Mapping[str, Definition]) -> Pair:
    first, second = definitions.get(pair.first), definitions.get(pair.second)
    if first is None or second is None or pair.level == Level.EQUAL:
        return pair
    return replace(pair, decisions=differences(first, second))


def _obstacles(
    label: str, target: Implementation, name: str, seed: int
) -> dict[str, tuple[ParameterValue, ParameterValue]]:
    """The decisions in which the definition of an algorithm differs from that of the target."""
    space = defining_spaces()[name]
    own, wanted = (
        Inference(each, space, seed, evidence=False).run() for each in (_with(label, target.parameters), target)
    )
    if isinstance(own, Definition) and isinstance(wanted, Definition):
        return differences(own, wanted)
    return {}


def differences(first: Definition, second: Definition) -> dict[str, tuple[ParameterValue, ParameterValue]]:
    """The decisions in which two definitions differ for certain, with both values."""
    both = {**first.stated, **second.stated}
    return {
        name: (first.setting[name], second.setting[name])
        for name in both
        if first.setting[name] != second.setting[name]
        and not (
            set(first.undetermined.options.get(name, (first.setting[name],)))
            & set(second.undetermined.options.get(name, (second.setting[name],)))
        )
    }


def _counted(report_progress: Progress, name: str, total: int) -> Callable[[str], None]:
    """Reports each step as one more of ``total``."""
    done = 0

    def step(text: str) -> None:
        nonlocal done
        report_progress(f"{name}: {text}" if text else name, min(done, total) if text else total, total)
        done += 1

    return step
