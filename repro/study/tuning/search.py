"""Search strategies: grid search of a small search space, otherwise the tree-structured Parzen estimator."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from repro.errors import StudyError
from repro.extras import missing
from repro.plugin import ParameterValue
from repro.study.tuning.settings import Range, SearchSpace

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

Suggestion = dict[str, ParameterValue]
SearchName = Literal["grid", "tpe"]


def is_grid(space: SearchSpace, trials: int) -> bool:
    """Whether that many trials cover every combination of the search space."""
    sizes = [math.inf if domain.values is None else len(domain.values) for domain in space.values()]
    return math.prod(sizes) <= trials


def require_optuna() -> None:
    """Refuse a search that needs Optuna where it is not installed."""
    if lacking := missing("tune", "a search of more combinations than [tune] trials"):
        raise StudyError(f"{lacking}; or state lists that have no more combinations than trials")


class Grid:
    """Suggests every combination once, the last parameter changing fastest."""

    name: SearchName = "grid"

    def __init__(self, space: SearchSpace) -> None:
        values = [domain.values or () for domain in space.values()]
        self._combinations = (dict(zip(space, combination, strict=True)) for combination in itertools.product(*values))

    def ask(self) -> Suggestion | None:
        """The parameters of the next trial; None where all have been suggested."""
        return next(self._combinations, None)

    def tell(self, value: float | None) -> None:
        """Receive the value of the last trial, None where it has none; a grid does not depend on it."""


class TreeParzen:
    """The tree-structured Parzen estimator (Bergstra et al. 2011, NIPS) of Optuna, with the methods of a grid."""

    name: SearchName = "tpe"

    def __init__(self, space: SearchSpace, better: str, seed: int) -> None:
        require_optuna()
        import optuna

        self._distributions = {name: _distribution(domain) for name, domain in space.items()}
        with _quiet():
            self._study = optuna.create_study(
                direction="minimize" if better == "lower" else "maximize",
                sampler=optuna.samplers.TPESampler(seed=seed),
            )

    def ask(self) -> Suggestion | None:
        with _quiet():
            self._trial = self._study.ask(fixed_distributions=self._distributions)
        return dict(self._trial.params)

    def tell(self, value: float | None) -> None:
        from optuna.trial import TrialState

        with _quiet():
            self._study.tell(self._trial, value, state=TrialState.FAIL if value is None else None)


def make_search(space: SearchSpace, trials: int, better: str, seed: int) -> Grid | TreeParzen:
    """Grid search where the space has at most ``trials`` combinations, else the tree-structured Parzen estimator."""
    return Grid(space) if is_grid(space, trials) else TreeParzen(space, better, seed)


def _distribution(domain: Any) -> BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if not isinstance(domain, Range):
        return CategoricalDistribution(domain.values)
    if isinstance(domain.low, int) and isinstance(domain.high, int):
        return IntDistribution(domain.low, domain.high, log=domain.log)
    return FloatDistribution(domain.low, domain.high, log=domain.log)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Within, Optuna logs errors only."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
