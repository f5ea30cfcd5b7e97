"""What a study says about tuning: by which metric, with which budget, and what is tried of each algorithm.

::

    [tune]
    metric = "ndcg@10"             # one of the study's metrics, or another; it knows which direction is better
    trials = 20                    # the same for every algorithm
    seconds = 600                  # if stated, no trial is begun after that time, for each algorithm and fold
    refit = "train"                # what all algorithms are fitted on for the test, or "train+validation"

    [tune.space."item-knn"]        # an algorithm by its name in every framework, or "reference/item-knn" in one
    k = { low = 5, high = 200, log = true }
    similarity = ["cosine", "pearson"]

A parameter that an entry of ``[[algorithms]]`` states is not tuned there; an entry with ``tune = false`` is not at all.

The validation part is a decision of the protocol: ``split.validation_share`` takes it from the training rows of each
fold, and the strategies ratio, user-ratio, all-but-n and files have decisions of their own for it.

Trials see training and validation rows only (:mod:`repro.study.tuning.loop`). With ``refit = "train"`` validation
rows are in no fit; with "train+validation" they join the training rows of every algorithm, tuned or not, in the fit
before the test. What is ranked and what is relevant there hangs on the training part either way, so that the
candidates of the test are the same.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, cast

from repro.errors import PluginError, StudyError, nearest
from repro.evaluation.metrics import Measure, metrics, parse_measure
from repro.plugin import Algorithm, ParameterValue, parameters_of, plugins
from repro.protocol import Protocol, toml_value
from repro.protocol.toml import Inline

if TYPE_CHECKING:
    from repro.study.entry import Entry

Refit = Literal["train", "train+validation"]

KEYS = ("metric", "trials", "seconds", "refit", "space")
RANGE_KEYS = ("low", "high", "log")
# On what all algorithms of the study, tuned or not, are fitted before they are measured on the test part.
REFIT: dict[str, str] = {
    "train": "the training part, as in every trial",
    "train+validation": "the training and the validation part together",
}
STATED = "the study states it"


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``, both included; whole ones where the parameter is a whole number."""

    low: int | float
    high: int | float
    log: bool = False

    @property
    def values(self) -> Sequence[ParameterValue] | None:
        """All of them; None where they are endless."""
        return range(self.low, self.high + 1) if isinstance(self.low, int) and isinstance(self.high, int) else None

    def plain(self) -> dict[str, ParameterValue]:
        return {"low": self.low, "high": self.high, "log": self.log}


@dataclass(frozen=True)
class Choices:
    """One of these values."""

    values: tuple[ParameterValue, ...]

    def plain(self) -> list[ParameterValue]:
        return list(self.values)


Domain = Range | Choices
Space = Mapping[str, Domain]


@dataclass(frozen=True)
class Tune:
    """The section ``[tune]``, read; ``spaces`` are as written, by the name of the algorithm."""

    measure: Measure
    trials: int
    seconds: float | None
    refit: Refit
    spaces: Mapping[str, Mapping[str, Any]]

    def describe(self) -> dict[str, Any]:
        """What tunings with the same outcome have in common; the spaces are with the algorithms."""
        return {
            "metric": self.measure.full_name,
            "trials": self.trials,
            "seconds": self.seconds,
            "refit": self.refit,
        }

    def document(self) -> dict[str, Any]:
        """The section as data for a TOML file that reads back."""
        spaces = {
            name: {key: Inline(domain) if isinstance(domain, Mapping) else domain for key, domain in space.items()}
            for name, space in self.spaces.items()
        }
        return {**self.describe(), "space": spaces}


def read_tune(given: object, protocol: Protocol, absent: Collection[str] = ()) -> Tune:
    """The section ``[tune]`` of a study under ``protocol``, checked but for what hangs on its algorithms.

    Spaces of algorithms that are ``absent``, as the study asks for them and they cannot run here, are not read.
    """
    if not isinstance(given, Mapping):
        raise StudyError(f"tune = {given!r} must be a table with metric, trials and space")
    for key in given:
        if key not in KEYS:
            raise StudyError(f"[tune]: unknown key '{key}'{nearest(str(key), KEYS)}")
    for key in ("metric", "trials", "space"):
        if key not in given:
            raise StudyError(f"[tune] has no '{key}'; tuning needs metric, trials and a space for each algorithm")
    trials, seconds, refit = given["trials"], given.get("seconds"), given.get("refit", "train")
    if type(trials) is not int or trials < 1:
        raise StudyError(f"[tune]: trials = {trials!r} must be a whole number of at least 1")
    if seconds is not None and not (_is_number(seconds) and seconds > 0):
        raise StudyError(f"[tune]: seconds = {seconds!r} must be a number above 0")
    if refit not in REFIT:
        allowed = " or ".join(f'"{choice}"' for choice in REFIT)
        raise StudyError(f"[tune]: refit = {refit!r} is not allowed; allowed: {allowed}")
    spaces = given["space"]
    if not isinstance(spaces, Mapping) or not all(isinstance(space, Mapping) and space for space in spaces.values()):
        raise StudyError('[tune]: space must hold a table for each algorithm, such as [tune.space."item-knn"]')
    limit = None if seconds is None else float(seconds)
    there = {name: space for name, space in spaces.items() if name not in absent}
    return Tune(_measure(given["metric"], protocol), trials, limit, cast(Refit, refit), there)


def with_spaces(entries: Sequence[Entry], tune: Tune) -> tuple[Entry, ...]:
    """The entries of a study, each with what is tried of it."""
    names = names_of(entries)
    for name in tune.spaces:
        if name not in names:
            raise StudyError(f"[tune.space.{toml_value(name)}]: the study has no such algorithm{nearest(name, names)}")
    ready = tuple(entry if entry.tune is False else _with_space(entry, tune) for entry in entries)
    if not any(entry.space for entry in ready) and (tune.spaces or tune.refit == "train"):
        raise StudyError(
            "[tune] leaves nothing to tune; give an algorithm a space of parameters that it does not state"
        )
    return ready


def names_of(entries: Sequence[Entry]) -> set[str]:
    """How a space may call the algorithms of a study: with the framework, or for all frameworks."""
    return {name for entry in entries for name in (entry.use, _name(entry))}


def _measure(name: object, protocol: Protocol) -> Measure:
    if not isinstance(name, str):
        raise StudyError(f"[tune]: metric = {name!r} must be one metric, such as ndcg@10")
    measure = parse_measure(name, protocol, metrics())
    if measure.metric.better == "neither":
        raise StudyError(f"[tune]: of two values of {measure.name} neither is the better one; tune by another metric")
    return measure


def _with_space(entry: Entry, tune: Tune) -> Entry:
    """``entry`` with its space; what its framework cannot express, or what it states, is left out and told."""
    _, algorithm = plugins().algorithm(entry.use)
    name = entry.use if entry.use in tune.spaces else algorithm.name
    written = tune.spaces.get(name, {})
    space: dict[str, Domain] = {}
    unmapped: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for parameter, given in written.items():
        where = f"[tune.space.{toml_value(name)}]: {parameter}"
        if parameter in algorithm.unmapped:
            unmapped[parameter] = algorithm.unmapped[parameter]
            continue
        domain = _checked(where, _written(given, where), parameter, algorithm, entry.use)
        if parameter in entry.stated:
            left_out[parameter] = STATED
        else:
            space[parameter] = domain
    return replace(entry, space=space, left_out=unmapped | left_out, unmapped={**entry.unmapped, **unmapped})


def _written(given: object, where: str = "") -> Domain:
    """A domain as it was written."""
    if isinstance(given, list | tuple):
        if not given or not all(isinstance(value, str | int | float) for value in given):
            raise StudyError(f"{where} = {given!r} must be a list of one or more values")
        return Choices(tuple(given))
    if not isinstance(given, Mapping):
        raise StudyError(f"{where} = {given!r} must be a list of values, or a range such as {{ low = 5, high = 200 }}")
    for key in given:
        if key not in RANGE_KEYS:
            raise StudyError(f"{where}: unknown key '{key}'{nearest(str(key), RANGE_KEYS)}")
    low, high, log = given.get("low"), given.get("high"), given.get("log", False)
    if not _is_number(low) or not _is_number(high) or low >= high:
        raise StudyError(f"{where}: low = {low!r} and high = {high!r} must be numbers, low the smaller one")
    if type(log) is not bool or (log and low <= 0):
        raise StudyError(f"{where}: log = {log!r} must be true or false, and true only where low is above 0")
    return Range(low, high, log)


def _checked(where: str, domain: Domain, parameter: str, algorithm: Algorithm, use: str) -> Domain:
    """The domain with values of the parameter's type, if the algorithm takes them."""
    known = {parameter_of_algorithm.name: parameter_of_algorithm for parameter_of_algorithm in algorithm.parameters}
    if parameter not in known:
        raise StudyError(
            f"{where}: {use} has no such parameter{nearest(parameter, known)} A space of one framework alone is "
            f'named with it, such as [tune.space."{use}"]'
        )
    if isinstance(domain, Range) and (known[parameter].options or type(known[parameter].default) not in (int, float)):
        raise StudyError(f"{where}: {parameter} is not a number to be had from a range; list its values")
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


def _name(entry: Entry) -> str:
    return entry.use.partition("/")[2]


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
