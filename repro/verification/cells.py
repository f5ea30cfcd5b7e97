"""The numbers of one cell computed again: lists from scores, values from lists, numbers from values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.data.impact import Impact
from repro.data.io.parquet import read_parquet
from repro.errors import JournalError
from repro.evaluation.candidates import unlisted_users
from repro.evaluation.evaluation import measure_predictions
from repro.evaluation.kept_scores import ReplayedScores, read_scores
from repro.evaluation.measure_lists import measure_lists
from repro.evaluation.measured import Measured, joined_interval
from repro.evaluation.metrics import Measure, simple_measures
from repro.evaluation.stages import measure_collection, measure_values, stored_depth
from repro.evaluation.stored_lists import ListTables, StoredFold
from repro.plugin import Scores
from repro.protocol import OF_LISTS, registry
from repro.runs.fold_pooling import pooled_interval, stored_average
from repro.runs.journal import events
from repro.runs.run import Run
from repro.study.findings import facts_entry, value_entry
from repro.verification.finding import Failure, names
from repro.verification.untrusted import BROKEN, first_line

FROM_SCORES = "computed again from the kept scores"
FROM_LISTS = "computed again from the stored lists"
FROM_PREDICTIONS = "computed again from the stored predictions"
FROM_RESOLVED = "averaged again from the stored predictions after fallback and clipping"
FROM_VALUES = "averaged again from the stored values of each list"

TIE_INTERVALS = "lowest and highest over tie orders"


@dataclass
class CellCheck:
    """Checks the stored tables of one cell, and its numbers in the journal.

    ``sources`` and ``unchecked`` collect, over all cells, what each metric was computed from, and what could not be
    checked and why. ``numbers`` and ``intervals`` are the results so far, by the full name of the measure.
    """

    run: Run
    event: events.CellFinished
    line: int
    fold: StoredFold
    sources: dict[str, str]
    unchecked: dict[str, str]
    numbers: dict[str, tuple[float, int]] = field(default_factory=dict)
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)

    def failures(self) -> Iterator[Failure]:
        """The stored tables and numbers of the cell that differ when they are computed again, scores first."""
        try:
            if "values" in self.event.artifacts:
                yield from self._check_unlisted()
                has_scores = "scores" in self.event.artifacts and self.fold.data is not None
                yield from self._check_by_scores() if has_scores else self._check_by_lists()
            if "predictions" in self.event.artifacts:
                yield from self._check_predictions()
            yield from self._check_numbers()
            yield from self._check_intervals()
        except BROKEN as error:
            yield self._failure("values", f"the stored tables of the cell cannot be computed with: {first_line(error)}")

    def _check_unlisted(self) -> Iterator[Failure]:
        """Compare the users who are averaged without a list (1R) with those stored."""
        users = self.fold.test.user_ids[unlisted_users(self.fold.judgements, self.run.protocol)].tolist()
        stored = self._frame("unlisted")["user"].tolist() if "unlisted" in self.event.artifacts else []
        if differing := set(users) ^ set(stored):
            message = "the users without relevant items differ from those stored"
            yield self._failure("values", message, users=names(sorted(differing)))

    def _check_by_scores(self) -> Iterator[Failure]:
        """Compute lists, values and numbers again from the kept scores, and compare them."""
        data = self.fold.data
        assert data is not None
        users = self.fold.judgements.test_users
        scores = read_scores(self._path("scores"), self._path("scored_items"), users, data.whole)
        recommender = ReplayedScores(scores, users).checked(self.event.cell)
        measures = simple_measures(self.run.measures, "ranking", "collection")
        measured = measure_lists(recommender, data, measures, self.run.protocol, self.fold.seed)
        collections = simple_measures(self.run.measures, "collection")
        self.numbers |= {measure.full_name: measured.values[measure.full_name] for measure in collections}
        yield from self._compare_tables("lists", measured, FROM_SCORES)
        yield from self._compare_tables("values", measured, FROM_SCORES)
        if self._has_intervals:
            self.intervals |= measured.intervals
            yield from self._compare_tied_values(measured)
            yield from self._compare_facts(measured, "lists")
        for name, digest in measured.digests.items():
            if self.event.digests.get(name, digest) != digest:
                yield self._failure("lists", f"the digest of the {name} differs from that of the run")
        if _list_impacts(self.event.impacts) != _list_impacts(measured.impacts):
            yield self._failure("lists", "the effects of the decisions differ from those in the journal")
        self._set_sources(measures, FROM_SCORES)

    def _check_by_lists(self) -> Iterator[Failure]:
        """Compute the values of the lists again from the stored lists, and compare them."""
        measures = simple_measures(self.run.measures, "ranking", "collection")
        possible = []
        for measure in measures:
            if obstacle := self.fold.obstacle(measure):
                self.unchecked[measure.name] = obstacle
                if measure.metric.kind == "ranking":
                    self.sources.setdefault(measure.name, FROM_VALUES)
            else:
                possible.append(measure)
        if not possible:
            return
        tables, depth = ListTables(self._frame("lists"), self._frame("values")), stored_depth(measures)
        ranked = self.fold.rank(tables, depth, depth)
        values = measure_values(possible, ranked, self.fold.background)
        for measure in possible:
            name, of_lists = measure.full_name, values[measure.full_name]
            if measure.metric.kind == "collection":
                averaged = measure_collection(measure, [of_lists], self.fold.background)
                self.numbers[name] = (averaged.value, averaged.users_counted)
                continue
            wrong = np.zeros(len(ranked), dtype=np.bool_)
            for side in ("numerator", "denominator"):
                wrong |= differ(tables.values[f"{name} {side}"].to_numpy(), getattr(of_lists, side))
            if wrong.any():
                users = names(tables.values["user"][wrong])
                message = f"the values of {wrong.sum():,} lists differ from the stored values"
                yield self._failure("values", message, measure, users)
        self._set_sources(possible, FROM_LISTS)

    def _check_predictions(self) -> Iterator[Failure]:
        """Compute the predictions after fallback and clipping again, and compare them."""
        measures, data = simple_measures(self.run.measures, "prediction"), self.fold.data
        if data is None:  # the order of rows depends on the data
            self._set_sources(measures, FROM_RESOLVED)
            return
        stored, test = self._frame("predictions"), self.fold.test
        pairs = {"user": test.user_ids[test.users], "item": test.item_ids[test.items]}
        if len(stored) != len(test) or any((stored[name].to_numpy() != ids).any() for name, ids in pairs.items()):
            yield self._failure("predictions", "their pairs of user and item differ from those of the test part")
            return
        predictions = Scores(stored["prediction"].to_numpy(), stored["state"].to_numpy(np.uint8))
        recommender = ReplayedScores(None, predictions=predictions).checked(self.event.cell)
        measured = measure_predictions(recommender, data, measures, self.run.protocol, self.run.scale)
        yield from self._compare_tables("predictions", measured, FROM_PREDICTIONS)
        yield from self._compare_facts(measured, "predictions")
        self._set_sources(measures, FROM_PREDICTIONS)

    def _compare_tables(self, name: str, measured: Measured, source: str) -> Iterator[Failure]:
        """Compare a stored table with the same table computed again."""
        yield from self._compare_frames(name, self._frame(name), measured.tables[name].to_pandas(), source)

    def _compare_tied_values(self, measured: Measured) -> Iterator[Failure]:
        """Compare the values of lists over the orders of tied items with those stored."""
        name = "tied_values"
        stored = self._frame(name) if name in self.event.artifacts else None
        recomputed = measured.tables[name].to_pandas() if name in measured.tables else None
        if stored is None and recomputed is None:
            return
        before = _with_users(stored, self._frame("values"))
        after = _with_users(recomputed, measured.tables["values"].to_pandas())
        yield from self._compare_frames(name, before, after, FROM_SCORES)

    def _compare_frames(self, name: str, before: pd.DataFrame, after: pd.DataFrame, source: str) -> Iterator[Failure]:
        if list(before) != list(after) or len(before) != len(after):
            users = names(sorted(set(before["user"].map(str)) ^ set(after["user"].map(str))))
            yield self._failure(name, f"{len(before):,} rows were stored, and {len(after):,} are {source}", users=users)
            return
        wrong = np.zeros(len(before), dtype=np.bool_)
        for column in before:
            wrong |= differ(before[column].to_numpy(), after[column].to_numpy())
        if wrong.any():
            users = names(before["user"][wrong])
            yield self._failure(name, f"{wrong.sum():,} rows differ from those {source}", users=users)

    def _compare_facts(self, measured: Measured, kind: str) -> Iterator[Failure]:
        """Compare the counts of lists or of predictions that findings are computed from with those in the journal."""
        if self.event.facts is None:
            return
        recorded, recomputed = self.event.facts.model_dump(), facts_entry(measured.facts).model_dump()
        for name, count in recomputed.items():
            about = "predictions" if name.startswith("prediction") else "lists"
            if name != "ratings_vary" and about == kind and recorded[name] != count:
                yield self._failure(kind, f"{name} is {recorded[name]} in the journal, and {count} when counted again")

    def _check_numbers(self) -> Iterator[Failure]:
        """Average the values of lists and predictions, and compare the averages with those in the journal."""
        for measure in simple_measures(self.run.measures):
            if measure.full_name in self.numbers:
                continue
            stored = stored_average(measure, [self.run.tables(self.event)], self.run.protocol, self.run.scale)
            if stored is not None:
                self.numbers[measure.full_name] = (stored[0].value, stored[0].users_counted)
            elif measure.metric.kind == "prediction":
                self.numbers[measure.full_name] = (math.nan, 0)
        for measure in self.run.measures:
            entry = self._entries.get(measure.full_name)
            if entry is None:
                yield self._failure("values", "the journal has no value of this metric", measure)
                continue
            if any(part.full_name not in self.numbers for part in simple_measures([measure])):
                continue
            value, users = measure.joined(self.numbers)
            recorded = math.nan if entry.value is None else entry.value
            if not same_number(value, recorded) or users != entry.users:
                yield self._failure(
                    "predictions" if measure.metric.kind == "prediction" else "values",
                    f"the journal says {recorded!r} over {entry.users:,} users, and the stored tables give {value!r} "
                    f"over {users:,}",
                    measure,
                )

    @property
    def _entries(self) -> dict[str, events.ValueEntry]:
        """The numbers of the cell in the journal, by the full name of the measure."""
        return {entry.metric: entry for entry in self.event.values}

    @property
    def _has_intervals(self) -> bool:
        """Whether the run records the extremes over tie orders; versions that did not record them have no facts."""
        return self.event.facts is not None

    def _check_intervals(self) -> Iterator[Failure]:
        """Compute the lowest and highest values over all orders of tied items, and compare them with the journal."""
        if not self._has_intervals:
            self.unchecked[TIE_INTERVALS] = "the version of repro that made the run did not record them"
            return
        for measure in simple_measures(self.run.measures):
            if measure.full_name in self.intervals:
                continue
            stored = pooled_interval(measure, [self.run.tables(self.event)], self.run.protocol)
            if stored is not None:
                self.intervals[measure.full_name] = stored
                if "tied_values" in self.event.artifacts:
                    self.unchecked[TIE_INTERVALS] = "they depend on equal scores, which lists do not have"
        for measure in self.run.measures:
            entry = self._entries.get(measure.full_name)
            if entry is None:  # reported with the numbers
                continue
            expected = value_entry(measure, math.nan, 0, joined_interval(measure, self.intervals))
            if (entry.lowest, entry.highest) != (expected.lowest, expected.highest):
                message = (
                    f"the journal says {entry.lowest!r} to {entry.highest!r} over all orders of tied items, and the "
                    f"stored tables give {expected.lowest!r} to {expected.highest!r}"
                )
                yield self._failure("values", message, measure)

    def _set_sources(self, measures: Iterable[Measure], source: str) -> None:
        self.sources.update(dict.fromkeys((measure.name for measure in measures), source))

    def _path(self, name: str) -> Path:
        return self.run.files.artifact(self.event.artifacts[name])

    def _frame(self, name: str) -> pd.DataFrame:
        return read_frame(self._path(name))

    def _failure(
        self, artefact: str, what: str, measure: Measure | None = None, users: tuple[str, ...] = ()
    ) -> Failure:
        digest = self.event.artifacts.get(artefact)
        file = f"artifacts/{digest}.parquet" if digest else "journal.jsonl"
        name = "" if measure is None else measure.name
        sentence = f"the {artefact}: {what}" if digest else what
        return Failure("rescore", file, sentence, self.line, self.event.cell, name, users)


def _list_impacts(impacts: Iterable[Impact | events.ImpactEntry]) -> list[tuple[str, int, int]]:
    """The effects of the decisions about lists."""
    of_lists = (impact for impact in impacts if registry().stage_of(impact.decision) in OF_LISTS)
    return [(impact.decision, impact.touched, impact.total) for impact in of_lists]


def _with_users(tied: pd.DataFrame | None, values: pd.DataFrame) -> pd.DataFrame:
    """Values of tied lists with the users whose lists they are."""
    if tied is None:
        return pd.DataFrame({"user": []})
    return tied.assign(user=values["user"].to_numpy()[tied["row"].to_numpy()])


def read_frame(path: Path) -> pd.DataFrame:
    """A stored table; a JournalError where it is missing."""
    if not path.is_file():
        raise JournalError(f"{path.name} is missing")
    frame: pd.DataFrame = read_parquet(path).to_pandas()
    return frame


def differ(before: npt.NDArray[np.generic], after: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    """A mask of the rows where two columns differ in any bit; NaN equals NaN."""
    if before.dtype.kind == "f" and after.dtype.kind == "f":
        same = (before == after) | (np.isnan(before) & np.isnan(after))
        return ~np.asarray(same, dtype=np.bool_)
    return np.asarray(before != after, dtype=np.bool_)


def same_number(first: float, second: float) -> bool:
    """Whether two numbers are equal to the last bit; NaN equals NaN."""
    return repr(first) == repr(second)
