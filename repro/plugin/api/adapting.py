"""What adapters of several frameworks share: parameters under other names, weights of training rows, known ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray
from repro.errors import PluginError
from repro.plugin.api.interfaces import Parameter, ParameterValue

Weigh = Callable[[FloatArray], FloatArray]


def renamed(names: Mapping[str, str], values: Mapping[str, ParameterValue]) -> dict[str, ParameterValue]:
    """The values of parameters under the framework's names; ``names`` has those that differ, by canonical name."""
    return {names.get(name, name): value for name, value in values.items()}


def canonical_parameters(
    parameters: Sequence[Parameter], names: Mapping[str, str], *others: Parameter
) -> tuple[Parameter, ...]:
    """The parameters of a framework's class for a canonical algorithm.

    Those in ``names`` (the framework's name by the canonical one) come first, under their canonical names; ``others``
    replace parameters of the same name, or are added.
    """
    own = {parameter.name: parameter for parameter in parameters}
    canonical = {name: replace(own.pop(other), name=name) for name, other in names.items()}
    return tuple((canonical | {other.name: other for other in others} | own).values())


def require_at_least(lowest: Mapping[str, float], values: Mapping[str, ParameterValue]) -> None:
    """Refuse values of parameters that are lower than the lowest allowed one, or NaN."""
    for name, value in values.items():
        if name in lowest and not float(value) >= lowest[name]:
            raise PluginError(f"{name} = {value!r} is too small; give a number of at least {lowest[name]}")


def row_weights(values: ParameterValue) -> Weigh:
    """What a training row weighs: ``ratings`` are weights as they are, ``binary`` is 1 for each row."""
    return np.ones_like if values == "binary" else np.asarray


def confidence_weights(values: ParameterValue, alpha: float) -> Weigh:
    """The confidence 1 + alpha * value of Hu, Koren and Volinsky (2008), where a framework has only alpha * value."""
    weigh = row_weights(values)

    def confidence(ratings: FloatArray) -> FloatArray:
        return 1.0 + alpha * weigh(ratings)

    return confidence


def known_positions(counts: npt.NDArray[np.integer[Any]]) -> CodeArray:
    """The position of each code among those with rows, for :meth:`Interactions.compact`; -1 for the others."""
    known = counts > 0
    return np.where(known, np.cumsum(known) - 1, -1).astype(np.int32)


def neighbour_sums(rows: Any, similarities: Any) -> FloatArray:
    """The product of two sparse matrices, users by items; NaN where no stored entries meet.

    A sum may be 0 although there are neighbours, so these are counted.
    """
    sums: FloatArray = (rows @ similarities).toarray()
    sums[(_stored(rows) @ _stored(similarities)).toarray() == 0] = np.nan
    return sums


def _stored(matrix: Any) -> Any:
    """A 1 for each stored entry."""
    pattern = matrix.copy()
    pattern.data = np.ones(len(pattern.data), dtype=np.int32)
    return pattern
