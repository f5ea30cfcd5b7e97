"""Hypotheses about the objective of a factor model, as settings of the algorithms of the reference plug-in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from repro.data.interactions import FloatArray
from repro.definitions.optimality.terms import Divergence, Rows, SideName, Squares, Term
from repro.plugin import ParameterValue

SIDES: tuple[SideName, SideName] = ("users", "items")
# The weight of the penalty of each side; an implementation may have two of them.
REGULARISATION: Mapping[SideName, str] = {"users": "user_regularisation", "items": "item_regularisation"}
ABSOLUTE: Mapping[SideName, str] = {"users": "user_absolute", "items": "item_absolute"}


@dataclass(frozen=True, eq=False)
class Data:
    """The origin of the parts of an objective: training rows, and what is added to the product in each of them."""

    rows: Rows
    offsets: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """An objective up to some numbers.

    algorithm  the algorithm whose decisions ``setting`` states
    terms      the parts for some data: the one called "" as it is, the others times the number of that name, or the
               product of numbers, as in ``alpha*regularisation``
    negative   whether factors may be negative
    """

    algorithm: str
    setting: Mapping[str, ParameterValue]
    terms: Callable[[Data], Mapping[str, Term]]
    negative: bool = True

    def has(self, decision: str) -> bool:
        """Whether a number plays a part: the weight of values does if rows have other weights than 1."""
        return decision != "alpha" or self.setting.get("confidence", "one") != "one"

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.setting.items())


def factor(name: str, numbers: Mapping[str, float]) -> float:
    """The number that a part called ``name`` is multiplied by."""
    result = 1.0
    for part in filter(None, name.split("*")):
        result *= numbers[part]
    return result


def is_known(name: str, numbers: Mapping[str, float]) -> bool:
    """Whether all numbers of a part are known; the penalty of a side whose equations are not used is not."""
    return all(part in numbers for part in filter(None, name.split("*")))


# --- implicit feedback -------------------------------------------------------------------------------------------


CONFIDENCES = ("plus-one", "linear", "logarithmic", "one")
PENALTIES = ("constant", "count", "others", "count-and-zeros", "weights")


def implicit(epsilons: Sequence[float], powers: Sequence[float]) -> Iterator[Hypothesis]:
    """The hypotheses of the algorithm implicit-als; ``epsilons`` and ``powers`` are the values to try."""
    confidences: list[dict[str, ParameterValue]] = []
    for confidence in CONFIDENCES:
        for values in ("binary",) if confidence == "one" else ("ratings", "binary"):
            stated = {"epsilon": epsilons} if confidence == "logarithmic" else {}
            confidences += _with({"values": values, "confidence": confidence}, stated)
    penalties: list[dict[str, ParameterValue]] = []
    for penalty in PENALTIES:
        penalties += _with({"penalty": penalty}, {"power": powers} if penalty in ("count", "count-and-zeros") else {})
    for parts in product(confidences, ("unobserved", "all"), ("one", "value"), penalties):
        setting: dict[str, ParameterValue] = {**parts[0], "zeros": parts[1], "target": parts[2], **parts[3]}
        yield Hypothesis("implicit-als", setting, _implicit_terms(setting))


def _with(
    setting: dict[str, ParameterValue], numbers: Mapping[str, Sequence[float]]
) -> list[dict[str, ParameterValue]]:
    """The setting with each value of a number."""
    return [{**setting, **dict(zip(numbers, values, strict=True))} for values in product(*numbers.values())]


def _implicit_terms(setting: Mapping[str, ParameterValue]) -> Callable[[Data], Mapping[str, Term]]:
    confidence, zeros, target = setting["confidence"], setting["zeros"], setting["target"]
    weighted = f"{confidence}/{setting['values']}/{setting.get('epsilon')}/{target}"

    def terms(data: Data) -> Mapping[str, Term]:
        rows = data.rows
        ones = np.ones(len(rows.values))
        values = rows.values if setting["values"] == "ratings" else ones
        if confidence == "logarithmic":
            values = np.log1p(np.maximum(values, 0.0) / float(setting["epsilon"]))
        targets = rows.values if target == "value" else ones
        base = np.zeros_like(ones) if confidence == "linear" else ones
        subtracted = ones if zeros == "unobserved" else np.zeros_like(ones)
        parts: dict[str, Term] = {}
        if confidence == "one":
            parts[""] = Squares(f"one/{target}", base, base * targets)
            parts["unobserved"] = Squares(f"w0/{zeros}", -subtracted, None, 1.0)
        else:
            parts[""] = Squares(f"{confidence == 'linear'}/{target}/{zeros}", base - subtracted, base * targets, 1.0)
            parts["alpha"] = Squares(weighted, values, values * targets)
        for side in SIDES:
            parts |= _penalties(setting, rows, side, values, base)
        return parts

    return terms


def _penalties(
    setting: Mapping[str, ParameterValue], rows: Rows, side: SideName, values: FloatArray, base: FloatArray
) -> dict[str, Term]:
    """The penalty of a side, times its weight."""
    penalty, power, name = setting["penalty"], float(setting.get("power", 1.0)), REGULARISATION[side]
    counts, others = rows.counts(side), float(rows.side(side).others)
    key = f"{side}/{penalty}/{power}"

    def part(scales: FloatArray, suffix: str = "") -> Term:
        return Squares(f"{key}{suffix}", penalties={side: scales})

    if penalty == "constant":
        return {name: part(np.ones(len(counts)))}
    if penalty == "count":
        return {name: part(counts**power)}
    if penalty == "others":
        return {name: part(np.full(len(counts), others))}
    if penalty == "count-and-zeros":
        if setting.get("confidence") == "one" and power == 1.0:
            return {name: part(counts, "/rows"), f"{name}*unobserved": part(np.full(len(counts), others), "/zeros")}
        return {name: part((counts + others) ** power)}
    of_values, of_base = rows.totals(side, values), rows.totals(side, base)
    if setting["confidence"] == "one":
        return {name: part(of_base)}
    suffix = f"/{setting['confidence']}/{setting['values']}/{setting.get('epsilon')}"
    parts = {f"{name}*alpha": part(of_values, suffix)}
    return parts if setting["confidence"] == "linear" else {name: part(of_base), **parts}


# --- ratings -----------------------------------------------------------------------------------------------------


def ratings(algorithm: str, offsets: Sequence[str]) -> Iterator[Hypothesis]:
    """The hypotheses of explicit-als and biased-mf: squared errors of the rows, less what is added to the product."""
    for values, offset, penalty in product(("ratings", "binary"), offsets, ("count", "constant", "others")):
        setting = {"values": values, "offset": offset, "penalty": penalty}
        yield Hypothesis(algorithm, setting, _rating_terms(setting))


def _rating_terms(setting: Mapping[str, ParameterValue]) -> Callable[[Data], Mapping[str, Term]]:
    def terms(data: Data) -> Mapping[str, Term]:
        rows = data.rows
        ones = np.ones(len(rows.values))
        values = rows.values if setting["values"] == "ratings" else ones
        targets = values - offset_of(str(setting["offset"]), data, values)
        parts: dict[str, Term] = {"": Squares(f"{setting['values']}/{setting['offset']}", ones, targets)}
        for side in SIDES:
            parts |= _penalties(setting, rows, side, ones, ones)
        return parts

    return terms


def offset_of(offset: str, data: Data, values: FloatArray) -> FloatArray:
    """The number that is subtracted from the value of each row."""
    rows = data.rows
    if offset == "none":
        return np.zeros_like(values)
    if offset == "biases" and data.offsets is not None:
        return data.offsets
    means = {"mean": np.full(len(values), values.mean())}
    for side, codes in (("users", rows.users), ("items", rows.items)):
        own = np.bincount(codes, weights=values) / np.bincount(codes)
        means[f"{side[:-1]}-mean"] = own[codes]
    return means[offset]


# --- factors that are not negative -------------------------------------------------------------------------------


def nonnegative() -> Iterator[Hypothesis]:
    """The hypotheses of the algorithm nmf."""
    choices = product(
        ("ratings", "binary"),
        ("frobenius", "kullback-leibler"),
        ("zero", "left-out"),
        ("constant", "count", "others"),
        ("squares", "absolute", "both"),
    )
    for values, loss, missing, penalty, norm in choices:
        setting = {"values": values, "loss": loss, "missing": missing, "penalty": penalty, "norm": norm}
        yield Hypothesis("nmf", setting, _nonnegative_terms(setting), negative=False)


def _nonnegative_terms(setting: Mapping[str, ParameterValue]) -> Callable[[Data], Mapping[str, Term]]:
    def terms(data: Data) -> Mapping[str, Term]:
        rows = data.rows
        ones = np.ones(len(rows.values))
        values = rows.values if setting["values"] == "ratings" else ones
        everywhere = setting["missing"] == "zero"
        key = f"{setting['loss']}/{setting['values']}/{setting['missing']}"
        parts: dict[str, Term] = {}
        if setting["loss"] == "frobenius":
            parts[""] = Squares(key, None if everywhere else ones, values, float(everywhere))
        else:
            parts[""] = Divergence(key, values, everywhere)
        for side in SIDES:
            scales = {
                "constant": np.ones(rows.side(side).size),
                "count": rows.counts(side),
                "others": np.full(rows.side(side).size, float(rows.side(side).others)),
            }[str(setting["penalty"])]
            penalty = f"{side}/{setting['penalty']}"
            if setting["norm"] != "absolute":
                parts[REGULARISATION[side]] = Squares(f"{penalty}/squares", penalties={side: scales})
            if setting["norm"] != "squares":
                parts[ABSOLUTE[side]] = Squares(f"{penalty}/absolute", absolute={side: scales})
        return parts

    return terms
