"""Which numbers of a run's table differ from those of a reference by more than chance, as marks for a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from repro.errors import StudyError, nearest
from repro.report.export.record import RunRecord
from repro.stats import CORRECTIONS, TESTS, Settings
from repro.study.compare import Systems, compare_systems, systems_of_run

BETTER, WORSE, OTHER = "better", "worse", "other"


@dataclass(frozen=True, eq=False)
class Significance:
    """Each algorithm against a reference, by each metric with a value for each user.

    The reference is the stated baseline, or, of each metric, the algorithm with the best value.
    """

    record: RunRecord
    settings: Settings

    @classmethod
    def of(cls, record: RunRecord, **settings: Any) -> Significance:
        """With settings as `repro compare` has them: ``baseline``, ``test``, ``correct``, ``level``."""
        made = cls(record, Settings(**settings))
        baseline = made.settings.baseline
        if baseline is not None and baseline not in made.table.index:
            raise StudyError(
                f"there is no algorithm '{baseline}' to be the baseline{nearest(baseline, made.table.index)} "
                f"Algorithms: {', '.join(made.table.index)}"
            )
        made.settings.check(["one", "another"] if baseline is None else [baseline, "another"])
        return made

    @cached_property
    def table(self) -> pd.DataFrame:
        """Algorithms by metrics, as the run reports them."""
        return self.record.results.table()

    @cached_property
    def better(self) -> dict[str, str]:
        """Which of two values of a metric is the better one."""
        return {self.record.metrics[m.full_name]: m.metric.better for m in self.record.run.measures}

    @cached_property
    def tested(self) -> list[str]:
        """The metrics with a value for each user, of which two algorithms or more have one."""
        names = [self.record.metrics[m.full_name] for m in self.record.run.measures if m.per_user]
        return [name for name in names if name in self.table and self.table[name].notna().sum() > 1]

    def best(self, metric: str) -> list[str]:
        """The algorithms with the best value; none where no value is better than another."""
        values = self.table[metric].dropna()
        if self.better[metric] == "neither" or values.nunique() < 2:
            return []
        top = values.min() if self.better[metric] == "lower" else values.max()
        return list(values.index[values == top])

    def reference(self, metric: str) -> str | None:
        """Whom the others are tested against; nobody where the metric has nobody who is best and no baseline."""
        if self.settings.baseline is not None:
            return self.settings.baseline
        return next(iter(self.best(metric)), None)

    @cached_property
    def marks(self) -> dict[str, dict[str, str]]:
        """Of each tested metric, which algorithms differ from the reference, and how."""
        if not self.tested:
            return {}
        systems = systems_of_run(self.record.folder)
        return {metric: self._marks(systems, metric) for metric in self.tested}

    def _marks(self, systems: Systems, metric: str) -> dict[str, str]:
        reference = self.reference(metric)
        values = systems.values(metric)
        if reference is None or reference not in values or values.shape[1] < 2:
            return {}
        known = replace(systems, values=lambda _: values)
        pairs = compare_systems(known, metric, replace(self.settings, baseline=reference)).comparison.pairs
        marks = {}
        for _, pair in pairs[pairs["significant"]].iterrows():
            ahead = pair["difference"] > 0
            which = self.better[metric]
            marks[pair["a"]] = OTHER if which == "neither" else BETTER if ahead == (which == "higher") else WORSE
        return marks

    def sentence(self) -> str:
        """Which test was made, in words, with what it cites in double brackets."""
        test, correction = TESTS[self.settings.test], CORRECTIONS[self.settings.correct]
        against = f"“{self.settings.baseline}”" if self.settings.baseline else "the best algorithm of each metric"
        corrected = (
            ""
            if test.family_wise
            else f", corrected for the number of pairs by the method of {correction.title} ⟦{correction.cite}⟧"
            if correction.statsmodels
            else ", not corrected for the number of pairs"
        )
        title = test.title if test.title[0].isupper() and "'" in test.title else f"the {test.title}"
        return (
            f"Differences from {against} were tested on the values of each user, two-sided, with {title} ⟦{test.cite}⟧ "
            f"at the level {self.settings.level:g}{corrected}."
        )
