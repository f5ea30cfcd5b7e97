"""Audit of an algorithm: the definition that an implementation follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from repro.data.interactions import Interactions
from repro.definitions.behaviour import CHANCE, SEED, remarks_on
from repro.definitions.implementation import Implementation
from repro.definitions.inference import FEWEST, Inference
from repro.definitions.optimality.decomposition import FactorDecomposition
from repro.definitions.optimality.inference import FAMILIES, FactorInference
from repro.definitions.optimality.result import FactorDefinition, FactorUnexplained
from repro.definitions.optimality.targets import Target, offers_factors
from repro.definitions.optimality.training_sets import training_sets
from repro.definitions.result import Definition, Unexplained
from repro.definitions.space import Space
from repro.errors import PluginError, nearest
from repro.plugin import ParameterValue, plugins
from repro.types import Progress

STEPS = FEWEST + 4
# The factor models whose objectives are known, by canonical name: the algorithms whose objectives are tried first.
FACTOR_MODELS: dict[str, tuple[str, ...]] = {
    "implicit-als": ("implicit-als",),
    "explicit-als": ("explicit-als",),
    "biased-mf": ("explicit-als",),
    "nmf": ("nmf",),
}

Finding = Definition | Unexplained | FactorDefinition | FactorDecomposition | FactorUnexplained


@dataclass(frozen=True, eq=False)
class AlgorithmAudit:
    """The result of an audit of an algorithm.

    implementation  the audited implementation
    findings        for each space that was tried, the definition or the case that none explains; the first one that is
                    explained ends the audit
    remarks         what the scores depend on beside the training rows, such as the order of rows or ids, or the seed
    """

    implementation: Implementation
    findings: Sequence[Finding]
    remarks: Sequence[str] = ()

    @cached_property
    def definition(self) -> Definition | FactorDefinition | FactorDecomposition | None:
        """The definition that the implementation follows, if one is known."""
        known = (each for each in self.findings if not isinstance(each, Unexplained | FactorUnexplained))
        return next(known, None)

    @property
    def parameters(self) -> dict[str, ParameterValue]:
        """The parameters of the implementation in the audit."""
        changed = (
            {} if self.definition is None or isinstance(self.definition, Definition) else self.definition.parameters
        )
        return {**self.implementation.parameters, **changed}

    @property
    def status(self) -> str:
        """Whether the definition is explained, unexplained or, of a factor model, undetermined."""
        if isinstance(self.definition, FactorDefinition):
            return str(self.definition.to_dict()["status"])
        return "unexplained" if self.definition is None else "explained"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "algorithm": self.implementation.label,
            "version": self.implementation.version,
            "parameters": self.parameters,
            "status": self.status,
            "findings": [finding.to_dict() for finding in self.findings],
            "remarks": list(self.remarks),
        }

    def to_text(self) -> str:
        """The result in text."""
        version = f" {self.implementation.version}" if self.implementation.version else ""
        parameters = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        lines = [f"{self.implementation.label}{version}" + (f" with {parameters}" if parameters else "")]
        findings = [self.definition] if self.definition is not None else self.findings
        for finding in findings:
            lines += [f"  {line}" for line in finding.lines()]
        lines += [f"  note: {remark}" for remark in self.remarks]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.to_text()


def defining_spaces() -> dict[str, Space]:
    """The spaces of definitions of all plug-ins, by the name of the algorithm."""
    return {
        algorithm.name: Space(f"{name}/{algorithm.name}", algorithm)
        for name, framework in plugins().frameworks.items()
        for algorithm in framework.algorithms
        if algorithm.defines
    }


def spaces_for(canonical: str) -> list[Space]:
    """The spaces to try for an implementation: that of its canonical name, or all, the smaller ones first."""
    spaces = defining_spaces()
    if not spaces:
        raise PluginError(
            "no plug-in here defines algorithms; install recsys-repro-reference, whose algorithms are the definitions"
        )
    if canonical in spaces:
        return [spaces[canonical]]
    return sorted(spaces.values(), key=lambda space: (len(space.algorithm.parameters), space.label))


def probes_of(label: str) -> dict[str, ParameterValue]:
    """Parameters of an algorithm of a plug-in that make the effect of its decisions visible."""
    algorithm = plugins().algorithm(label)[1]
    space = defining_spaces().get(algorithm.name)
    own = {parameter.name for parameter in algorithm.parameters}
    if space is None:
        return {}
    probes = {parameter.name: parameter.probe for parameter in space.algorithm.parameters}
    return {name: value for name, value in probes.items() if value is not None and name in own}


@dataclass(frozen=True)
class AuditOptions:
    """Options of an audit: the seed, whether to search for evidence, further data, and only these spaces."""

    seed: int = 0
    evidence: bool = True
    data: Sequence[Interactions] = ()
    only: Sequence[str] = ()


def audit_implementation(
    implementation: Implementation, options: AuditOptions, progress: Progress, target: Target | None = None
) -> AlgorithmAudit:
    """The definition that an implementation follows, from the spaces of all plug-ins.

    ``target`` is the implementation with parameters that can be changed: if it offers factors, the objective that they
    minimise is its definition.
    """
    families = _families(implementation, options)
    findings: list[Finding] = []
    if target is not None and families and implementation.canonical not in defining_spaces():
        findings += _objective(implementation, target, families, options, progress)
        if findings and (not isinstance(findings[0], FactorUnexplained) or implementation.canonical in FACTOR_MODELS):
            return AlgorithmAudit(implementation, findings)
    remarks = remarks_on(implementation, options.seed)
    spaces = spaces_for("" if options.only else implementation.canonical)
    if options.only:
        spaces = [space for space in spaces if space.algorithm.name in options.only]
    if remarks and remarks[0] in (CHANCE, SEED):
        drawn = [Unexplained(space, None, None, remarks[0]) for space in spaces[:1]]
        return AlgorithmAudit(implementation, [*findings, *drawn], remarks)
    for space in spaces:
        stage, steps = f"{implementation.label} as {space.algorithm.name}", 0

        def step(text: str, stage: str = stage) -> None:
            nonlocal steps
            steps += 1
            progress(stage, min(steps, STEPS - 1), STEPS)

        inference = Inference(implementation, space, options.seed, step, options.evidence, options.data)
        findings.append(inference.run())
        progress(stage, STEPS, STEPS)
        if isinstance(findings[-1], Definition):
            break
    return AlgorithmAudit(implementation, findings, remarks)


def _families(implementation: Implementation, options: AuditOptions) -> tuple[str, ...]:
    """The algorithms whose objectives are tried first; none where only other definitions are asked for."""
    if not options.only:
        return FACTOR_MODELS.get(implementation.canonical, FAMILIES)
    known = [*defining_spaces(), *FACTOR_MODELS]
    if unknown := [name for name in options.only if name not in known]:
        raise PluginError(
            f"there are no definitions of '{unknown[0]}'{nearest(unknown[0], known)} There are those of: "
            f"{', '.join(sorted(known))}"
        )
    return tuple(dict.fromkeys(family for name in options.only for family in FACTOR_MODELS.get(name, ())))


def _objective(
    implementation: Implementation,
    target: Target,
    families: tuple[str, ...],
    options: AuditOptions,
    progress: Progress,
) -> list[Finding]:
    """The objective of a factor model; nothing if the implementation offers no factors."""
    if not offers_factors(target, next(training_sets(options.seed))):
        return []
    stage, steps = f"{implementation.label} by its factors", 0

    def step(text: str) -> None:
        nonlocal steps
        steps += 1
        progress(stage, min(steps, STEPS - 1), STEPS)

    finding = FactorInference(target, families, options.seed, step, options.data).run()
    progress(stage, STEPS, STEPS)
    return [finding]
