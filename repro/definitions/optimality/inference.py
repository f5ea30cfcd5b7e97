"""Inference of the objective of a factor model, from the factors that it learns from small training sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from threadpoolctl import threadpool_limits

from repro.data.interactions import Interactions
from repro.definitions.optimality.biases import BiasFit, bias_fits, biases_move
from repro.definitions.optimality.decomposition import FactorDecomposition, decompositions
from repro.definitions.optimality.equations import Method, Observed, Residual
from repro.definitions.optimality.fits import Fit, fitted, with_parameters
from repro.definitions.optimality.hypotheses import Data, Hypothesis, implicit, nonnegative, ratings
from repro.definitions.optimality.result import FactorDefinition, FactorUnexplained, Rival
from repro.definitions.optimality.targets import (
    Target,
    collapsed,
    numbers_given,
    observe,
    single_precision,
)
from repro.definitions.optimality.terms import Rows, SideName
from repro.definitions.optimality.training_sets import further_sets, in_order, training_sets
from repro.errors import ReproError
from repro.plugin import ParameterValue

# The algorithms whose objectives are tried.
FAMILIES = ("implicit-als", "explicit-als", "nmf")
# The largest residual of singular vectors, which toolkits compute with random projections.
RANDOMISED = 1e-2
# How many times larger the residual of every other objective must be.
MARGIN = 20.0
# The largest residuals of equations that hold, by the kind of the method, in single and in double precision.
LIMITS = {
    "half-step": (1e-3, 1e-6),
    "multiplicative": (1e-3, 1e-6),
    "step": (1e-2, 1e-2),
    "stationary": (1e-3, 1e-3),
}
# The residual of a user or item may be so many times larger than that of all of them.
WORST = 10.0
# The values of the penalty that are tried, until the factors are neither tiny nor huge.
PENALTIES = (2.0, 0.5, 0.1, 0.02, 0.003)
EPOCHS = 4
# The residual of both sides at the end, where the side learnt last has none: the other one is as good as exact.
CONVERGED = 1e-3
MANY_EPOCHS = 400
# The learning rate of single steps, in single and double precision.
SMALL_STEPS = (1e-4, 1e-7)
# With steps, factors are those of the start, whatever the penalty; a large one shows most.
PENALTIES_OF_STEPS = (0.5,)
# Ratings that are larger move factors too far in a step; those that are all the same hardly move them.
LARGEST_OF_STEPS = 10.0
# The learning rate and the epochs after which biases are so large that their penalty shows in their steps.
STEPS_OF_BIASES = (1e-4, 800)

Observations = Sequence[Observed]


@dataclass(frozen=True, eq=False)
class Experiment:
    """Ways to learn that are tried, the parameters and epochs, and what was learnt with them.

    epochs  the factors are those after so many epochs and after one fewer; None for those at the end alone
    """

    methods: Sequence[Method]
    parameters: Mapping[str, ParameterValue]
    epochs: int | None
    observations: list[Observed]


@dataclass(eq=False)
class FactorInference:
    """The search for the objective of a factor model.

    families  the algorithms whose objectives are tried first
    data      training sets on which the objective is confirmed too
    """

    target: Target
    families: Sequence[str] = FAMILIES
    seed: int = 0
    progress: Callable[[str], None] = lambda text: None
    data: Sequence[Interactions] = ()
    refused: list[str] = field(default_factory=list)
    _single: bool | None = None

    def run(self) -> FactorDefinition | FactorDecomposition | FactorUnexplained:
        """The objective that the factors are at the minimum of, or how far they are from that of every other one."""
        nearest: list[Fit] = []
        reasons: list[str] = []
        for experiment in self._experiments():
            if experiment.epochs is None and (decomposed := self._decomposed(experiment)) is not None:
                return decomposed
            fits: list[Fit] = []
            others = tuple(name for name in FAMILIES if name not in self.families)
            for families in filter(None, (self.families, others)):
                self.progress(f"objectives of {', '.join(families)}")
                fits = sorted([*fits, *self._fits(experiment, families)], key=_residual)
                verdict = self._verdict(fits, experiment) if fits else ""
                if isinstance(verdict, FactorDefinition):
                    return verdict
                reasons += [verdict] if verdict else []
            nearest = sorted([*nearest, *fits], key=_residual)
        return self._unexplained(nearest, reasons[0] if reasons else "")

    # Experiments

    def _experiments(self) -> Iterator[Experiment]:
        """Ways to learn, with their parameters and what was learnt: the ones that show most come first."""
        target = self.target
        if target.can_change("epochs"):
            if target.can_change("learning_rate"):
                roles = {"factors": 3, "alpha": 3.0}
                yield from self._experiment([Method("step", "together")], roles, 2, PENALTIES_OF_STEPS)
            methods = [Method(kind, order) for kind in ("half-step", "multiplicative") for order in _ORDERS]
            for factors in (3, 1):
                yield from self._experiment(methods, {"factors": factors, "alpha": 3.0}, EPOCHS)
        methods = [
            *(Method("half-step", order) for order in ("users-last", "items-last", "both")),
            Method("stationary", "both"),
        ]
        yield from self._experiment(methods, {"factors": 3, "alpha": 3.0, "epochs": MANY_EPOCHS}, None)

    def _experiment(
        self,
        methods: list[Method],
        roles: Mapping[str, ParameterValue],
        epochs: int | None,
        penalties: Sequence[float] = PENALTIES,
    ) -> Iterator[Experiment]:
        """The factors that are learnt with the first penalty that leaves factors of a usual size."""
        tried = penalties if self.target.can_change("regularisation") else penalties[-1:]
        for penalty in tried:
            parameters = self.target.named({**roles, "regularisation": penalty})
            experiment = Experiment(methods, parameters, epochs, [])
            experiment.observations.extend(self._observed(experiment, training_sets(self.seed)))
            if not experiment.observations:
                return
            if not any(collapsed(observed) for observed in experiment.observations) or penalty == tried[-1]:
                yield experiment
                return

    def _observed(self, experiment: Experiment, sets: Iterator[Interactions]) -> list[Observed]:
        observations = []
        for train in sets:
            parameters = dict(experiment.parameters)
            if experiment.methods[0].kind == "step":
                if np.abs(train.ratings).max(initial=1.0) > LARGEST_OF_STEPS or np.ptp(train.ratings) == 0:
                    continue
                parameters = {**self._small_step(train), **parameters}
            try:
                observed = observe(self.target, parameters, train, experiment.epochs)
            except ReproError as error:
                self.refused.append(str(error))
                continue
            if observed is not None:
                observations.append(observed)
        return observations

    def _small_step(self, train: Interactions) -> dict[str, ParameterValue]:
        """A learning rate so small that the steps of an epoch add up, and above the rounding of the factors."""
        if self._single is None:
            first = self.target.named({"learning_rate": SMALL_STEPS[0], "epochs": 1, "factors": 3})
            try:
                learnt = observe(self.target, first, train, None)
            except ReproError:
                learnt = None
            self._single = learnt is None or single_precision(learnt.last)
        return self.target.named({"learning_rate": SMALL_STEPS[0 if self._single else 1]})

    # Hypotheses

    def _hypotheses(
        self, families: Sequence[str], given: Mapping[str, float], observations: Observations, steps: bool
    ) -> Iterator[Hypothesis]:
        last = observations[0].last
        if "implicit-als" in families and not last.has_biases:
            small = sorted({1.0, *(value for name, value in given.items() if "eps" in name.lower() and value > 0)})
            powers = sorted({1.0, 0.5, *(value for name, value in given.items() if _is_power(name))})
            yield from implicit(small, powers)
        if "explicit-als" in families:
            name = "biased-mf" if steps else "explicit-als"
            offsets = ("biases",) if last.has_biases else ("none", "mean", "user-mean", "item-mean")
            yield from ratings(name, offsets)
        positive = all((o.last.users >= 0).all() and (o.last.items >= 0).all() for o in observations)
        if "nmf" in families and positive and not last.has_biases:
            yield from nonnegative()

    def _fits(self, experiment: Experiment, families: Sequence[str]) -> list[Fit]:
        """All hypotheses with their numbers."""
        methods, observations = experiment.methods, experiment.observations
        given = numbers_given({**self.target.values, **experiment.parameters})
        steps = methods[0].kind == "step"
        fits = []
        with threadpool_limits(1):  # more threads would add in another order
            for hypothesis in self._hypotheses(families, given, observations, steps):
                for method in methods:
                    if method.kind == "multiplicative" and hypothesis.negative:
                        continue
                    if (fit := fitted(hypothesis, method, observations)) is not None:
                        fits.append(fit)
        return fits

    # Verdict

    def _verdict(self, fits: list[Fit], experiment: Experiment) -> FactorDefinition | str:
        """The objective, or why there is none."""
        observations, parameters = experiment.observations, experiment.parameters
        best = fits[0]
        single = all(single_precision(observed.last) for observed in observations)
        limit = LIMITS[best.method.kind][0 if single else 1]
        if not _holds(best.residual, limit):
            return ""
        floor = 1e-7 if single else 1e-12
        near = [fit for fit in fits if fit.residual.whole < MARGIN * max(best.residual.whole, floor)]
        given = numbers_given({**self.target.values, **parameters})
        close = max(MARGIN * best.residual.whole, 1e-4 if single else 1e-7)
        with threadpool_limits(1):
            near = [with_parameters(fit, self._first(given), observations, close) for fit in near]
        chosen = min(near, key=_preference)
        general = [_general(observed, self.seed) for observed in observations]
        same = [fit for fit in near if chosen.same_objective(fit, general)]
        others = [fit for fit in near if fit not in same]
        both = self._both(chosen, experiment)
        if both is not None and self.target.can_change("epochs") and both.residual.whole > CONVERGED:
            return f"only one side minimises an objective ({chosen.method.meaning}), the other one does not"
        biases: dict[SideName, BiasFit] = {}
        if chosen.hypothesis.setting.get("offset") == "biases":
            biases = self._biases(experiment)
            if wrong := [fit for fit in biases.values() if not fit.holds(limit)]:
                return (
                    f"the biases of {wrong[0].side} follow from nothing known (residual {wrong[0].residual.whole:.1e})"
                )
        confirmed, sets, rejected = self._confirmation(chosen, experiment, limit)
        if confirmed is None:
            return (
                f"the objective of {chosen.hypothesis.algorithm} that the first training sets suggest fails on others"
            )
        return FactorDefinition(
            self.target.label,
            chosen,
            tuple(dict.fromkeys(fit.method for fit in same if str(fit.hypothesis) == str(chosen.hypothesis))),
            [fit for fit in _distinct(same) if str(fit.hypothesis) != str(chosen.hypothesis)],
            _distinct(others),
            _rivals(chosen, fits, {str(fit.hypothesis) for fit in same}),
            dict(parameters),
            (confirmed, sets, rejected),
            self._on_data(chosen, experiment),
            single,
            biases,
            both,
            observations[0].last.note,
        )

    def _biases(self, experiment: Experiment) -> dict[SideName, BiasFit]:
        """The kind of the biases; where they are learnt in steps, after so many epochs that they are not tiny."""
        observations = experiment.observations
        if experiment.methods[0].kind == "step" and any(map(biases_move, observations)):
            rate, epochs = STEPS_OF_BIASES
            parameters = {**experiment.parameters, **self.target.named({"learning_rate": rate})}
            longer = Experiment(experiment.methods, parameters, epochs, [])
            observations = self._observed(longer, training_sets(self.seed))
        return {side: fits[0] for side, fits in bias_fits(observations).items()}

    def _decomposed(self, experiment: Experiment) -> FactorDecomposition | None:
        """The matrix whose singular vectors the factors are, if there is one."""
        observations = experiment.observations
        with threadpool_limits(1):
            best, *others = decompositions(observations)
            limit = RANDOMISED
            if not _holds(best.residual, limit) or others[0].residual.whole < MARGIN * best.residual.whole:
                return None
            worst, sets = Residual(0.0, 0.0), 0
            for train in further_sets(self.seed):
                further = self._observed(experiment, iter([train]))
                if not further or len(np.unique(train.ratings)) == 1:
                    continue
                same = [
                    each
                    for each in decompositions(further)
                    if str(each) == str(best) and sum(each.powers) == sum(best.powers)
                ]
                if not _holds(same[0].residual, limit):
                    return None
                worst, sets = worst | same[0].residual, sets + 1
        return FactorDecomposition(self.target.label, best, others, dict(experiment.parameters), (worst, sets))

    def _both(self, chosen: Fit, experiment: Experiment) -> Fit | None:
        """The objective at the factors of both sides at the end, where only those of the side learnt last are exact."""
        if chosen.method.needs_epoch or chosen.method.order == "both":
            return None
        return fitted(chosen.hypothesis, replace(chosen.method, order="both"), experiment.observations)

    def _first(self, given: Mapping[str, float]) -> dict[str, float]:
        """The parameters, those first whose role is that of a number of the objective."""
        leading = [self.target.name_of(role) for role in ("regularisation", "alpha")]
        names = [name for name in leading if name is not None and name in given]
        return {name: given[name] for name in (*names, *(n for n in given if n not in names))}

    def _confirmation(self, fit: Fit, experiment: Experiment, limit: float) -> tuple[Residual | None, int, int]:
        """The residual on training sets of another generator with the same numbers; None if it is refuted."""
        self.progress("confirmation")
        refused = len(self.refused)
        worst, sets = Residual(0.0, 0.0), 0
        for train in further_sets(self.seed):
            observations = self._observed(experiment, iter([train]))
            if not observations or collapsed(observations[0]):
                continue
            if fit.hypothesis.setting.get("offset") != "biases" and observations[0].last.has_biases:
                continue
            residual = fit.on(observations)
            sets += 1
            if not _holds(residual, limit):
                return None, sets, 0
            worst |= residual
        return (worst if sets else None), sets, len(self.refused) - refused

    def _on_data(self, fit: Fit, experiment: Experiment) -> list[tuple[int, Residual]]:
        """The residual on further data, with the same parameters."""
        results = []
        for train in self.data:
            self.progress(f"{len(train):,} rows of data")
            observations = self._observed(experiment, iter([in_order(train)]))
            if observations:
                results.append((len(train), fit.on(observations)))
        return results

    def _unexplained(self, fits: list[Fit], reason: str) -> FactorUnexplained:
        if not fits:
            reason = self.refused[0] if self.refused else "none with weights above 0 has its minimum there"
        return FactorUnexplained(self.target.label, _distinct(fits)[:3], reason)


_ORDERS = ("users", "items", "together")


def _residual(fit: Fit) -> float:
    return fit.residual.whole


def _is_power(name: str) -> bool:
    return name.lower() in ("power", "nu", "exponent", "reg_exp")


def _holds(residual: Residual, limit: float) -> bool:
    return residual.whole <= limit and residual.worst <= WORST * limit


def _preference(fit: Fit) -> tuple[int, int, int]:
    """Simple numbers first: parameters as they are, then conversions, then estimates; then the usual decisions."""
    conversions = sum(1 for source in fit.sources.values() if "{" in source or " " in source)
    estimated = len(fit.numbers) - len(fit.sources)
    usual = {"values": "ratings", "power": 1.0, "target": "one", "penalty": "constant", "zeros": "unobserved"}
    unusual = sum(1 for name, value in fit.hypothesis.setting.items() if usual.get(name, value) != value)
    return estimated, conversions, unusual


def _distinct(fits: Sequence[Fit]) -> list[Fit]:
    """The best fit of each hypothesis."""
    best: dict[str, Fit] = {}
    for fit in fits:
        best.setdefault(f"{fit.hypothesis.algorithm}: {fit.hypothesis}", fit)
    return list(best.values())


def _rivals(chosen: Fit, fits: Sequence[Fit], same: set[str]) -> list[Rival]:
    """For each other option of a decision, the best objective that has it."""
    rivals: dict[tuple[str, ParameterValue], Fit] = {}
    for fit in fits:
        if str(fit.hypothesis) in same or fit.hypothesis.algorithm != chosen.hypothesis.algorithm:
            continue
        for name, value in fit.hypothesis.setting.items():
            if value != chosen.hypothesis.setting.get(name, value):
                rivals.setdefault((name, value), fit)
    return [Rival(name, value, fit) for (name, value), fit in sorted(rivals.items(), key=lambda item: str(item[0]))]


def _general(observed: Observed, seed: int) -> Data:
    """The rows with values of all kinds, on which objectives that are not the same differ."""
    rng = np.random.default_rng([seed, 77, len(observed.rows.values)])
    rows = observed.rows
    values = rows.values if len(np.unique(rows.values)) == 1 else rng.uniform(0.2, 6.0, len(rows.values))
    return Data(Rows(rows.users, rows.items, values, rows.shape), rng.normal(size=len(values)))
