"""Implementations of factor models with other parameters, and the factors that they learn."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from repro.data.interactions import FloatArray, Interactions
from repro.definitions.implementation import Implementation
from repro.definitions.optimality.equations import Factors, Observed
from repro.definitions.optimality.terms import Rows
from repro.errors import PluginError, ReproError
from repro.plugin import ParameterValue

# What parameters of factor models are called.
ROLES: Mapping[str, tuple[str, ...]] = {
    "factors": (
        "factors", "n_factors", "num_factors", "no_factors", "n_components", "num_components", "rank", "k",
        "embedding_size", "embedding_dim", "dim", "n_dims", "latent_dim", "latent", "features", "n_features", "d",
    ),
    "epochs": (
        "epochs", "n_epochs", "num_epochs", "iterations", "n_iter", "n_iters", "num_iterations", "num_iters",
        "max_iter", "maxIter", "max_epochs", "iters", "steps", "n_steps",
    ),
    "regularisation": (
        "regularisation", "regularization", "reg", "reg_all", "lambda", "lambda_", "lambda_reg", "lam", "lmbda", "l2",
        "l2_reg", "reg_param", "regParam", "alpha_W", "weight_decay", "penalty", "lambda_pu", "reg_pu",
    ),
    "alpha": ("alpha", "weight", "confidence", "conf", "confidence_weight"),
    "learning_rate": ("learning_rate", "lr", "lr_all", "eta", "gamma", "step_size"),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Target:
    """An implementation whose parameters can be changed.

    make    the implementation with these parameters, and its own values of the others
    values  its parameters
    stated  those that the user stated, which are not changed
    """

    label: str
    make: Callable[[Mapping[str, ParameterValue]], Implementation]
    values: Mapping[str, ParameterValue]
    stated: Mapping[str, ParameterValue] = field(default_factory=dict)

    @classmethod
    def of_plugin(cls, label: str, stated: Mapping[str, ParameterValue]) -> Target:
        """An algorithm of a plug-in."""
        parameters = Implementation.of_plugin(label, stated).parameters

        def make(changed: Mapping[str, ParameterValue]) -> Implementation:
            return Implementation.of_plugin(label, {**stated, **changed})

        return cls(label, make, parameters, stated)

    @classmethod
    def of_class(cls, code: type, label: str, stated: Mapping[str, ParameterValue]) -> Target:
        """A class, whose constructor takes the parameters."""
        try:
            signature = inspect.signature(code).parameters
        except (TypeError, ValueError):
            signature = {}  # type: ignore[assignment]
        defaults = {
            name: parameter.default
            for name, parameter in signature.items()
            if isinstance(parameter.default, str | int | float | bool)
        }

        def make(changed: Mapping[str, ParameterValue]) -> Implementation:
            return Implementation.of_object(code(**{**stated, **changed}), label)

        return cls(label, make, {**defaults, **stated}, stated)

    @classmethod
    def of_object(cls, implementation: Implementation) -> Target:
        """An object, whose parameters stay as they are."""
        parameters = implementation.parameters
        return cls(implementation.label, lambda changed: implementation, parameters, parameters)

    def name_of(self, role: str) -> str | None:
        """The name of the parameter that has a role, such as ``"epochs"``."""
        return next((name for name in ROLES[role] if name in self.values), None)

    def can_change(self, role: str) -> bool:
        """Whether the parameter with that role exists and was not stated."""
        name = self.name_of(role)
        return name is not None and name not in self.stated

    def named(self, roles: Mapping[str, ParameterValue]) -> dict[str, ParameterValue]:
        """Values by the own names of parameters, without those that are stated or do not exist."""
        own = {self.name_of(role): value for role, value in roles.items()}
        named = {}
        for name, value in own.items():
            if name is None or name in self.stated:
                continue
            kind = type(self.values[name])
            named[name] = kind(value) if kind in (int, float) else value
        return named


def factors_of(implementation: Implementation, train: Interactions) -> Factors | None:
    """The state learnt from rows of users and items that all have some; None where the implementation offers none."""
    recommender = implementation.fitted(train)
    state = recommender.state()
    if "user_factors" not in state or "item_factors" not in state:
        return None
    if "implicit_factors" in state:
        raise PluginError(f"{implementation.label} has factors that are added to those of users; no objective has them")
    parts = [state.get(name) for name in ("user_factors", "item_factors", "user_bias", "item_bias")]
    if any(part is not None and not np.isfinite(part).all() for part in parts):
        raise PluginError(f"the factors of {implementation.label} are not finite")
    users, items, user_bias, item_bias = parts
    assert users is not None and items is not None
    note = recommender.notes().get("factors", "")
    return Factors(users, items, user_bias, item_bias, float(state.get("mean", 0.0)), note)


def offers_factors(target: Target, train: Interactions) -> bool:
    """Whether an implementation offers its factors."""
    try:
        return factors_of(target.make(target.named({"factors": 3, "epochs": 2})), train) is not None
    except ReproError:
        return False


def observe(
    target: Target, parameters: Mapping[str, ParameterValue], train: Interactions, epochs: int | None
) -> Observed | None:
    """The factors after ``epochs`` epochs and after one fewer; with None, those at the end alone."""
    rows = Rows.of(train)
    if epochs is None:
        last = factors_of(target.make(parameters), train)
        return None if last is None else Observed(rows, last)
    name = target.name_of("epochs")
    assert name is not None
    last, before = (factors_of(target.make({**parameters, name: number}), train) for number in (epochs, epochs - 1))
    return None if last is None or before is None else Observed(rows, last, before)


def numbers_given(values: Mapping[str, ParameterValue]) -> dict[str, float]:
    """The parameters that are numbers."""
    return {
        name: float(value)
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def single_precision(factors: Factors) -> bool:
    """Whether the factors have single precision."""
    arrays: list[FloatArray] = [factors.users, factors.items]
    return all(np.array_equal(array, array.astype(np.float32).astype(np.float64)) for array in arrays)


def collapsed(observed: Observed) -> bool:
    """Whether the factors are so small, or so large, that they say little about an objective."""
    last = observed.last
    products = np.abs(observed.rows.side("users").products(last.users, last.items))
    typical = float(np.abs(last.users).mean() * np.abs(last.items).mean())
    return not (1e-4 < max(float(products.mean()), typical) < 1e6)
