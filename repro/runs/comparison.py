"""Compare the algorithms of a run, or systems in files and frames of per-user values: :func:`compare`.

:func:`run_comparisons` compares the algorithms of a run, once for each metric. The report and the exports for papers
use it, and `repro compare` the same function, so that they cannot contradict each other.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from repro.current import views
from repro.errors import ReproWarning, StudyError
from repro.evaluation.metrics import MetricName, metric_text
from repro.runs.run import Run
from repro.runs.systems import Systems, systems_of_files, systems_of_run, systems_of_tables
from repro.stats import CORRECTION, LEVEL, TEST, Comparison, Selection, Settings, comparison, select_settings
from repro.stats.resampling import SAMPLES

if TYPE_CHECKING:
    import altair as alt

_COLUMNS = ["a", "b", "mean_a", "mean_b", "difference", "low", "high", "p_corrected", "verdict"]
_SHOWN = 20  # pairs in the text of a comparison


@dataclass(frozen=True, eq=False)
class Compared:
    """A comparison of systems by one metric.

    metric      the metric
    better      which of its values are better: "higher", "lower" or "neither"
    comparison  the pairs with further results, such as Friedman's test (:class:`repro.stats.Comparison`)
    selection   the settings that were chosen for the comparison, if they were
    notes       remarks on users and settings
    cautions    why the comparison is weak, where it is
    """

    metric: str
    better: str
    comparison: Comparison
    selection: Selection | None
    notes: tuple[str, ...]
    cautions: tuple[str, ...]

    @property
    def pairs(self) -> pd.DataFrame:
        """One row for each pair; :func:`repro.stats.compare` explains the columns."""
        return self.comparison.pairs

    def plot(self) -> alt.TopLevelMixin:
        """The difference of each pair with its interval, or average ranks for Nemenyi's test, as an Altair chart."""
        return views().plot(self)

    def to_dict(self) -> dict[str, Any]:
        """All results as JSON-compatible data."""
        settings, friedman = self.comparison.settings, self.comparison.friedman
        return {
            "metric": self.metric,
            "better": self.better,
            "test": settings.test,
            "correct": settings.correct,
            "family": self.comparison.family,
            "level": settings.level,
            "stated": self.comparison.stated,
            "friedman": friedman
            and {name: getattr(friedman, name) for name in ("statistic", "p", "f_statistic", "f_p", "users")}
            | {
                "average_ranks": self.comparison.ranks,
                "critical_difference": friedman.critical_difference(settings.level),
            },
            "chosen": self.selection and self.selection.chosen,
            "notes": list(self.notes),
            "cautions": list(self.cautions),
            "pairs": self.pairs.to_dict(orient="records"),
        }

    @property
    def _heading(self) -> str:
        better = "" if self.better == "neither" else f" ({self.better} is better)"
        return f"{self.metric}{better}: {self.comparison.stated}"

    @property
    def _remarks(self) -> list[str]:
        return [*(f"note: {note}" for note in self.notes), *(f"caution: {caution}" for caution in self.cautions)]

    def __repr__(self) -> str:
        table = self.pairs[_COLUMNS].head(_SHOWN).to_string(index=False, float_format="{:.4g}".format)
        more = [f"and {len(self.pairs) - _SHOWN:,} more pairs"] if len(self.pairs) > _SHOWN else []
        return "\n".join([self._heading, table, *more, *self._remarks])

    def _repr_html_(self) -> str:
        table = self.pairs[_COLUMNS].to_html(index=False, max_rows=_SHOWN, float_format="{:.4g}".format)
        remarks = "<br>".join(map(escape, self._remarks))
        return f"<p><b>{escape(self._heading)}</b></p>{table}<p>{remarks}</p>"


def compare(
    values: Run | str | Path | pd.DataFrame | Sequence[str | Path] | Mapping[str, str | Path | pd.DataFrame],
    metric: MetricName | None = None,
    *,
    test: str = TEST,
    correct: str = CORRECTION,
    baseline: str | None = None,
    level: float = LEVEL,
    interval: str = "t",
    zeros: str = "wilcox",
    samples: int = SAMPLES,
    seed: int = 0,
    select_on: float | None = None,
) -> Compared:
    """Test which systems differ: paired tests on the values of each user, corrected, with effect sizes and intervals.

    values     a run or its folder; or a frame with the columns user, metric and value, as ``repro.evaluate(...,
               per_user=True)`` gives it, or a file with them; with a column ``run`` it has several systems. Of several
               files or frames: a list of files, or a mapping such as ``{"ours": frame, "theirs": "theirs.parquet"}``
    metric     such as ``"ndcg@10"``; by default the first one
    test       the test of each pair: "randomisation", "wilcoxon", "t", "sign", "bootstrap", "nemenyi" or "conover"
    correct    the correction for the number of pairs: "none", "bonferroni", "holm", "hochberg", "sidak" or
               "benjamini-hochberg"
    baseline   compare only pairs with this system; by default all pairs
    level      the significance level for corrected p-values; intervals have confidence 1 - level
    interval   the interval of the difference: "t", "percentile" or "bca"
    zeros      ties in the Wilcoxon test: "wilcox", "pratt" or "zsplit"
    samples    the number of samples of the randomisation and bootstrap tests
    seed       the random seed
    select_on  for runs: choose the best setting of each algorithm on this share of the users, and test on the others

    Returns a :class:`Compared`: ``pairs`` has a row for each pair, ``plot()`` is a chart, and ``to_dict()`` has all of
    it. Its cautions are also issued as warnings (:class:`repro.ReproWarning`).

    >>> compared = repro.compare(["ours.parquet", "theirs.parquet"])
    >>> compared.pairs[["a", "b", "users", "verdict"]]
          a       b  users         verdict
    0  ours  theirs     20  ours is better
    >>> len(repro.compare("run", "ndcg@10", test="wilcoxon").pairs)  # each two of three algorithms
    3
    """
    settings = Settings(
        test=test,
        correct=correct,
        baseline=baseline,
        level=level,
        interval=interval,
        zeros=zeros,
        samples=samples,
        seed=seed,
    )
    name = None if metric is None else metric_text(metric)
    compared = compare_systems(systems_in(values), name, settings, select_on)
    for caution in compared.cautions:
        warnings.warn(caution, ReproWarning, stacklevel=2)
    return compared


def systems_in(values: object) -> Systems:
    """The systems in what :func:`compare` accepts."""
    if isinstance(values, Run):
        return systems_of_run(values)
    if isinstance(values, str | Path):
        return systems_of_files([values]) if Path(values).is_file() else systems_of_run(Run(values))
    if isinstance(values, Mapping):
        return systems_of_tables(values)
    if isinstance(values, list | tuple):
        for value in values:
            if not isinstance(value, str | Path):
                raise StudyError(
                    f"a list of {type(value).__name__} has no names of systems; give a mapping, such as "
                    '{"ours": frame, "theirs": frame}'
                )
            if Path(value).is_dir():
                raise StudyError(f"{value} is a folder; give one run folder, or files of per-user values")
        return systems_of_files(values)
    return systems_of_tables({"values": values})


def compare_systems(systems: Systems, metric: str | None, settings: Settings, share: float | None = None) -> Compared:
    """Compare by ``metric``; with a ``share``, on the users that are left when settings were chosen on this share."""
    name = metric if metric is not None else systems.metrics[0]
    better = systems.better(name)
    values = systems.values(name)
    settings = replace(settings, better=better)
    several = _several_settings(systems, list(values.columns))
    notes = list(systems.notes(name))
    if without := [label for label in systems.algorithms if label not in values.columns]:
        notes.append(f"Left out, as they have no {name} on all folds: {', '.join(without)}.")
    selection = None
    if share is not None:
        if not systems.algorithms:
            raise StudyError(
                f"{systems.source} do not say which systems are settings of one algorithm, so none can be chosen; "
                "--select-on is for run folders"
            )
        selection = select_settings(values, systems.algorithms, share, better, settings.seed)
        _refuse_lost_baseline(settings.baseline, selection, systems)
        values = selection.values
        notes.append(f"Settings were chosen on {selection.users:,} users; the tests are on the {len(values):,} others.")
    elif several:
        notes.append(
            f"There are several settings of {' and of '.join(several)}: choosing the best of them on these users is "
            "tuning on the evaluation set. --select-on 0.5 (select_on=0.5) chooses on half of the users, and tests on "
            "the others."
        )
    compared = comparison(values, settings)
    return Compared(
        name, better, compared, selection, (*notes, *compared.notes), (*systems.cautions, *compared.cautions)
    )


def _several_settings(systems: Systems, labels: list[str]) -> list[str]:
    """The algorithms that more than one of the systems is a setting of."""
    uses = [systems.algorithms[label] for label in labels if label in systems.algorithms]
    return [use for use in dict.fromkeys(uses) if uses.count(use) > 1]


def _refuse_lost_baseline(baseline: str | None, selection: Selection, systems: Systems) -> None:
    if baseline is not None and baseline in systems.algorithms and baseline not in selection.values.columns:
        winner = selection.chosen[systems.algorithms[baseline]]
        raise StudyError(
            f"the baseline '{baseline}' was not chosen: '{winner}' is the better setting of "
            f"{systems.algorithms[baseline]} on the users of the selection; compare with --baseline '{winner}'"
        )


class RunComparisons:
    """The algorithms of a run, compared by each metric when it is first needed.

    metrics   those with a value for each user, in the order of the study
    """

    def __init__(self, systems: Systems | None, settings: Settings) -> None:
        self.settings = settings
        self.metrics = systems.metrics if systems else ()
        self._systems = systems
        self.values = cache(self._values)
        self.of = cache(self._of)

    def _values(self, metric: str) -> pd.DataFrame:
        """Users x systems."""
        assert self._systems is not None
        return self._systems.values(metric)

    def _of(self, metric: str) -> Compared | None:
        """The comparison by one metric; None where fewer than two systems, or not the baseline, have values of it."""
        if metric not in self.metrics or self._systems is None:
            return None
        values, baseline = self.values(metric), self.settings.baseline
        if values.shape[1] < 2 or (baseline is not None and baseline not in values):
            return None
        return compare_systems(replace(self._systems, values=lambda _: values), metric, self.settings)


def run_comparisons(run: Run, settings: Settings | None = None) -> RunComparisons:
    """The comparisons of a run; a process computes each of them once."""
    return _run_comparisons(run, settings or Settings())


@lru_cache(maxsize=4)
def _run_comparisons(run: Run, settings: Settings) -> RunComparisons:
    has_users = any(measure.per_user for measure in run.measures)
    return RunComparisons(systems_of_run(run) if has_users else None, settings)
