"""Which parameters are tried next: all of a small space, or those that a sampler proposes."""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, Protocol

from repro.errors import StudyError
from repro.plugin import ParameterValue
from repro.study.tuning.settings import Range, Space

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

Suggestion = dict[str, ParameterValue]
SearchName = Literal["grid", "tpe"]


class Search(Protocol):
    """Proposes parameters, and is told what became of each proposal before it makes the next."""

    name: SearchName

    def ask(self) -> Suggestion | None:
        """The next parameters; None where all have been proposed."""

    def tell(self, value: float | None) -> None:
        """The value of the last proposal; None where there is none."""


def is_grid(space: Space, trials: int) -> bool:
    """Whether every combination of the space can be tried with that many trials."""
    sizes = [math.inf if domain.values is None else len(domain.values) for domain in space.values()]
    return math.prod(sizes) <= trials


def make_search(space: Space, trials: int, better: str, seed: int) -> Search:
    """All combinations where there are no more than ``trials``, else the tree-structured Parzen estimator."""
    return Grid(space) if is_grid(space, trials) else TreeParzen(space, better, seed)


def require_optuna() -> None:
    """Refuse a search that needs Optuna where it is not installed."""
    if importlib.util.find_spec("optuna") is None:
        raise StudyError(
            "Optuna, which searches spaces larger than [tune] trials, is not installed: pip install "
            "'recsys-repro[tune]'; or state lists that have no more combinations than trials"
        )


class Grid:
    """Every combination once, the last parameter changing fastest."""

    name: SearchName = "grid"

    def __init__(self, space: Space) -> None:
        values = [domain.values or () for domain in space.values()]
        self._left = (dict(zip(space, combination, strict=True)) for combination in itertools.product(*values))

    def ask(self) -> Suggestion | None:
        return next(self._left, None)

    def tell(self, value: float | None) -> None:
        """What became of one changes nothing about the others."""


class TreeParzen:
    """The tree-structured Parzen estimator (Bergstra et al. 2011, NIPS) of Optuna, one proposal after the other."""

    name: SearchName = "tpe"

    def __init__(self, space: Space, better: str, seed: int) -> None:
        require_optuna()
        import optuna

        self._space = {name: _distribution(domain) for name, domain in space.items()}
        with _quiet():
            self._study = optuna.create_study(
                direction="minimize" if better == "lower" else "maximize",
                sampler=optuna.samplers.TPESampler(seed=seed),
            )

    def ask(self) -> Suggestion | None:
        with _quiet():
            self._trial = self._study.ask(fixed_distributions=self._space)
        return dict(self._trial.params)

    def tell(self, value: float | None) -> None:
        from optuna.trial import TrialState

        with _quiet():
            self._study.tell(self._trial, value, state=TrialState.FAIL if value is None else None)


def _distribution(domain: Any) -> BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if not isinstance(domain, Range):
        return CategoricalDistribution(domain.values)
    if isinstance(domain.low, int) and isinstance(domain.high, int):
        return IntDistribution(domain.low, domain.high, log=domain.log)
    return FloatDistribution(domain.low, domain.high, log=domain.log)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Optuna writes nothing, and its setting is afterwards what it was."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
