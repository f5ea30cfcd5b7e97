"""Agreement of frameworks on the algorithms that several of them have, and the known reasons of differences.

A reason is a fact of the journal that is not the same for all frameworks: a parameter, a note of a plug-in, the share
of missing and of fallback scores, the reach of ties. It may explain a difference; nothing here proves that it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

from repro.plugin.api.canonical import CANONICAL
from repro.runs.journal.events import CellFinished, CellStarted, FactsEntry
from repro.runs.results_table import ALL_FOLDS
from repro.runs.run import Run
from repro.stats.equality import agreeing, common_decimals

# Values that agree to this number of decimals are the same number in tables.
PRINTED = 4
ABSENT = "not a parameter"
_NONE = "none"
# Algorithms whose definition draws random numbers: scores, and pairs of items to learn from.
_RANDOM = ("random", "bpr")


@dataclass(frozen=True, eq=False)
class Recurring:
    """An algorithm of the study in several frameworks.

    name        what the labels have in common, or the name of the algorithm
    algorithm   the name that all frameworks give it
    frameworks  the framework of each label
    """

    name: str
    algorithm: str
    frameworks: Mapping[str, str]


@dataclass(frozen=True)
class Agreement:
    """The agreement of the values of one metric for a recurring algorithm.

    values  of each label that has one
    sets    the labels whose values agree to :data:`PRINTED` decimals, the largest set first
    """

    recurring: Recurring
    metric: str
    values: Mapping[str, float]
    sets: tuple[tuple[str, ...], ...]

    @cached_property
    def decimals(self) -> int | None:
        """To how many decimals all values agree; None if they do not differ."""
        return common_decimals(list(self.values.values()))

    @property
    def complete(self) -> bool:
        """Whether all frameworks agree."""
        return len(self.sets) == 1

    @property
    def partial(self) -> bool:
        """Whether some frameworks agree, and others do not."""
        return len(self.sets) > 1 and len(self.sets[0]) > 1

    @property
    def gap(self) -> float:
        """The highest value minus the lowest."""
        return max(self.values.values()) - min(self.values.values())

    @property
    def ends(self) -> tuple[str, str]:
        """The labels of the lowest and of the highest value."""
        return min(self.values, key=self.values.__getitem__), max(self.values, key=self.values.__getitem__)

    @property
    def deviations(self) -> dict[str, float]:
        """Each value minus the median of all."""
        middle = median(self.values.values())
        return {label: value - middle for label, value in self.values.items()}

    def decimals_of(self, labels: Iterable[str]) -> int | None:
        """To how many decimals the values of some labels agree."""
        return common_decimals([self.values[label] for label in labels])


@dataclass(frozen=True)
class Reason:
    """A fact of the journal that differs between frameworks: its name, and its text for each label."""

    name: str
    texts: Mapping[str, str]


def recurring_algorithms(run: Run) -> list[Recurring]:
    """The algorithms that two or more frameworks have, in the order of the study.

    Where a framework has several settings of an algorithm, those of other frameworks belong to the one with the same
    values of the parameters in which these settings differ.
    """
    frameworks = run.frameworks()
    stated = {entry.get("label"): entry.get("parameters", {}) for entry in run.study.get("algorithms", ())}
    groups: dict[str, list[str]] = {}
    for label, use in run.algorithms.items():
        if label in frameworks and use.partition("/")[2] in CANONICAL:
            groups.setdefault(use.partition("/")[2], []).append(label)
    recurring = []
    for algorithm, labels in groups.items():
        parameters = {label: stated.get(label, {}) for label in labels}
        for settings in _same_settings(parameters, frameworks):
            if len({frameworks[label] for label in settings}) > 1:
                members = {label: frameworks[label] for label in settings}
                recurring.append(Recurring(_common_name(members, algorithm), algorithm, members))
    return recurring


def _same_settings(parameters: Mapping[str, Mapping[str, Any]], frameworks: Mapping[str, str]) -> list[list[str]]:
    """The labels with the same values of those parameters that settings of one framework differ in."""
    differing = []
    for name in dict.fromkeys(name for of_label in parameters.values() for name in of_label):
        owners = {frameworks[label] for label, of_label in parameters.items() if name in of_label}
        values: dict[str, set[str]] = {}
        for label, of_label in parameters.items():
            values.setdefault(frameworks[label], set()).add(repr(_plain(of_label.get(name, ABSENT))))
        if len(owners) > 1 and any(len(of_framework) > 1 for of_framework in values.values()):
            differing.append(name)
    groups: dict[tuple[str, ...], list[str]] = {}
    for label, of_label in parameters.items():
        key = tuple(repr(_plain(of_label.get(name, ABSENT))) for name in differing)
        groups.setdefault(key, []).append(label)
    return list(groups.values())


def _plain(value: Any) -> Any:
    """A number as a float, so that 50 and 50.0 are the same."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _common_name(frameworks: Mapping[str, str], algorithm: str) -> str:
    names = {label.removeprefix(f"{framework} ") for label, framework in frameworks.items()}
    return names.pop() if len(names) == 1 else algorithm


def agreements(run: Run, metric: str, recurring: Sequence[Recurring]) -> list[Agreement]:
    """The agreement by one metric of each algorithm that has values of two or more frameworks."""
    column = run.table()[metric].dropna()
    results = []
    for algorithm in recurring:
        values = {label: float(column[label]) for label in algorithm.frameworks if label in column.index}
        if len({algorithm.frameworks[label] for label in values}) > 1:
            results.append(Agreement(algorithm, metric, values, tuple(agreeing(values, PRINTED))))
    return results


def known_reasons(run: Run, agreement: Agreement) -> list[Reason]:
    """The facts of the journal that are not the same for all frameworks whose values differ.

    A fact is a reason only if it tells two sets of agreeing frameworks apart.
    """
    labels = list(agreement.values)
    cells = {label: run.finished_cells(label) for label in labels}
    starts = {label: [cell.start for cell in cells[label]] for label in labels}
    finishes = {label: [cell.finish for cell in cells[label] if cell.finish is not None] for label in labels}
    kind = next(m.metric.kind for m in run.measures if run.metric_names[m.full_name] == agreement.metric)
    reasons = [
        *_parameters(starts, agreement.recurring),
        *_notes(finishes),
        *_shares(finishes, kind == "prediction"),
        *([] if kind == "prediction" else _ties(run, agreement)),
        *_seeds(starts, agreement.recurring),
        Reason("same seed, same scores", {label: _repeats(starts[label]) for label in labels}),
    ]
    return [reason for reason in reasons if _separates(reason, agreement.sets)]


def _separates(reason: Reason, sets: Sequence[Sequence[str]]) -> bool:
    texts = [{reason.texts[label] for label in labels} for labels in sets]
    return any(other != texts[0] for other in texts[1:])


def _parameters(starts: Mapping[str, Sequence[CellStarted]], recurring: Recurring) -> Iterable[Reason]:
    """Parameters that several frameworks share by name, then the options that only one of them has."""
    values = {label: _values(of_label) for label, of_label in starts.items()}
    shared = set(CANONICAL[recurring.algorithm].parameters)
    names = dict.fromkeys(name for of_label in values.values() for name in of_label)
    owners = {
        name: {recurring.frameworks[label] for label, of_label in values.items() if name in of_label} for name in names
    }
    common = [name for name in names if name in shared or len(owners[name]) > 1]
    for name in common:
        yield Reason(name, {label: of_label.get(name, ABSENT) for label, of_label in values.items()})
    own = {
        label: ", ".join(f"{name} = {value}" for name, value in of_label.items() if name not in common)
        for label, of_label in values.items()
    }
    yield Reason("options of one framework", {label: text or _NONE for label, text in own.items()})


def _written(value: Any) -> str:
    plain = _plain(value)
    return f"{plain:g}" if isinstance(plain, float) else str(plain)


def _values(starts: Sequence[CellStarted]) -> dict[str, str]:
    """The values of all parameters on all folds, and why some are not expressed."""
    values: dict[str, list[str]] = {}
    for start in starts:
        for name, value in start.parameters.items():
            values.setdefault(name, []).append(_written(value))
        for name, why in start.unmapped.items():
            values.setdefault(name, []).append(f"cannot be set ({why})")
    return {name: " or ".join(dict.fromkeys(of_folds)) for name, of_folds in values.items()}


def _notes(finishes: Mapping[str, Sequence[CellFinished]]) -> Iterable[Reason]:
    notes = {label: _notes_of(of_label) for label, of_label in finishes.items()}
    for name in dict.fromkeys(name for of_label in notes.values() for name in of_label):
        yield Reason(f"note on {name}", {label: of_label.get(name, _NONE) for label, of_label in notes.items()})


def _notes_of(finishes: Sequence[CellFinished]) -> dict[str, str]:
    notes: dict[str, list[str]] = {}
    for finish in finishes:
        for name, text in finish.notes.items():
            notes.setdefault(name, []).append(text)
    return {name: " / ".join(dict.fromkeys(texts)) for name, texts in notes.items()}


_CANDIDATES = (("candidates without a score", "unscored"), ("fallback scores of the framework", "fallback"))
_PREDICTIONS = (
    ("test ratings without a prediction", "predictions_missing"),
    ("fallback predictions of the framework", "predictions_fallback"),
)


def _shares(finishes: Mapping[str, Sequence[CellFinished]], of_predictions: bool) -> Iterable[Reason]:
    """The shares of what an algorithm had to score that it did not score, or only with a fallback."""
    total = "predictions" if of_predictions else "candidates"
    for name, field in _PREDICTIONS if of_predictions else _CANDIDATES:
        texts = {}
        for label, of_label in finishes.items():
            facts = [finish.facts for finish in of_label if finish.facts is not None]
            texts[label] = _share(facts, field, total)
        yield Reason(name, texts)


def _share(facts: Sequence[FactsEntry], field: str, total: str) -> str:
    count, of = (sum(getattr(entry, name) for entry in facts) for name in (field, total))
    return f"{count:,} of {of:,}" if count else _NONE


def _ties(run: Run, agreement: Agreement) -> Iterable[Reason]:
    """The values that orders of tied items can give, if these orders alone could make frameworks agree."""
    frame = run.results
    rows = frame[(frame["fold"] == ALL_FOLDS) & (frame["metric"] == agreement.metric)]
    ends = zip(rows["lowest"].astype(float), rows["highest"].astype(float), strict=True)
    spans = {label: span for label, span in zip(rows["algorithm"], ends, strict=True) if label in agreement.values}
    first, *others = ([spans[label] for label in labels] for labels in agreement.sets)
    if any(_overlap(span, other) for span in first for of_set in others for other in of_set):
        texts = {label: _span(*span) for label, span in spans.items()}
        yield Reason("range over orders of tied items", texts)


def _overlap(a: tuple[float, float], b: tuple[float, float]) -> bool:
    """Whether two ranges have a value in common; False if one of them is not known."""
    return max(a[0], b[0]) <= min(a[1], b[1])


def _span(low: float, high: float) -> str:
    return f"{low:.{PRINTED}f} to {high:.{PRINTED}f}" if high > low else _NONE


def _seeds(starts: Mapping[str, Sequence[CellStarted]], recurring: Recurring) -> Iterable[Reason]:
    """The seeds of algorithms that are random by their definition."""
    if recurring.algorithm in _RANDOM:
        texts = {label: ", ".join(str(start.seed) for start in of_label) for label, of_label in starts.items()}
        yield Reason("seeds of random numbers", texts)


def _repeats(starts: Sequence[CellStarted]) -> str:
    return "yes" if all(start.deterministic for start in starts) else "no"
