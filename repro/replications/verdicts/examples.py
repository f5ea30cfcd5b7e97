"""Verdicts on worked examples: lists and predictions that the source prints in full.

All inputs are known. A printed number that the claim's own setting does not give is therefore tried under all settings
of the decisions that bear on it and that the claim does not state. A number that none of them gives is an erratum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from repro.errors import ReproError, StudyError
from repro.evaluation.metrics import Measure, RankingMetric, metrics, parse_measure
from repro.explanations.design import Design, Variant, read_axes
from repro.explanations.interpolate import changes
from repro.explanations.search import bearing_on
from repro.grouping import grouped
from repro.lists import Frames, measure_frames, read_frames
from repro.lists.measuring import predictions_of, rank_frames
from repro.protocol import Protocol
from repro.replications.causes.cause import LEAST, Cause, PrintedNumbers
from repro.replications.causes.errors import other_metric_named, other_metrics
from repro.replications.causes.search import CellTable
from repro.replications.claims.claim import Cell, CellKey, Claim, Setting
from repro.replications.claims.printed import Rounding, infer_rounding
from repro.replications.errata.contradictions import certain_conflicts, certain_range
from repro.replications.errata.granularity import FoldLists, steps_of
from repro.replications.settings.chance import SettingsTable
from repro.replications.settings.open_decisions import differences
from repro.replications.settings.tie_orders import BREAK, TieInterval, tie_interval
from repro.replications.verdicts.explained import give_cause, printed_numbers
from repro.replications.verdicts.judgement import FoundCause, Judgement, judge_cell

SETTINGS = 1000
_SHOWN = 12  # the largest number of errors or users for which the arithmetic is written out


class WorkedExamples:
    """The systems of a claim's worked examples; files are read at first use."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self._frames: dict[str, Frames] = {}
        self._values: dict[tuple[CellKey, str], float] = {}
        self.causes: list[FoundCause] = []

    def frames(self, label: str) -> Frames:
        """The output of a system with the truth."""
        examples = self.claim.examples
        assert examples is not None
        if label not in self._frames:
            file = next(system.file for system in examples.systems if system.label == label)
            train = self.claim.folder / examples.train if examples.train else None
            self._frames[label] = read_frames(self.claim.folder / file, self.claim.folder / examples.truth, train)
        return self._frames[label]

    def value(self, key: CellKey, protocol: Protocol) -> float:
        """The metric of a system, averaged over users or of a single user."""
        frames = self.frames(key.algorithm)
        measured = measure_frames(frames, protocol, [key.metric], self.claim.seeds[0])
        averaged = measured.numbers[key.metric]
        if not key.user:
            return float(averaged.value)
        users = frames.truth.user_ids[averaged.users].astype(str).tolist()
        if key.user not in users:
            raise StudyError(f"{self.claim.path}: user {key.user} has no {key.metric} in {key.algorithm}")
        return float(averaged.values[users.index(key.user)])

    def judge(self) -> list[Judgement]:
        """The verdicts on all printed numbers of the systems."""
        cells = [cell for cell in self.claim.cells if cell.key.algorithm in self.claim.systems]
        values = {cell: self.value(cell.key, self._setting(cell).protocol) for cell in cells}
        rounding = infer_rounding([(cell.printed, value) for cell, value in values.items()])
        judgements = {cell: judge_cell(cell, (value,), rounding) for cell, value in values.items()}
        for group in grouped(cells, lambda cell: (cell.key.under, cell.key.changes)).values():
            off = [cell for cell in group if judgements[cell].verdict == "differs"]
            if off:
                held = [cell for cell in group if judgements[cell].verdict in ("exact", "within")]
                judgements |= self._explained(judgements, off, held, rounding)
        self._find_causes(judgements, rounding)
        return [judgements[cell] for cell in cells]

    def _find_causes(self, judgements: dict[Cell, Judgement], rounding: Rounding) -> None:
        """Find swapped and copied rows and columns, and other metrics under a name."""
        cells = list(judgements)
        values = np.array([judgements[cell].value for cell in cells])
        by_digits = {cell: judge_cell(cell, judgements[cell].values, rounding) for cell in cells}
        held = np.array([by_digits[cell].verdict != "differs" for cell in cells], dtype=np.bool_)
        settled = np.array([judgements[cell].verdict == "underspecified" for cell in cells], dtype=np.bool_)
        table = printed_numbers(list(by_digits.values()), rounding, values, held, ~held & ~settled)
        if table.off.sum() >= LEAST:
            in_table = CellTable(cells)
            for explanation in in_table.explanations(list(self._other_metrics(in_table, table)), table):
                self.causes.append(give_cause(explanation, cells, by_digits, judgements))

    def _other_metrics(self, in_table: CellTable, table: PrintedNumbers) -> Iterator[Cause]:
        """Another metric in one column."""
        for column, places in grouped(range(len(in_table.cells)), in_table.columns.__getitem__).items():
            scope, cells = np.array(places, dtype=np.intp), [in_table.cells[place] for place in places]
            if len(places) < LEAST or not table.off[scope].any():
                continue
            protocol = self._setting(cells[0]).protocol
            for other in other_metrics(cells[0].key.metric, protocol):
                keys = [replace(cell.key, metric=other.name) for cell in cells]
                values = np.array([self._key_or_nan(key, protocol) for key in keys])
                yield Cause(other_metric_named(column, other), "mistake", scope, values, breadth=1)

    def _setting(self, cell: Cell) -> Setting:
        return self.claim.setting(cell.key.under, cell.key.changes)

    def _explained(
        self, judgements: Mapping[Cell, Judgement], off: Sequence[Cell], held: Sequence[Cell], rounding: Rounding
    ) -> dict[Cell, Judgement]:
        """The verdicts on numbers that the claim's own setting does not give, judged on all numbers together."""
        claimed = self._setting(off[0]).protocol
        verdicts = {
            cell: replace(judgements[cell], verdict="erratum", why=why)
            for cell in off
            if (why := certain_range(cell, [claimed], rounding))
        }
        off = [cell for cell in off if cell not in verdicts]
        if not off:
            return verdicts
        variants = {cell: self._variants(cell, self._setting(cell)) for cell in off}
        protocols = {variant.protocol.hash: variant.protocol for of_cell, _ in variants.values() for variant in of_cell}
        settings = list(protocols.values())
        values = np.array([[self._value_or_nan(cell, protocol) for cell in off] for protocol in settings])
        gives = np.array([[self._prints(*pair, rounding) for pair in zip(off, row, strict=True)] for row in values])
        gives_held = np.ones((len(settings), len(held)), dtype=np.bool_)
        for row in np.flatnonzero(gives.any(axis=1)):  # the other settings explain nothing
            gives_held[row] = [self._prints(cell, self._value_or_nan(cell, settings[row]), rounding) for cell in held]
        table = SettingsTable(
            values=np.hstack([values, np.zeros((len(settings), len(held)))]),
            printed=np.array([cell.printed.value for cell in (*off, *held)]),
            reach=np.array([cell.printed.slack for cell in (*off, *held)]),
            gives=np.hstack([gives, gives_held]),
            held=np.arange(len(off) + len(held)) >= len(off),
            order=[(len(changes(claimed, protocol)), protocol.hash) for protocol in settings],
            in_words=lambda row: differences(claimed, settings[row]),
        )
        for column, cell in enumerate(off):
            best = table.best(column)
            explanation = best.sentence(table.in_words(best.row), "settings of the decisions that are not stated")
            judgement = replace(judgements[cell], giving=best.giving, settings=len(variants[cell][0]))
            explained = replace(judgement, met=best.met, chance=best.chance, why=explanation)
            if best.holds:
                verdicts[cell] = replace(explained, verdict="underspecified")
            elif (interval := self._ties(cell)) is not None and interval.holds(cell.printed, rounding):
                why = f"by ties: {interval.sentence(cell.printed)}, and the source does not say which order"
                ties = (interval.low, interval.high)
                verdicts[cell] = replace(judgement, verdict="underspecified", ties=ties, why=why)
            elif best.giving:
                verdicts[cell] = explained
            else:
                verdicts[cell] = self._erratum(cell, judgement, variants[cell], rounding)
        return verdicts

    def _erratum(
        self, cell: Cell, judgement: Judgement, variants: tuple[list[Variant], bool], rounding: Rounding
    ) -> Judgement:
        """The verdict on a number that no setting gives: an erratum, since all inputs are known."""
        if cell.printed.matches_truncated(judgement.value) and rounding.rule == "unknown":
            return judgement
        setting, (tried, complete) = self._setting(cell), variants
        reasons = [self._computed(cell.key, setting.protocol, judgement.value), f"not {cell.printed.text}"]
        if len(tried) > 1:
            which = "all" if complete else "a sample of the"
            reasons.append(f"nor under any of {which} {len(tried):,} settings of the decisions that are not stated")
        reasons += [*self._elsewhere(cell, setting), self._no_step(cell, setting.protocol, rounding)]
        group = cell.key.under, cell.key.changes
        neighbours = [other for other in self.claim.cells if (other.key.under, other.key.changes) == group]
        conflicts = certain_conflicts(neighbours, [setting.protocol], rounding, folds=1)
        reasons += [conflict.why for conflict in conflicts if cell in conflict.cells]
        return replace(judgement, verdict="erratum").adding(*reasons)

    def _ties(self, cell: Cell) -> TieInterval | None:
        """The range of a number over orders of ties; None if the claim states the order, or if it has no effect."""
        setting, frames = self._setting(cell), self.frames(cell.key.algorithm)
        measure = parse_measure(cell.key.metric, setting.protocol, metrics())
        if measure.metric.kind == "prediction" or BREAK in setting.stated or not _matters(BREAK, frames, measure):
            return None
        return tie_interval(setting.protocol, lambda protocol: self.value(cell.key, protocol))

    def _value_or_nan(self, cell: Cell, protocol: Protocol) -> float:
        """The number under another setting; NaN if it is undefined there."""
        return self._key_or_nan(cell.key, protocol)

    def _key_or_nan(self, key: CellKey, protocol: Protocol) -> float:
        if (key, protocol.hash) not in self._values:
            try:
                self._values[key, protocol.hash] = self.value(key, protocol)
            except ReproError:
                self._values[key, protocol.hash] = math.nan
        return self._values[key, protocol.hash]

    def _prints(self, cell: Cell, value: float, rounding: Rounding) -> bool:
        return rounding.gives(cell.printed, value) or cell.tolerance.holds(cell.printed, [value])

    def _variants(self, cell: Cell, setting: Setting) -> tuple[list[Variant], bool]:
        """The settings of all unstated decisions that bear on a number, and whether the list is complete."""
        frames, protocol = self.frames(cell.key.algorithm), setting.protocol
        measure = parse_measure(cell.key.metric, protocol, metrics())
        axes = [
            axis
            for axis in read_axes([*bearing_on([measure]), *setting.open], protocol, frames.truth.ratings)
            if axis.decision not in setting.stated and _matters(axis.decision, frames, measure)
        ]
        design = Design(protocol, axes, SETTINGS)
        return design.variants(), design.complete

    def _no_step(self, cell: Cell, protocol: Protocol, rounding: Rounding) -> str:
        """The reason why no whole number of hits gives the printed average; empty if one may."""
        key, frames = cell.key, self.frames(cell.key.algorithm)
        measure = parse_measure(key.metric, protocol, metrics())
        if key.user or measure.metric.kind != "ranking" or measure.parts:
            return ""
        ranked = rank_frames(frames, [measure], protocol, self.claim.seeds[0])
        denominators = measure.of_lists(ranked, frames.background).denominator
        steps = steps_of(
            measure, protocol, [FoldLists(ranked.users, denominators, ranked.lengths.astype(np.int64), ranked.strata)]
        )
        return steps.objection(cell.printed, rounding, key.metric) if steps else ""

    def _computed(self, key: CellKey, protocol: Protocol, value: float) -> str:
        """The computation of a number, from the errors of pairs or from the numbers of users."""
        frames, measure = self.frames(key.algorithm), parse_measure(key.metric, protocol, metrics())
        of_pairs = measure.metric.name in ("mae", "mse", "rmse") and measure.variants.get("average") == "ratings"
        if of_pairs and not key.user:
            errors = predictions_of(key.metric, frames, protocol)[1].errors
            if 0 < len(errors) <= _SHOWN:
                return _of_errors(measure.metric.name, errors.tolist(), value)
        averaged = measure_frames(frames, protocol, [key.metric], self.claim.seeds[0]).numbers[key.metric]
        if key.user or not 0 < len(averaged.values) <= _SHOWN:
            return f"{key.sentence} is {value:.6g}"
        numbers = zip(frames.truth.user_ids[averaged.users], averaged.values, strict=True)
        users = (f"{user}: {number:.4g}" for user, number in numbers)
        return f"{key.metric} of each user is {', '.join(users)}, together {value:.6g}"

    def _elsewhere(self, cell: Cell, setting: Setting) -> list[str]:
        """Other settings in the claim that give the printed number: a sign of cells that were copied or swapped."""
        settings: dict[str, None] = {}
        for other in self.claim.cells:
            if other.key.algorithm not in self.claim.systems or other.key.changes == cell.key.changes:
                continue
            protocol = self._setting(other).protocol
            differs = protocol.hash != setting.protocol.hash
            if differs and cell.printed.matches_rounded(self._value_or_nan(cell, protocol)):
                settings[", ".join(f"{key} = {value}" for key, value in other.key.changes)] = None
        return [f"it is what {changes_in_words} gives" for changes_in_words in settings if changes_in_words]


def _of_errors(name: str, errors: Sequence[float], value: float) -> str:
    """The arithmetic of MAE, MSE and RMSE, written out."""
    listed = ", ".join(f"{error:g}" for error in errors)
    parts = [f"{abs(error):g}" if name == "mae" else f"{error * error:g}" for error in errors]
    mean = f"({' + '.join(parts)}) / {len(parts)}"
    formula = f"the root of {mean}" if name == "rmse" else mean
    return f"the errors that count are {listed}: {name} is {formula} = {value:.6g}"


def _matters(decision: str, frames: Frames, measure: Measure) -> bool:
    """Whether a decision can affect the numbers of given lists.

    Candidates and folds cannot, nor can rules for cases that do not occur, such as empty lists or users without
    relevant items (where there are no ratings, every user has relevant items).
    """
    no_list = bool((frames.lengths[np.unique(frames.truth.users)] == 0).any())
    no_relevant = frames.truth.explicit
    missing = bool(np.isnan(frames.scores).any()) or frames.state is not None
    tied = missing or bool(pd.DataFrame({"user": frames.users, "score": frames.scores}).duplicated().any())
    families = {"candidates": False, "data": False, "split": False, "missing": missing, "ties": tied}
    matters = {
        "average.no_list": no_list,
        "average.no_relevant": no_relevant,
        "average.neither": no_list and no_relevant,
        "average.no_negatives": isinstance(measure.metric, RankingMetric) and measure.metric.negatives,
        "average.nobody": no_list or no_relevant,
        "average.folds": False,
    }
    return matters.get(decision, families.get(decision.partition(".")[0], True))
