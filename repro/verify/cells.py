"""The numbers of one cell computed again: lists from scores, values from lists, numbers from values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from repro.data.impact import Impact
from repro.data.io.parquet import read_parquet
from repro.errors import JournalError, ReproError
from repro.evaluation.candidates import unlisted_users
from repro.evaluation.kept_scores import read_scores
from repro.evaluation.measure_lists import measure_lists
from repro.evaluation.measure_predictions import measure_predictions
from repro.evaluation.measured import Measured, joined_interval
from repro.evaluation.metrics import Measure, simple_measures
from repro.evaluation.replayed import ReplayedScores
from repro.plugin import Scores
from repro.protocol import OF_LISTS, registry
from repro.runs.fold_pooling import pooled_interval, stored_average
from repro.runs.folder import RunFolder
from repro.runs.journal import events
from repro.runs.run import Run
from repro.study.findings import facts_entry, value_entry
from repro.verify.finding import Failure, names
from repro.verify.reconstructed_fold import ReconstructedFold
from repro.verify.relist import Tables, ranked_again, stored_depth

FROM_SCORES = "computed again from the kept scores"
FROM_LISTS = "computed again from the stored lists"
FROM_PREDICTIONS = "computed again from the stored predictions"
FROM_RESOLVED = "averaged again from the predictions as they count"
FROM_VALUES = "averaged again from the stored values of each list"

TIE_INTERVALS = "lowest and highest over tie orders"

Numbers = dict[str, tuple[float, int]]
Intervals = dict[str, tuple[float, float]]
Mask = npt.NDArray[np.bool_]


@dataclass
class CellCheck:
    """One cell: what it stored, and what follows from that."""

    run: Run
    event: events.CellFinished
    line: int
    fold: ReconstructedFold
    sources: dict[str, str]
    unchecked: dict[str, str]

    def failures(self) -> Iterator[Failure]:
        """What does not follow, from the scores on to the numbers of the cell."""
        numbers: Numbers = {}
        intervals: Intervals = {}
        try:
            if "values" in self.event.artifacts:
                yield from self._check_lists(numbers, intervals)
            if "predictions" in self.event.artifacts:
                yield from self._check_predictions()
            yield from self._check_numbers(numbers)
            yield from self._check_intervals(intervals)
        except (ReproError, pa.ArrowException, OSError, LookupError, ValueError, TypeError) as error:
            said = str(error).splitlines()[0] if str(error) else type(error).__name__
            yield self._failure("values", f"what the cell stored cannot be computed with: {said}")

    def _check_lists(self, numbers: Numbers, intervals: Intervals) -> Iterator[Failure]:
        yield from self._check_unlisted()
        if "scores" in self.event.artifacts and self.fold.parts is not None:
            measured = self._measured_again()
            numbers |= {one.full_name: measured.values[one.full_name] for one in self._of_kind("collection")}
            yield from self._compare_tables("lists", measured, FROM_SCORES)
            yield from self._compare_tables("values", measured, FROM_SCORES)
            if self._has_intervals:
                intervals |= measured.intervals
                yield from self._compare_tied_values(measured)
                yield from self._compare_facts(measured, "lists")
            yield from self._compare_rest(measured)
            lists = self._of_kind("ranking", "collection")
            self.sources.update(dict.fromkeys((one.name for one in lists), FROM_SCORES))
        else:
            yield from self._check_values_of_lists(numbers)

    def _check_unlisted(self) -> Iterator[Failure]:
        """Who counts without a list, as each list is about one relevant item, and as the judgements have it."""
        users = self.fold.test.user_ids[unlisted_users(self.fold.judgements, self.run.protocol)].tolist()
        stored = self._frame("unlisted")["user"].tolist() if "unlisted" in self.event.artifacts else []
        if other := set(users) ^ set(stored):
            yield self._failure("values", "others have no relevant items than those stored", users=names(sorted(other)))

    def _measured_again(self) -> Measured:
        """The lists that the kept scores give."""
        parts = self.fold.parts
        assert parts is not None
        users = self.fold.judgements.test_users
        scores = read_scores(self._path("scores"), self._path("scored_items"), users, parts.whole)
        kept = ReplayedScores(scores, users).checked(self.event.cell)
        lists = self._of_kind("ranking", "collection")
        return measure_lists(kept, parts, lists, self.run.protocol, self.fold.seed)

    def _check_values_of_lists(self, numbers: Numbers) -> Iterator[Failure]:
        """Values from the lists as they were stored."""
        measures = self._of_kind("ranking", "collection")
        tables = Tables(self._frame("lists"), self._frame("values"))
        possible = [one for one in measures if not self._cannot(one)]
        if not possible:
            return
        ranked = ranked_again(tables, self.fold.test, self.fold.judgements, stored_depth(measures))
        for one in possible:
            of_lists = one.of_lists(ranked, self.fold.background)
            if one.metric.kind == "collection":
                value = one.of_collection([of_lists], self.fold.background)
                numbers[one.full_name] = (value, len(self.fold.background.test_users))
            else:
                wrong = np.zeros(len(ranked), dtype=np.bool_)
                for side in ("numerator", "denominator"):
                    stored = tables.values[f"{one.full_name} {side}"].to_numpy()
                    wrong |= differ(stored, getattr(of_lists, side))
                if wrong.any():
                    users = names(tables.values["user"][wrong])
                    yield self._failure(
                        "values", f"{wrong.sum():,} lists give other values than those stored", one, users
                    )
            self.sources[one.name] = FROM_LISTS

    def _cannot(self, measure: Measure) -> bool:
        why = self.fold.why_not(measure)
        if why:
            self.unchecked[measure.name] = why
            if measure.metric.kind == "ranking":
                self.sources.setdefault(measure.name, FROM_VALUES)
        return bool(why)

    def _check_predictions(self) -> Iterator[Failure]:
        stored, test = self._frame("predictions"), self.fold.test
        same = len(stored) == len(test)
        for name, ids, codes in (("user", test.user_ids, test.users), ("item", test.item_ids, test.items)):
            same = same and bool((stored[name].to_numpy() == ids[codes]).all())
        measures = self._of_kind("prediction")
        if not same and self.fold.parts is not None:
            yield self._failure("predictions", "they are of other pairs than the test part")
            return
        if self.fold.parts is None:  # the order of rows hangs on the data
            self.sources.update(dict.fromkeys((one.name for one in measures), FROM_RESOLVED))
            return
        predictions = Scores(stored["prediction"].to_numpy(), stored["state"].to_numpy(np.uint8))
        kept = ReplayedScores(None, predictions=predictions).checked(self.event.cell)
        measured = measure_predictions(kept, self.fold.parts, measures, self.run.protocol, self.run.scale)
        yield from self._compare_tables("predictions", measured, FROM_PREDICTIONS)
        yield from self._compare_facts(measured, "predictions")
        self.sources.update(dict.fromkeys((one.name for one in measures), FROM_PREDICTIONS))

    def _compare_tables(self, name: str, measured: Measured, source: str) -> Iterator[Failure]:
        """A table as it was stored, and as it comes again."""
        yield from self._compare_frames(name, self._frame(name), measured.tables[name].to_pandas(), source)

    def _compare_tied_values(self, measured: Measured) -> Iterator[Failure]:
        """The numbers of lists with tied items in other orders, by the row of the list among the values."""
        name = "tied_values"
        stored = self._frame(name) if name in self.event.artifacts else None
        again = measured.tables[name].to_pandas() if name in measured.tables else None
        if stored is None and again is None:
            return
        before = _of_users(stored, self._frame("values"))
        after = _of_users(again, measured.tables["values"].to_pandas())
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
            yield self._failure(name, f"{wrong.sum():,} rows are not those that are {source}", users=users)

    def _compare_rest(self, measured: Measured) -> Iterator[Failure]:
        for name, digest in measured.digests.items():
            if self.event.digests.get(name, digest) != digest:
                yield self._failure("lists", f"the {name} are not those of the run: their digest is another one")
        if _of_lists(self.event.impacts) != _of_lists(measured.impacts):
            yield self._failure("lists", "what the decisions touched is not what the journal says")

    def _compare_facts(self, measured: Measured, of: str) -> Iterator[Failure]:
        """What was counted of the lists, or the predictions, to find out what is suspicious."""
        if self.event.facts is None:
            return
        told, again = self.event.facts.model_dump(), facts_entry(measured.facts).model_dump()
        for name in again:
            about_predictions = name.startswith("prediction")
            if name != "ratings_vary" and about_predictions == (of == "predictions") and told[name] != again[name]:
                yield self._failure(of, f"{name} is {told[name]} in the journal, and {again[name]} when counted again")

    def _check_numbers(self, numbers: Numbers) -> Iterator[Failure]:
        """The numbers of the cell from the values of its lists, or its predictions."""
        paths = {name: self._path(name) for name in self.event.artifacts}
        for one in simple_measures(self.run.measures):
            if one.full_name in numbers:
                continue
            stored = stored_average(one, [paths], self.run.protocol, self.run.scale)
            if stored is not None:
                numbers[one.full_name] = (stored[0].value, stored[0].users_counted)
            elif one.metric.kind == "prediction":
                numbers[one.full_name] = (math.nan, 0)
        told = {entry.metric: entry for entry in self.event.values}
        for measure in self.run.measures:
            entry = told.get(measure.full_name)
            if entry is None:
                yield self._failure("values", "the journal has no number of it", measure)
                continue
            if any(part.full_name not in numbers for part in simple_measures([measure])):
                continue
            value, users = measure.joined(numbers)
            said = math.nan if entry.value is None else entry.value
            if not same_number(value, said) or users != entry.users:
                yield self._failure(
                    "predictions" if measure.metric.kind == "prediction" else "values",
                    f"the journal says {said!r} of {entry.users:,} users, and what was stored gives {value!r} of "
                    f"{users:,}",
                    measure,
                )

    @property
    def _has_intervals(self) -> bool:
        """Whether the run states the extremes over tie orders; versions that did not know them counted no facts."""
        return self.event.facts is not None

    def _check_intervals(self, intervals: Intervals) -> Iterator[Failure]:
        """The lowest and highest values over all orders of tied items; from ``intervals``, or what was stored."""
        if not self._has_intervals:
            self.unchecked[TIE_INTERVALS] = "the version of repro that made the run did not record them"
            return
        paths = {name: self._path(name) for name in self.event.artifacts}
        for one in simple_measures(self.run.measures):
            if one.full_name in intervals:
                continue
            stored = pooled_interval(one, [paths], self.run.protocol)
            if stored is not None:
                intervals[one.full_name] = stored
                if "tied_values" in paths:
                    self.unchecked[TIE_INTERVALS] = "they go by equal scores, which lists do not have"
        told = {entry.metric: entry for entry in self.event.values}
        for measure in self.run.measures:
            entry = told.get(measure.full_name)
            if entry is None:  # which is said
                continue
            expected = value_entry(measure, math.nan, 0, joined_interval(measure, intervals))
            if (entry.lowest, entry.highest) != (expected.lowest, expected.highest):
                what = (
                    f"the journal says {entry.lowest!r} to {entry.highest!r} over all orders of tied items, and what "
                    f"was stored gives {expected.lowest!r} to {expected.highest!r}"
                )
                yield self._failure("values", what, measure)

    def _of_kind(self, *kinds: str) -> list[Measure]:
        return [one for one in simple_measures(self.run.measures) if one.metric.kind in kinds]

    def _path(self, name: str) -> Path:
        return RunFolder(self.run.folder).artifact(self.event.artifacts[name])

    def _frame(self, name: str) -> pd.DataFrame:
        return read_frame(self._path(name))

    def _failure(
        self, artefact: str, what: str, measure: Measure | None = None, users: tuple[str, ...] = ()
    ) -> Failure:
        digest = self.event.artifacts.get(artefact)
        file = f"artifacts/{digest}.parquet" if digest else "journal.jsonl"
        name = "" if measure is None else measure.name
        told = f"the {artefact}: {what}" if digest else what
        return Failure("rescore", file, told, self.line, self.event.cell, name, users)


def _of_lists(impacts: Iterable[Impact | events.ImpactEntry]) -> list[tuple[str, int, int]]:
    """How much the decisions about lists touched."""
    of_lists = (one for one in impacts if registry().stage_of(one.decision) in OF_LISTS)
    return [(one.decision, one.touched, one.total) for one in of_lists]


def _of_users(tied: pd.DataFrame | None, values: pd.DataFrame) -> pd.DataFrame:
    """Numbers of lists by their row among the values, with the users whose lists they are."""
    if tied is None:
        return pd.DataFrame({"user": []})
    return tied.assign(user=values["user"].to_numpy()[tied["row"].to_numpy()])


def read_frame(path: Path) -> pd.DataFrame:
    if not path.is_file():
        raise JournalError(f"{path.name} is not there")
    frame: pd.DataFrame = read_parquet(path).to_pandas()
    return frame


def differ(before: npt.NDArray[np.generic], after: npt.NDArray[np.generic]) -> Mask:
    """Where two columns differ by as much as a bit."""
    if before.dtype.kind == "f" and after.dtype.kind == "f":
        same = (before == after) | (np.isnan(before) & np.isnan(after))
        return ~np.asarray(same, dtype=np.bool_)
    return np.asarray(before != after, dtype=np.bool_)


def same_number(one: float, two: float) -> bool:
    """Whether two numbers are the same, to the last bit; what is not a number is the same as another such."""
    return repr(one) == repr(two)
