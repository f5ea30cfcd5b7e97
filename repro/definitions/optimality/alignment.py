"""Agreement and alignment of factor models: the same objective, by the equations that the factors meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import Any

from repro.data.interactions import Interactions
from repro.definitions.optimality.decomposition import FactorDecomposition
from repro.definitions.optimality.equations import STEP, Method, Residual, System
from repro.definitions.optimality.fits import CONVERSIONS, Fit, fitted
from repro.definitions.optimality.hypotheses import Hypothesis, implicit, ratings
from repro.definitions.optimality.inference import EPOCHS, LIMITS, FactorInference, Observations
from repro.definitions.optimality.result import FactorDefinition, FactorUnexplained
from repro.definitions.optimality.targets import Target, numbers_given, observe, single_precision
from repro.definitions.optimality.training_sets import in_order, training_sets
from repro.errors import PluginError, ReproError
from repro.plugin import Parameter, ParameterValue, plugins
from repro.text import plural

# Combinations of options that are tried.
MOST = 24
# The numbers with which the proof is made.
PROBES = {"alpha": 3.0, "user_regularisation": 0.5, "item_regularisation": 0.5}
# The training sets of the proof.
SETS = 2
# Options that say how something is computed, and not what.
TECHNICAL = ("dtype", "use_native", "use_cg", "fit_features_together", "user_embeddings", "order", "start")


@dataclass(frozen=True, eq=False)
class Objective:
    """An objective with its numbers, such as ``{"alpha": 3.0, "user_regularisation": 2.0, ...}``."""

    hypothesis: Hypothesis
    numbers: Mapping[str, float]

    @classmethod
    def of(cls, algorithm: str, setting: Mapping[str, ParameterValue]) -> Objective:
        """The objective that is meant by decisions and numbers; decisions that are not stated have their defaults."""
        numbers = numbers_given(setting)
        epsilon, power = float(setting.get("epsilon", 1.0)), float(setting.get("power", 1.0))
        all_of = implicit((epsilon,), (power,)) if algorithm == "implicit-als" else ratings(algorithm, _OFFSETS)
        defaults = {"values": "ratings", "confidence": "plus-one", "zeros": "unobserved", "target": "one"}
        defaults |= {"penalty": "constant"} if algorithm == "implicit-als" else {"penalty": "count", "offset": "none"}
        wanted = {**defaults, **setting}
        for hypothesis in all_of:
            if all(wanted.get(name, value) == value for name, value in hypothesis.setting.items()):
                regularisation = numbers.get("regularisation", 0.1)
                weights = {f"{side}_regularisation": regularisation for side in ("user", "item")}
                known = {"alpha": numbers.get("alpha", 1.0), "unobserved": numbers.get("unobserved", 1.0)}
                return cls(hypothesis, {**known, **weights})
        raise PluginError(f"there is no objective of {algorithm} with {dict(setting)}")

    def lines(self) -> list[str]:
        return [str(self.hypothesis), ", ".join(f"{name} = {value:g}" for name, value in self.numbers.items())]


_OFFSETS = ("none", "mean", "biases")


@dataclass(frozen=True, eq=False)
class FactorAligned:
    """A framework's factor model beside an objective.

    parameters   with which it minimises the objective; None where there are none
    residual     how far its factors are from meeting the equations, with these parameters
    conversions  for each number that differs from that of the objective, how it follows
    decisions    where nothing aligns: the decisions in which the objectives differ, as (own, wanted)
    data         the residual on further data
    """

    label: str
    parameters: Mapping[str, ParameterValue] | None
    residual: Residual | None
    method: Method | None = None
    conversions: Mapping[str, str] = field(default_factory=dict)
    decisions: Mapping[str, tuple[ParameterValue, ParameterValue]] = field(default_factory=dict)
    data: Sequence[tuple[int, Residual]] = ()
    reason: str = ""

    def lines(self) -> list[str]:
        """The parameters, or what stands in the way, in text."""
        if self.parameters is None:
            lines = [f"  {name}: {own} here, {wanted} there" for name, (own, wanted) in self.decisions.items()]
            if lines:
                return ["the objectives differ:", *lines]
            return [f"no parameters give the objective{': ' + self.reason if self.reason else ''}"]
        assert self.residual is not None and self.method is not None
        texts = {name: f" ({text})" for name, text in self.conversions.items()}
        return [
            "the same objective with",
            *(f"  {name} = {value}{texts.get(name, '')}" for name, value in self.parameters.items()),
            f"learnt by {self.method.meaning}: residual {self.residual.whole:.1e}",
            *(f"residual {residual.whole:.1e} on {rows:,} rows of data" for rows, residual in self.data),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "algorithm": self.label,
            "aligned": self.parameters is not None,
            "parameters": None if self.parameters is None else dict(self.parameters),
            "conversions": dict(self.conversions),
            "decisions": {name: list(values) for name, values in self.decisions.items()},
            "residual": None if self.residual is None else self.residual.whole,
            "data": [{"rows": rows, "residual": residual.whole} for rows, residual in self.data],
            "reason": self.reason,
        }


@dataclass(frozen=True)
class FactorAlignment:
    """The search for parameters with which a factor model minimises an objective."""

    objective: Objective
    label: str
    seed: int = 0
    data: Sequence[Interactions] = ()

    def run(self) -> FactorAligned:
        """The parameters, or the decisions in which the objectives differ.

        The proof is for numbers with which factors are neither tiny nor huge; those of the objective follow in the same
        way.
        """
        refused: list[str] = []
        for options in self._options():
            try:
                aligned = self._with_options(options)
            except ReproError as error:
                refused.append(str(error))
                continue
            if aligned is not None:
                return aligned
        return self._obstacle(refused)

    def _options(self) -> Iterator[dict[str, ParameterValue]]:
        """All combinations of options of the framework's own parameters, the defaults first."""
        declared = plugins().algorithm(self.label)[1].parameters
        choices = [parameter for parameter in declared if _is_choice(parameter)]
        wanted = self.objective.hypothesis.setting
        ordered = (
            (wanted[each.name],)
            if wanted.get(each.name) in each.options
            else sorted(each.options, key=lambda option: option != each.default)
            for each in choices
        )
        for values in islice(product(*ordered), MOST):
            yield dict(zip((parameter.name for parameter in choices), values, strict=True))

    @property
    def _probe(self) -> Objective:
        numbers = self.objective.numbers
        known = {name: value for name, value in PROBES.items() if name in numbers}
        return Objective(self.objective.hypothesis, {**numbers, **known})

    def _with_options(self, options: Mapping[str, ParameterValue]) -> FactorAligned | None:
        """The parameters with these options; None if the objective is another one whatever the numbers."""
        names, numbers = self._numbers(options, self._probe)
        aligned, wrong = self._aligned({**options, **_converted(names, numbers, {})})
        if aligned is not None:
            return self._with_numbers(aligned, options, {})
        for texts in product(CONVERSIONS, repeat=len(wrong or ())) if wrong else ():
            conversions = dict(zip(wrong or (), texts, strict=True))
            aligned, _ = self._aligned({**options, **_converted(names, numbers, conversions)})
            if aligned is not None:
                return self._with_numbers(aligned, options, conversions)
        return None

    def _with_numbers(
        self, aligned: FactorAligned, options: Mapping[str, ParameterValue], conversions: Mapping[str, str]
    ) -> FactorAligned:
        """The result with the numbers of the objective in place of those of the proof."""
        names, numbers = self._numbers(options, self.objective)
        parameters = {**options, **_converted(names, numbers, conversions)}
        shown = {
            names[role]: text.format(f"{role} of the objective")
            for role, text in conversions.items()
            if role in names and text != "{}"
        }
        aligned = replace(aligned, parameters=parameters, conversions=shown)
        return replace(aligned, data=self._on_data(Target.of_plugin(self.label, parameters), aligned))

    def _numbers(
        self, options: Mapping[str, ParameterValue], objective: Objective
    ) -> tuple[dict[str, str], dict[str, float]]:
        """The framework's names of the numbers of the objective, and the numbers."""
        target = Target.of_plugin(self.label, options)
        wanted = {"regularisation": objective.numbers["user_regularisation"]}
        wanted |= {"alpha": objective.numbers["alpha"]} if objective.hypothesis.has("alpha") else {}
        named = {role: target.name_of(role) for role in wanted}
        return {role: name for role, name in named.items() if name is not None}, wanted

    def _aligned(self, parameters: Mapping[str, ParameterValue]) -> tuple[FactorAligned | None, list[str] | None]:
        """The result with these parameters; or the numbers that are wrong; or None if other things are wrong too."""
        target = Target.of_plugin(self.label, parameters)
        sets = list(islice(training_sets(self.seed), SETS))
        for factors in (3, 1):
            observations = _observations(target, target.named({"factors": factors}), sets)
            if not observations:
                return None, None
            limit = LIMITS["half-step"][0 if single_precision(observations[0].last) else 1]
            for order in ("users", "items", "together"):
                method = Method("half-step", order)
                residual = _met(self._probe, method, observations)
                if residual.whole <= limit:
                    return FactorAligned(self.label, dict(parameters), residual, method), None
                estimate = fitted(self.objective.hypothesis, method, observations)
                if estimate is not None and estimate.residual.whole <= limit:
                    return None, self._wrong(estimate)
        return None, None

    def _wrong(self, estimate: Fit) -> list[str]:
        roles = {"alpha": "alpha", "user_regularisation": "regularisation"}
        return [
            role
            for name, role in roles.items()
            if name in estimate.numbers
            and abs(estimate.numbers[name] - self._probe.numbers[name]) > 1e-3 * self._probe.numbers[name]
        ]

    def _on_data(self, target: Target, aligned: FactorAligned) -> list[tuple[int, Residual]]:
        assert aligned.method is not None
        results = []
        for train in self.data:
            observations = _observations(target, target.named({"factors": 3}), [in_order(train)])
            if observations:
                results.append((len(train), _met(self.objective, aligned.method, observations)))
        return results

    def _obstacle(self, refused: Sequence[str]) -> FactorAligned:
        finding = FactorInference(Target.of_plugin(self.label, {}), (self.objective.hypothesis.algorithm,)).run()
        if not isinstance(finding, FactorDefinition):
            reasons = [finding.reason] if isinstance(finding, FactorUnexplained) else []
            reason = next(filter(None, [*reasons, *refused]), "its own objective is unexplained")
            return FactorAligned(self.label, None, None, reason=reason)
        nearest = min(
            (finding.fit, *finding.same), key=lambda fit: len(_differing(fit.hypothesis, self.objective.hypothesis))
        )
        return FactorAligned(
            self.label, None, None, decisions=_differing(nearest.hypothesis, self.objective.hypothesis)
        )


def _converted(
    names: Mapping[str, str], numbers: Mapping[str, float], conversions: Mapping[str, str]
) -> dict[str, ParameterValue]:
    return {name: CONVERSIONS[conversions.get(role, "{}")](numbers[role]) for role, name in names.items()}


def _is_choice(parameter: Parameter) -> bool:
    return len(parameter.options) > 1 and parameter.name not in TECHNICAL


def _observations(
    target: Target, parameters: Mapping[str, ParameterValue], sets: Sequence[Interactions]
) -> Observations:
    observed = (observe(target, parameters, train, EPOCHS) for train in sets)
    return [each for each in observed if each is not None]


def _met(objective: Objective, method: Method, observations: Observations) -> Residual:
    return System(objective.hypothesis, method, observations).residual({**objective.numbers, STEP: 1.0})


def _differing(own: Hypothesis, wanted: Hypothesis) -> dict[str, tuple[ParameterValue, ParameterValue]]:
    """The decisions that both objectives have and in which they differ, as (own, wanted)."""
    return {
        name: (own.setting[name], option)
        for name, option in wanted.setting.items()
        if name in own.setting and own.setting[name] != option
    }


@dataclass(frozen=True, eq=False)
class FactorAgreement:
    """The objectives of the factor models that frameworks have under one name.

    findings  the objective of each, by ``framework/algorithm``
    left_out  by framework, why it takes no part
    """

    name: str
    findings: Mapping[str, FactorDefinition | FactorDecomposition | FactorUnexplained]
    left_out: Mapping[str, str]

    legend = "=: the same objective, x: another objective, ?: at least one of them is unexplained"

    @property
    def labels(self) -> list[str]:
        """The implementations."""
        return list(self.findings)

    def mark(self, first: str, second: str) -> str:
        """The mark of a pair, as in ``legend``."""
        if first == second:
            return "."
        fits = [_fits(self.findings[label]) for label in (first, second)]
        if not fits[0] or not fits[1]:
            return "?"
        return "=" if not self.decisions(first, second) else "x"

    def decisions(self, first: str, second: str) -> dict[str, tuple[ParameterValue, ParameterValue]]:
        """The decisions in which two objectives differ, in the words in which they differ least."""
        pairs = product(_fits(self.findings[first]), _fits(self.findings[second]))
        return min((_differing(a.hypothesis, b.hypothesis) | _sources(a, b) for a, b in pairs), key=len, default={})

    def marks(self) -> list[list[str]]:
        """The matrix of the marks."""
        return [[self.mark(a, b) for b in self.labels] for a in self.labels]

    def details(self) -> str:
        """The objective of each implementation, and the decisions in which they differ."""
        lines = []
        for label, finding in self.findings.items():
            lines += [label, *(f"  {line}" for line in finding.lines())]
        for n, first in enumerate(self.labels):
            for second in self.labels[n + 1 :]:
                for name, (one, two) in self.decisions(first, second).items():
                    lines.append(f"{first} and {second} differ in {name}: {one}, {two}")
        lines += [f"{plural(1, 'framework')} left out: {name}: {reason}" for name, reason in self.left_out.items()]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        pairs = [(a, b) for n, a in enumerate(self.labels) for b in self.labels[n + 1 :]]
        return {
            "algorithm": self.name,
            "implementations": {label: finding.to_dict() for label, finding in self.findings.items()},
            "pairs": [
                {
                    "first": first,
                    "second": second,
                    "same_objective": {"=": True, "x": False, "?": None}[self.mark(first, second)],
                    "decisions": {name: list(values) for name, values in self.decisions(first, second).items()},
                }
                for first, second in pairs
            ],
            "left_out": dict(self.left_out),
        }

    def __repr__(self) -> str:
        return self.details()


def _sources(first: Fit, second: Fit) -> dict[str, tuple[ParameterValue, ParameterValue]]:
    """The numbers that follow from parameters in different ways."""
    return {
        name: (source, second.sources[name])
        for name, source in first.sources.items()
        if name in second.sources and second.sources[name] != source
    }


def _fits(finding: FactorDefinition | FactorDecomposition | FactorUnexplained) -> list[Fit]:
    return [finding.fit, *finding.same] if isinstance(finding, FactorDefinition) else []
