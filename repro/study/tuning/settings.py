"""The tuning of a study: the metric, the budget, and the search space of each algorithm.

::

    [tune]
    metric = "ndcg@10"             # one of the study's metrics, or another one
    trials = 20                    # the budget of every algorithm on every fold
    seconds = 600                  # optional: no trial starts after that time

    [tune.space."item-knn"]        # an algorithm by its name in every framework, or "reference/item-knn" in one
    k = { low = 5, high = 200, log = true }
    similarity = ["cosine", "pearson"]

An entry of ``[[algorithms]]`` is tuned over the parameters that it does not state; with ``tune = false``, over none.

The validation part is a decision of the protocol: ``split.validation_share`` takes it from the training rows of each
fold, and the strategies ratio, user-ratio, all-but-n and files have decisions of their own for it.

Trials see training and validation rows only (:mod:`repro.study.tuning.loop`), unless ``split.tuned_on`` is "test". With
``split.fitted_on = "train+validation"`` every algorithm, tuned or not, is fitted on both parts for the test. Candidates
and relevant items depend on the training part alone, so that they are the same either way.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from repro.errors import PluginError, StudyError, nearest
from repro.evaluation.metrics import Measure, metric_text, metrics, parse_measure
from repro.plugin import Algorithm, ParameterValue, parameters_of
from repro.protocol import Protocol, toml_value
from repro.protocol.toml import Inline

if TYPE_CHECKING:
    from repro.study.entry import Entry

KEYS = ("metric", "trials", "seconds", "space")
RANGE_KEYS = ("low", "high", "log")
STATED = "the study states it"


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``, both included; whole numbers if both are; on a log scale with ``log``."""

    low: int | float
    high: int | float
    log: bool = False

    @property
    def values(self) -> Sequence[ParameterValue] | None:
        """All values; None where there are infinitely many."""
        return range(self.low, self.high + 1) if isinstance(self.low, int) and isinstance(self.high, int) else None

    def plain(self) -> dict[str, ParameterValue]:
        return {"low": self.low, "high": self.high, "log": self.log}


@dataclass(frozen=True)
class Choices:
    """A choice between these values."""

    values: tuple[ParameterValue, ...]

    def plain(self) -> list[ParameterValue]:
        return list(self.values)


Domain = Range | Choices
SearchSpace = Mapping[str, Domain]


@dataclass(frozen=True)
class TuningSettings:
    """The section ``[tune]``: metric, budget (``trials``, ``seconds``), and search spaces as written, by the name of
    the algorithm."""

    measure: Measure
    trials: int
    seconds: float | None
    spaces: Mapping[str, Mapping[str, Any]]

    def describe(self) -> dict[str, Any]:
        """The settings as plain data, without the search spaces."""
        return {"metric": self.measure.full_name, "trials": self.trials, "seconds": self.seconds}

    def document(self) -> dict[str, Any]:
        """The section as data for a TOML file."""
        spaces = {
            name: {key: Inline(domain) if isinstance(domain, Mapping) else domain for key, domain in space.items()}
            for name, space in self.spaces.items()
        }
        return {**self.describe(), "space": spaces}


def read_tuning(section: object, protocol: Protocol, unavailable: Collection[str] = ()) -> TuningSettings:
    """The section ``[tune]`` of a study under ``protocol``, without the checks that need its algorithms.

    Search spaces of algorithms that are ``unavailable`` on this machine are dropped.
    """
    if not isinstance(section, Mapping):
        raise StudyError(f"tune = {section!r} must be a table with metric, trials and space")
    for key in section:
        if key == "refit":
            raise StudyError(f'[tune]: refit is a decision of the protocol; write split.fitted_on = "{section[key]}"')
        if key not in KEYS:
            raise StudyError(f"[tune]: unknown key '{key}'{nearest(str(key), KEYS)}")
    for key in ("metric", "trials", "space"):
        if key not in section:
            raise StudyError(f"[tune] has no '{key}'; tuning needs metric, trials and a space for each algorithm")
    trials, seconds = section["trials"], section.get("seconds")
    if type(trials) is not int or trials < 1:
        raise StudyError(f"[tune]: trials = {trials!r} must be a whole number of at least 1")
    if seconds is not None and not (_is_number(seconds) and seconds > 0):
        raise StudyError(f"[tune]: seconds = {seconds!r} must be a number above 0")
    spaces = section["space"]
    if not isinstance(spaces, Mapping) or not all(isinstance(space, Mapping) and space for space in spaces.values()):
        raise StudyError('[tune]: space must hold a table for each algorithm, such as [tune.space."item-knn"]')
    limit = None if seconds is None else float(seconds)
    spaces = {name: space for name, space in spaces.items() if name not in unavailable}
    return TuningSettings(_measure(section["metric"], protocol), trials, limit, spaces)


def with_search_spaces(entries: Sequence[Entry], tuning: TuningSettings) -> tuple[Entry, ...]:
    """The entries of a study, each with its search space."""
    names = names_of(entries)
    for name in tuning.spaces:
        if name not in names:
            raise StudyError(f"[tune.space.{toml_value(name)}]: the study has no such algorithm{nearest(name, names)}")
    tuned = tuple(entry if entry.tune is False else _with_space(entry, tuning) for entry in entries)
    if not any(entry.space for entry in tuned):
        raise StudyError(
            "[tune] leaves nothing to tune; give an algorithm a space of parameters that it does not state"
        )
    return tuned


def names_of(entries: Sequence[Entry]) -> set[str]:
    """The names of the algorithms in ``[tune.space]``: with the framework, or without it for all frameworks."""
    return {name for entry in entries for name in (entry.use, entry.use.partition("/")[2])}


def _measure(name: object, protocol: Protocol) -> Measure:
    if not isinstance(name, str) and not hasattr(name, "stated"):
        raise StudyError(f"[tune]: metric = {name!r} must be one metric, such as ndcg@10")
    measure = parse_measure(metric_text(name), protocol, metrics())
    if measure.metric.better == "neither":
        raise StudyError(f"[tune]: of two values of {measure.name} neither is the better one; tune by another metric")
    return measure


def _with_space(entry: Entry, tuning: TuningSettings) -> Entry:
    """``entry`` with its search space, without parameters that its framework lacks or that the study states."""
    algorithm = entry.algorithm
    name = entry.use if entry.use in tuning.spaces else algorithm.name
    space: dict[str, Domain] = {}
    unmapped: dict[str, str] = {}
    stated: dict[str, str] = {}
    for parameter, written in tuning.spaces.get(name, {}).items():
        where = f"[tune.space.{toml_value(name)}]: {parameter}"
        if parameter in algorithm.unmapped:
            unmapped[parameter] = algorithm.unmapped[parameter]
            continue
        domain = _typed_domain(where, _read_domain(written, where), parameter, algorithm, entry.use)
        if parameter in entry.stated:
            stated[parameter] = STATED
        else:
            space[parameter] = domain
    if space and entry.given is not None and not entry.given.tunable:
        raise StudyError(
            f"[tune.space.{toml_value(name)}]: {entry.label} was given in Python and cannot be tuned: it has no "
            "get_params and set_params, as estimators of scikit-learn have; give models with other parameters as "
            "algorithms of their own"
        )
    return replace(entry, space=space, left_out=unmapped | stated, unmapped={**entry.unmapped, **unmapped})


def _read_domain(written: object, where: str) -> Domain:
    if isinstance(written, list | tuple):
        if not written or not all(isinstance(value, str | int | float) for value in written):
            raise StudyError(f"{where} = {written!r} must be a list of one or more values")
        return Choices(tuple(written))
    if not isinstance(written, Mapping):
        raise StudyError(
            f"{where} = {written!r} must be a list of values, or a range such as {{ low = 5, high = 200 }}"
        )
    for key in written:
        if key not in RANGE_KEYS:
            raise StudyError(f"{where}: unknown key '{key}'{nearest(str(key), RANGE_KEYS)}")
    low, high, log = written.get("low"), written.get("high"), written.get("log", False)
    if not _is_number(low) or not _is_number(high) or low >= high:
        raise StudyError(f"{where}: low = {low!r} and high = {high!r} must be numbers, low the smaller one")
    if type(log) is not bool or (log and low <= 0):
        raise StudyError(f"{where}: log = {log!r} must be true or false, and true only where low is above 0")
    return Range(low, high, log)


def _typed_domain(where: str, domain: Domain, parameter: str, algorithm: Algorithm, use: str) -> Domain:
    """The domain with values of the parameter's type, checked against the algorithm."""
    declared = {declaration.name: declaration for declaration in algorithm.parameters}
    if parameter not in declared:
        raise StudyError(
            f"{where}: {use} has no such parameter{nearest(parameter, declared)} A space of one framework alone is "
            f'named with it, such as [tune.space."{use}"]'
        )
    options, default = declared[parameter].options, declared[parameter].default
    if isinstance(domain, Range) and (options or type(default) not in (int, float)):
        raise StudyError(f"{where}: {parameter} is not a number, so that it cannot have a range; list its values")
    values = (domain.low, domain.high) if isinstance(domain, Range) else domain.values
    try:
        typed = tuple(parameters_of(algorithm, {parameter: value})[parameter] for value in values)
    except PluginError as error:
        raise StudyError(f"{where}: {error}") from None
    if isinstance(domain, Range):
        return Range(cast(float, typed[0]), cast(float, typed[1]), domain.log)
    if len(set(typed)) < len(typed):
        raise StudyError(f"{where} = {list(values)!r} has a value twice")
    return Choices(typed)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
