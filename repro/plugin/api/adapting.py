"""Helpers that adapters of several frameworks share: declarations, weights of training rows, blocks of scores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray
from repro.errors import PluginError
from repro.plugin.api.interfaces import Algorithm, Parameter, ParameterValue, Recommender
from repro.plugin.api.scores import Scores

Weigh = Callable[[FloatArray], FloatArray]
OwnNames = Mapping[str, str | tuple[str, ...]]


class Model(Protocol):
    """A class of a framework as a plug-in describes it."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def cite(self) -> str: ...
    @property
    def parameters(self) -> tuple[Parameter, ...]: ...


def own_algorithm(model: Model, make: Callable[..., Recommender], own: str, **fields: Any) -> Algorithm:
    """The algorithm that is a framework's class under its own name, with its own parameters.

    Args:
        make: ``make(model, **parameters)`` makes a recommender.
        own: the class of the framework, as it is imported.
        fields: other fields of :class:`Algorithm`.
    """
    return Algorithm(model.name, model.summary, partial(make, model), model.parameters, own, cite=model.cite, **fields)


def renamed(names: OwnNames, values: Mapping[str, ParameterValue]) -> dict[str, ParameterValue]:
    """The values of parameters under the framework's names; ``names`` has those that differ, by canonical name."""
    return {own: value for name, value in values.items() for own in _several(names.get(name, name))}


def canonical_parameters(
    parameters: Sequence[Parameter], names: OwnNames, *others: Parameter, kept: Collection[str] | None = None
) -> tuple[Parameter, ...]:
    """The parameters of a framework's class for a canonical algorithm.

    Those in ``names`` come first, under their canonical names; ``others`` replace parameters of the same name, or are
    added. Of the further ones of the framework, those in ``kept`` follow, by default all.
    """
    own = {parameter.name: parameter for parameter in parameters}
    canonical = {name: replace(own[_several(other)[0]], name=name) for name, other in names.items()}
    canonical |= {other.name: other for other in others}
    renamed_ones = {other for several in names.values() for other in _several(several)}
    further = [name for name in own if name not in renamed_ones] if kept is None else kept
    return (*canonical.values(), *(own[name] for name in further if name not in canonical))


def as_canonical(
    name: str,
    algorithm: Algorithm,
    names: OwnNames,
    *others: Parameter,
    kept: Collection[str] | None = None,
    fixed: Mapping[str, ParameterValue] | None = None,
    notes: Mapping[str, str] | None = None,
    **fields: Any,
) -> Algorithm:
    """A framework's own algorithm under a canonical name.

    Args:
        names: the framework's name of each canonical parameter, or several names where it sets several parameters.
        others: parameters that replace those of the same name, or are added.
        kept: the further parameters of the framework that can be chosen; by default all that are not ``fixed``.
        fixed: the values of parameters of the framework that follow from the canonical name.
        notes: the meaning of canonical parameters in the framework, where it is more than a name.
        fields: other fields of :class:`Algorithm`. ``make`` takes the canonical parameters: by default it is the
            algorithm's own, with the framework's names; ``mapping`` is ``names`` with ``notes``.
    """
    fixed = fixed or {}
    if kept is None:
        algorithm = replace(algorithm, parameters=tuple(p for p in algorithm.parameters if p.name not in fixed))
    mapping = {canonical: " and ".join(_several(own)) for canonical, own in names.items()} | dict(notes or {})
    declared: dict[str, Any] = {
        "make": partial(_make_renamed, algorithm.make, names, fixed),
        "parameters": canonical_parameters(algorithm.parameters, names, *others, kept=kept),
        "mapping": mapping,
    }
    return replace(algorithm, name=name, **(declared | fields))


def _several(own: str | tuple[str, ...]) -> tuple[str, ...]:
    return (own,) if isinstance(own, str) else own


def _make_renamed(
    make: Callable[..., Recommender],
    names: OwnNames,
    fixed: Mapping[str, ParameterValue],
    /,
    **parameters: ParameterValue,
) -> Recommender:
    return make(**renamed(names, parameters), **fixed)


def require_at_least(lowest: Mapping[str, float], values: Mapping[str, ParameterValue]) -> None:
    """Refuse values of parameters that are lower than the lowest allowed one, or NaN."""
    for name, value in values.items():
        if name in lowest and not float(value) >= lowest[name]:
            raise PluginError(f"{name} = {value!r} is too small; give a number of at least {lowest[name]}")


def own_parameters(lowest: Mapping[str, float], values: Mapping[str, ParameterValue]) -> dict[str, ParameterValue]:
    """The parameters of a framework's class, none lower than the lowest allowed; ``values`` is not one of them."""
    require_at_least(lowest, values)
    return {name: value for name, value in values.items() if name != "values"}


def row_weights(values: ParameterValue) -> Weigh:
    """A function from ratings to the weights of training rows: 1 for each with ``binary``, else the ratings."""
    return np.ones_like if values == "binary" else np.asarray


def confidence_weights(values: ParameterValue, alpha: float) -> Weigh:
    """The confidence 1 + alpha * value of Hu, Koren and Volinsky (2008), where a framework has only alpha * value."""
    weigh = row_weights(values)

    def confidence(ratings: FloatArray) -> FloatArray:
        return 1.0 + alpha * weigh(ratings)

    return confidence


def known_block(
    users: npt.NDArray[np.integer[Any]],
    items: npt.NDArray[np.integer[Any]],
    score: Callable[[Any, Any], FloatArray],
    *,
    complete: bool = False,
) -> Scores:
    """``score(users, items)`` of those with an inner id; those with a negative one are unscored.

    NaN from ``score`` means unscored; ``complete`` says that it never returns NaN.
    """
    known_users, known_items = users >= 0, items >= 0
    values = score(users[known_users], items[known_items])
    return Scores.of_known(values, known_users, known_items, complete=complete)


class TimesIdentity(np.ndarray[Any, Any]):
    """A matrix of scores that a factor model takes for the factors of users; those of items are the identity.

    The product is the matrix itself. Computed, one NaN or infinity would make a whole row NaN, as 0 times either is
    NaN.
    """

    def dot(self, other: Any, out: Any = None) -> FloatArray:  # type: ignore[override]
        return np.array(self)


def known_positions(counts: npt.NDArray[np.integer[Any]]) -> CodeArray:
    """The position of each code among those with rows, as in :meth:`Interactions.compact`; -1 for the others."""
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
