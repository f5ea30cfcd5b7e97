"""Run files against the split and against printed numbers: which protocols give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from repro.data.io.recommendations import read_recommendations
from repro.errors import ReproError
from repro.evaluation.metrics import metrics, parse_measure
from repro.explanations.design import Design, read_axes
from repro.explanations.interpolate import changes
from repro.explanations.search import bearing_on
from repro.lists import default_protocol, measure_frames
from repro.lists.frames import Frames, read_frames
from repro.protocol import Protocol, registry
from repro.replications.claims.printed import Rounding
from repro.replications.errata.contradictions import certain_conflicts, certain_range
from repro.reviews.artefact.data_sets import DataSet, Part
from repro.reviews.artefact.names import TEST, TRAIN
from repro.reviews.findings import EXAMPLES, Example, Finding
from repro.reviews.numbers.printed_numbers import PrintedNumber
from repro.text import plural
from repro.types import Progress

BUDGET = 300  # protocols that are tried
_SHOWN = 3
# The value of each number, by the place of the way of measuring.
_Values = Mapping[int, Mapping[PrintedNumber, float]]
_LEFT_OUT = "training items left out of the lists"


@dataclass(frozen=True)
class NumberResult:
    """A printed number and the protocols that give it.

    nearest  the number of the protocol that comes nearest; None if none gives one
    fitting  how many of the ``tried`` protocols give the printed digits
    which    those with the fewest changes from the default, in words
    """

    system: str
    metric: str
    printed: str
    nearest: float | None
    fitting: int
    tried: int
    which: str

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON-compatible data."""
        return vars(self).copy()


@dataclass(frozen=True, eq=False)
class _Way:
    """A way to measure lists: a protocol, and whether training items are left out of the lists before."""

    protocol: Protocol
    without_train: bool
    changed: tuple[str, ...]

    @property
    def sentence(self) -> str:
        return ", ".join(self.changed) or "the default protocol of repro.evaluate"


def read_runs(data_set: DataSet) -> tuple[dict[str, pd.DataFrame], list[Finding]]:
    """The run files of a data set by name, and findings about those that cannot be read."""
    runs: dict[str, pd.DataFrame] = {}
    findings = []
    for name, path in data_set.runs:
        try:
            runs[name] = read_recommendations(path)
        except ReproError as error:
            findings.append(Finding("unread-run", "undetermined", f"{name} cannot be read as a run: {error}", ""))
    return runs, findings


def run_findings(data_set: DataSet, runs: Mapping[str, pd.DataFrame]) -> Iterator[Finding]:
    """Findings about the items that runs list: training items, repeated items, and users without a list."""
    test, train = data_set.part(TEST), data_set.part(TRAIN)
    for name, run in runs.items():
        pairs = run["user"].astype(str) + "\x1f" + run["item"].astype(str)
        if (repeated := pairs.duplicated()).any():
            yield _of_rows(
                name, run, repeated.to_numpy(), "repeated-recommendations", "error", "repeat an item of the user"
            )
        if train is not None and (listed := pairs.isin(_texts(data_set, train))).any():
            yield _of_rows(
                name, run, listed.to_numpy(), "recommended-training-items", "warning", "are training rows of the user"
            )
        if test is not None:
            tested = np.unique(data_set.user_ids[test.users].astype(str))
            missing = np.setdiff1d(tested, np.unique(run["user"].to_numpy().astype(str)))
            if len(missing):
                yield Finding(
                    "users-without-list",
                    "warning",
                    f"{name} has no list for {len(missing):,} of {plural(len(tested), 'test user')}",
                    f"users of {test.file} that {name} does not have",
                    len(missing),
                    len(tested),
                    tuple(Example(f"user {user}") for user in missing[:EXAMPLES].tolist()),
                )


def _texts(data_set: DataSet, part: Part) -> pd.Series:
    users = pd.Series(data_set.user_ids[part.users]).astype(str)
    return users + "\x1f" + pd.Series(data_set.item_ids[part.items]).astype(str)


def _of_rows(name: str, run: pd.DataFrame, rows: Any, check: str, severity: str, are: str) -> Finding:
    first = np.flatnonzero(rows)[:EXAMPLES].tolist()
    return Finding(
        check,
        severity,
        f"{int(rows.sum()):,} of {plural(len(run), 'row')} of {name} {are}",
        f"pairs of a user and an item of {name}",
        int(rows.sum()),
        len(run),
        tuple(
            Example(f"user {run['user'].iloc[row]}, item {run['item'].iloc[row]}", (f"{name} row {row + 1:,}",))
            for row in first
        ),
    )


def search_numbers(
    data_set: DataSet, runs: Mapping[str, pd.DataFrame], numbers: Sequence[PrintedNumber], progress: Progress
) -> tuple[list[NumberResult], list[Finding]]:
    """The protocols that give the printed numbers, each for itself and all of them together."""
    test, train = data_set.part(TEST), data_set.part(TRAIN)
    matched = match_systems(list(dict.fromkeys(number.system for number in numbers)), list(runs))
    searched = [number for number in numbers if number.system in matched]
    if test is None or not searched:
        return [], []
    truth, fitted = _frame(data_set, test), None if train is None else _frame(data_set, train)
    ways = _ways(searched, test.ratings is not None, fitted is not None)
    frames = {system: _frames_of(runs[name], truth, fitted) for system, name in matched.items()}
    table: dict[int, dict[PrintedNumber, float]] = {}
    for done, (index, way) in enumerate(enumerate(ways)):
        table[index] = dict(_measured(way, frames, searched))
        progress("searching protocols", done + 1, len(ways))
    results = [_result(number, ways, table) for number in searched]
    return results, list(_together(searched, ways, table))


def match_systems(systems: Sequence[str], files: Sequence[str]) -> dict[str, str]:
    """The run file of each system: the only one whose name contains the system's, or the only one at all."""

    def plain(name: str) -> str:
        return "".join(character for character in name.lower() if character.isalnum())

    matched = {}
    for system in systems:
        fitting = [file for file in files if plain(system) and plain(system) in plain(file)]
        longer = [other for other in systems if plain(system) in plain(other) and other != system]
        fitting = [file for file in fitting if not any(plain(other) in plain(file) for other in longer)] or fitting
        if len(fitting) == 1:
            matched[system] = fitting[0]
    if not matched and len(systems) == len(files) == 1:
        matched[systems[0]] = files[0]
    return matched


def _frame(data_set: DataSet, part: Part) -> pd.DataFrame:
    columns: dict[str, Any] = {"user": data_set.user_ids[part.users], "item": data_set.item_ids[part.items]}
    if part.ratings is not None:
        columns["rating"] = part.ratings
    return pd.DataFrame(columns).drop_duplicates(["user", "item"])


def _frames_of(run: pd.DataFrame, truth: pd.DataFrame, train: pd.DataFrame | None) -> dict[bool, Frames]:
    """The lists as they are, and without training items, by whether these are left out."""
    run = run.drop_duplicates(["user", "item"])
    kinds = {False: read_frames(run, truth, train)}
    if train is not None:
        known = pd.MultiIndex.from_frame(train[["user", "item"]].astype(str))
        listed = pd.MultiIndex.from_frame(run[["user", "item"]].astype(str)).isin(known)
        if listed.any() and not listed.all():
            kinds[True] = read_frames(run[~listed], truth, train)
    return kinds


def _ways(numbers: Sequence[PrintedNumber], rated: bool, trained: bool) -> list[_Way]:
    """The protocols to try, those with the fewest changes first; each also for lists without training items."""
    base = default_protocol(rated)
    measures = [parse_measure(name, base, metrics()) for name in dict.fromkeys(number.metric for number in numbers)]
    decisions = registry()
    families = [name for name in bearing_on(measures) if decisions.family(name)]
    axes = [axis for axis in read_axes(families, base) if decisions[axis.decision].family != "candidates"]
    variants = Design(base, axes, BUDGET).variants()
    ways = []
    for variant, without in product(variants, (False, True) if trained else (False,)):
        changed = [f"{change.decision} = {change.after}" for change in changes(base, variant.protocol)]
        ways.append(_Way(variant.protocol, without, (*changed, *([_LEFT_OUT] if without else []))))
    return sorted(ways, key=lambda way: len(way.changed))


def _measured(
    way: _Way, frames: Mapping[str, Mapping[bool, Frames]], numbers: Sequence[PrintedNumber]
) -> Iterator[tuple[PrintedNumber, float]]:
    for system, kinds in frames.items():
        wanted = [number for number in numbers if number.system == system]
        if not wanted or way.without_train not in kinds:
            continue
        try:
            names = list(dict.fromkeys(number.metric for number in wanted))
            evaluation = measure_frames(kinds[way.without_train], way.protocol, names)
        except ReproError:  # the lists have not what this protocol needs
            continue
        for number in wanted:
            if np.isfinite(value := evaluation.numbers[number.metric].value):
                yield number, float(value)


def _result(number: PrintedNumber, ways: Sequence[_Way], table: _Values) -> NumberResult:
    values = {index: of[number] for index, of in table.items() if number in of}
    fitting = [index for index, value in values.items() if number.printed.matches_rounded(value)]
    nearest = min(values.values(), key=lambda value: abs(value - number.printed.value), default=None)
    return NumberResult(
        number.system,
        number.metric,
        number.printed.text,
        nearest,
        len(fitting),
        len(values),
        _words([ways[index] for index in fitting]),
    )


def _words(fitting: Sequence[_Way]) -> str:
    """The fitting ways with the fewest changes."""
    fewest = [way for way in fitting if len(way.changed) == len(fitting[0].changed)]
    shown = "; or ".join(way.sentence for way in fewest[:_SHOWN])
    return f"{shown}; or {len(fewest) - _SHOWN} others" if len(fewest) > _SHOWN else shown


def _together(numbers: Sequence[PrintedNumber], ways: Sequence[_Way], table: _Values) -> Iterator[Finding]:
    """The protocols that give most of the numbers at once."""
    met = {
        index: sum(number.printed.matches_rounded(of[number]) for number in numbers if number in of)
        for index, of in table.items()
    }
    most = max(met.values(), default=0)
    best = [ways[index] for index, count in met.items() if count == most]
    how = f"{len(table):,} ways of measuring the run files: decisions of metrics, ties, missing scores and averages"
    none = [
        number
        for number in numbers
        if not any(number in of and number.printed.matches_rounded(of[number]) for of in table.values())
    ]
    if most == len(numbers):
        text = f"all {most:,} printed numbers come from the run files by: {_words(best)}"
        yield Finding("printed-numbers", "note", text, how, most, len(numbers))
    elif most:
        text = f"{most:,} of {len(numbers):,} printed numbers come from the run files by: {_words(best)}"
        yield Finding("printed-numbers", "warning", text, how, most, len(numbers))
    if none:
        yield Finding(
            "unexplained-numbers",
            "warning",
            f"{len(none):,} of {len(numbers):,} printed numbers come from the run files by none of {len(table):,} ways "
            "of measuring them",
            how,
            len(none),
            len(numbers),
            tuple(
                Example(f"{number.system}, {number.metric}: {number.printed.text} is printed")
                for number in none[:EXAMPLES]
            ),
        )


def errata(numbers: Sequence[PrintedNumber]) -> Iterator[Finding]:
    """Printed numbers that are impossible by themselves, or contradict each other, under every protocol.

    Tied items that share a rank are left aside: with them, more than k items are among the first k.
    """
    if not numbers:
        return
    base = default_protocol(False)
    measures = [parse_measure(name, base, metrics()) for name in dict.fromkeys(number.metric for number in numbers)]
    axes = read_axes([name for name in bearing_on(measures) if registry().family(name)], base)
    variants = [variant.protocol for variant in Design(base, axes, BUDGET).variants()]
    protocols = [protocol for protocol in variants if not str(protocol.get("ties.break")).startswith("shared")]
    how = f"{len(protocols):,} definitions of the metrics, in none of which tied items share a rank"
    cells, rounding = [number.cell for number in numbers], Rounding()
    for number, cell in zip(numbers, cells, strict=True):
        if why := certain_range(cell, protocols, rounding):
            yield Finding(
                "erratum",
                "error",
                f"{number.metric} of {number.system} is printed as {number.printed.text}: {why}",
                f"the range of the metric under {how}",
            )
    certain = {conflict.cells for conflict in certain_conflicts(cells, protocols, rounding, None)}
    for conflict in certain_conflicts(cells, [base], rounding, None):
        text = f"{conflict.cells[0].key.algorithm}: {conflict.why}"
        if conflict.cells in certain:
            yield Finding("erratum", "error", text, f"relations that hold for any lists under {how}")
        else:
            under = "relations that hold for any lists under the default definitions; others may allow these numbers"
            yield Finding("contradiction", "warning", text, under)
