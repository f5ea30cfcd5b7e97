"""Marks of a table: which numbers differ significantly from those of a reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from repro.errors import StudyError, nearest
from repro.grouping import grouped
from repro.runs.comparison import Compared, RunComparisons, run_comparisons
from repro.runs.run import Run
from repro.stats import CORRECTIONS, TESTS, Settings
from repro.text import plural

BETTER, WORSE, OTHER = "better", "worse", "other"


@dataclass(frozen=True, eq=False)
class Significance:
    """Tests of each algorithm against a reference, by each metric with a value for each user.

    The reference is the stated baseline, or the algorithm with the best value of each metric.
    """

    run: Run
    settings: Settings

    @classmethod
    def of(cls, run: Run, **settings: Any) -> Significance:
        """The tests of a run with the settings of `repro compare`: ``baseline``, ``test``, ``correct``, ``level``."""
        significance = cls(run, Settings(**settings))
        baseline = significance.settings.baseline
        if baseline is not None and baseline not in significance.table.index:
            raise StudyError(
                f"there is no algorithm '{baseline}' to be the baseline{nearest(baseline, significance.table.index)} "
                f"Algorithms: {', '.join(significance.table.index)}"
            )
        significance.settings.check(["one", "another"] if baseline is None else [baseline, "another"])
        return significance

    @cached_property
    def table(self) -> pd.DataFrame:
        """The averages that the run reports: a row for each algorithm, a column for each metric."""
        return self.run.table()

    @cached_property
    def comparisons(self) -> RunComparisons:
        """The comparisons of the algorithms of the run by each metric."""
        return run_comparisons(self.run, self.settings)

    @cached_property
    def _compared(self) -> dict[str, Compared]:
        """The comparison by each metric that has a value for each user, of at least two algorithms."""
        compared = {name: self.comparisons.of(name) for name in self.comparisons.metrics if name in self.table}
        return {name: comparison for name, comparison in compared.items() if comparison}

    @property
    def tested(self) -> list[str]:
        """The metrics that algorithms are compared by."""
        return list(self._compared)

    def best(self, metric: str) -> list[str]:
        """The algorithms with the best value; none if no value is better than another."""
        values = self.table[metric].dropna()
        if self.run.better[metric] == "neither" or values.nunique() < 2:
            return []
        top = values.min() if self.run.better[metric] == "lower" else values.max()
        return list(values.index[values == top])

    def reference(self, metric: str) -> str | None:
        """The algorithm that others are tested against; None if there is neither a baseline nor a best one."""
        if self.settings.baseline is not None:
            return self.settings.baseline
        return next(iter(self.best(metric)), None)

    @cached_property
    def marks(self) -> dict[str, dict[str, str]]:
        """For each tested metric, the mark of each algorithm that differs significantly from the reference."""
        marks: dict[str, dict[str, str]] = {metric: {} for metric in self.tested}
        for metric, compared in self._compared.items():
            if (reference := self.reference(metric)) is not None:
                pairs = compared.comparison.against(reference)
                for label, pair in pairs[pairs["significant"]].iterrows():
                    marks[metric][str(label)] = self._mark(metric, pair, reference)
        return marks

    def _mark(self, metric: str, pair: pd.Series, reference: str) -> str:
        """The direction of a significant difference, if the table and the mean over users agree about it."""
        direction, values = self.run.better[metric], self.table[metric]
        table_difference = values[pair["a"]] - values[reference]
        if direction == "neither" or not table_difference * pair["difference"] > 0:
            return OTHER
        return BETTER if (table_difference > 0) == (direction == "higher") else WORSE

    def sentences(self) -> list[str]:
        """Sentences on the method (test, family, correction, level), the results and cautions; citations are in ⟦⟧."""
        return [self.method(), *self._outcomes(), *self.cautions]

    def method(self) -> str:
        """A sentence on the test, the family of comparisons, the correction and the level; citations are in ⟦⟧."""
        test, correction = TESTS[self.settings.test], CORRECTIONS[self.settings.correct]
        baseline = self.settings.baseline
        family = f"all pairs of an algorithm with “{baseline}”" if baseline else "all pairs of algorithms"
        family += " by one metric"
        method = f"the method of {correction.title} ⟦{correction.cite}⟧"
        title = test.title if test.title[0].isupper() and "'" in test.title else f"the {test.title}"
        return (
            f"Differences were tested on the values of each user, two-sided, with {title} ⟦{test.cite}⟧ at the level "
            f"{self.settings.level:g}, {self.settings.corrected_for(family, method)}."
        )

    def _outcomes(self) -> Iterator[str]:
        for metric, compared in self._compared.items():
            pairs = compared.comparison.pairs
            differ = int(pairs["significant"].sum())
            yield f"By {metric}, {differ:,} of {plural(len(pairs), 'pair')} differ significantly."

    @cached_property
    def cautions(self) -> list[str]:
        """Warnings about weak intervals and tests of all metrics, each sentence once."""
        pairs = [(metric, caution) for metric, compared in self._compared.items() for caution in compared.cautions]
        return [
            caution if len(group) == len(self.tested) else f"By {', '.join(metric for metric, _ in group)}: {caution}"
            for caution, group in grouped(pairs, lambda pair: pair[1]).items()
        ]
