"""The space of definitions of an algorithm: the settings of the parameters of a declared algorithm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from repro.data.interactions import FloatArray, Interactions
from repro.errors import PluginError, ReproError
from repro.plugin import Algorithm, Parameter, ParameterValue, TrainingData, plugins
from repro.plugin.api.relabelling import marked, relabelled, without_order
from repro.plugin.host.validation import parameters_of

Setting = Mapping[str, ParameterValue]
# Settings of the parameters of one stage.
MOST = 100_000


REJECTED = -np.inf


def is_rejected(scores: FloatArray) -> bool:
    """Whether the scores are those of a setting that rejects the training rows."""
    return bool(np.isneginf(scores).all())


class TooMany(ReproError):
    """There are too many definitions to try them all."""


@dataclass(frozen=True, eq=False)
class Space:
    """The settings of ``algorithm``, which is called ``label`` (``reference/item-knn``).

    Parameters with options are decisions: each option is tried. Other parameters are numbers: the values that an
    implementation was given are tried, and those without effect.
    """

    label: str
    algorithm: Algorithm

    @classmethod
    def of(cls, label: str) -> Space:
        """The space of an algorithm of a plug-in."""
        return cls(label, plugins().algorithm(label)[1])

    @property
    def decisions(self) -> list[Parameter]:
        """The parameters with options."""
        return [parameter for parameter in self.algorithm.parameters if parameter.options]

    @property
    def numbers(self) -> list[Parameter]:
        """The parameters that are numbers."""
        return [p for p in self.algorithm.parameters if not p.options and not isinstance(p.default, str)]

    def parts(self, names: Sequence[str], numbers: Mapping[str, Sequence[ParameterValue]]) -> list[Setting]:
        """All values of some parameters, with these values of numbers; a parameter without effect has its default.

        Options with which the algorithm adapts to the data are left out: each of them computes what another one does.
        """
        values = {
            p.name: [option for option in p.options if self.algorithm.adapts_with.get(p.name) != option]
            for p in self.decisions
        }
        values |= {p.name: list(numbers.get(p.name, (p.default,))) for p in self.numbers}
        parts: list[dict[str, ParameterValue]] = [{}]
        for parameter in _conditions_first([p for p in self.algorithm.parameters if p.name in names]):
            tried = values.get(parameter.name, [parameter.default])
            parts = [
                part | {parameter.name: value}
                for part in parts
                for value in (tried if _applies(parameter, part) else [parameter.default])
            ]
            if len(parts) > MOST:
                raise TooMany(f"{self.label} has more than {MOST:,} settings to try; give fewer numbers")
        return [{name: part[name] for name in names} for part in parts]

    def complexity(self, part: Setting) -> tuple[int, int]:
        """The number of parameters that are not the default, and how far their options are in the declaration."""
        different = [p for p in self.algorithm.parameters if p.name in part and part[p.name] != p.default]
        places = [p.options.index(part[p.name]) if part[p.name] in p.options else 0 for p in different]
        return len(different), sum(places)

    def has_effect(self, name: str, setting: Setting) -> bool:
        """Whether a parameter has an effect beside the others of a setting."""
        parameter = next(p for p in self.algorithm.parameters if p.name == name)
        return _applies(parameter, setting)

    def default(self, name: str) -> ParameterValue:
        """The default of a parameter."""
        return next(p.default for p in self.algorithm.parameters if p.name == name)

    def complete(self, stated: Setting) -> Setting:
        """A setting of all parameters, with the defaults of those that are not stated."""
        return parameters_of(self.algorithm, dict(stated))

    def scores(self, settings: Sequence[Setting], train: Interactions) -> Iterator[FloatArray]:
        """The scores of each setting after fitting ``train``: users by items, NaN where there is none, and infinity
        where any number agrees with the definition."""
        if self.algorithm.definitions is None:
            yield from (self.fitted_scores(setting, train) for setting in settings)
            return
        others = (
            [(other, users, items) for other, users, items in relabelled(train)] if self._any_free(settings) else []
        )
        computed = list(self.algorithm.definitions(settings, TrainingData.of(train)))
        free = [n for n, setting in enumerate(settings) if self.algorithm.is_order_free(setting)]
        chosen = [settings[n] for n in free]
        again: list[list[FloatArray]] = [[] for _ in free]
        for other, users, items in others:
            for place, scores in enumerate(self.algorithm.definitions(chosen, TrainingData.of(other))):
                again[place].append(scores[users][:, items])
        for place, n in enumerate(free):
            computed[n] = marked(computed[n], again[place])
        yield from computed

    def _any_free(self, settings: Sequence[Setting]) -> bool:
        return any(self.algorithm.is_order_free(setting) for setting in settings)

    def fitted_scores(self, setting: Setting, train: Interactions) -> FloatArray:
        """The same by a fit of its own; ``REJECTED`` everywhere if it rejects the training rows."""
        scores = self._fitted_scores(setting, train)
        if not is_rejected(scores) and self.algorithm.is_order_free(setting):
            return without_order(scores, train, partial(self._fitted_scores, setting))
        return scores

    def _fitted_scores(self, setting: Setting, train: Interactions) -> FloatArray:
        try:
            recommender = plugins().recommender(self.label, dict(setting))
            recommender.fit(train, seed=0)
            users, items = np.arange(train.n_users, dtype=np.int32), np.arange(train.n_items, dtype=np.int32)
            scores = recommender.score_users(users, items)
        except PluginError:
            return np.full((train.n_users, train.n_items), REJECTED)
        return np.where(scores.states == 0, scores.values, np.nan)

    def differences(self, first: Setting, second: Setting) -> dict[str, tuple[ParameterValue, ParameterValue]]:
        """The parameters in which two settings differ, with both values."""
        return {name: (value, second[name]) for name, value in first.items() if second[name] != value}


def _applies(parameter: Parameter, setting: Setting) -> bool:
    return all(condition.holds(setting.get(condition.decision)) for condition in parameter.when)


def _conditions_first(parameters: Sequence[Parameter]) -> list[Parameter]:
    """The parameters in an order in which each follows those that its conditions name."""
    ordered: list[Parameter] = []
    left = list(parameters)
    names = {parameter.name for parameter in parameters}
    while left:
        done = {parameter.name for parameter in ordered}
        ready = [p for p in left if all(c.decision in done or c.decision not in names for c in p.when)]
        if not ready:
            raise PluginError(f"the conditions of {', '.join(p.name for p in left)} refer to each other")
        ordered += ready
        left = [p for p in left if p not in ready]
    return ordered
