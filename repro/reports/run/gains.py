"""Differences of all algorithms to a baseline by one metric, with the tests of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from repro.runs.comparison import run_comparisons
from repro.runs.run import Run
from repro.stats import Settings

_NAN = float("nan")


@dataclass(frozen=True)
class Gain:
    """The difference of one algorithm to the baseline; what is not tested is not a number."""

    difference: float
    relative: float
    low: float = _NAN
    high: float = _NAN
    p: float = _NAN
    verdict: str = "not tested"
    significant: bool = False


@dataclass(frozen=True)
class Gains:
    """The differences by one metric: of means over users if these are tested, otherwise of the numbers of the run."""

    metric: str
    better: str
    rows: Mapping[str, Gain]
    description: str
    is_tested: bool = False

    def verdict(self, label: str) -> Literal["gain", "loss", "none"]:
        """Whether an algorithm is better or worse than the baseline, or no difference is shown."""
        gain = self.rows[label]
        if not gain.significant or not gain.difference:
            return "none"
        return "gain" if (gain.difference > 0) == (self.better != "lower") else "loss"


def gains_of(run: Run, metric: str, baseline: str, untested: str = "") -> Gains | None:
    """The gains by ``metric``; None if the baseline, or every other algorithm, has no value of it.

    ``untested`` is why no test can be made at all.
    """
    values = run.table()[metric].dropna()
    if baseline not in values.index or len(values) < 2:
        return None
    better = run.better[metric]
    compared = None if untested else run_comparisons(run, Settings(baseline=baseline)).of(metric)
    if compared is None:
        base = float(values[baseline])
        differences = {str(label): float(value) - base for label, value in values.items() if label != baseline}
        rows = {label: Gain(gap, gap / abs(base) if base else _NAN) for label, gap in differences.items()}
        return Gains(metric, better, rows, f"not tested: {untested or 'there is no number for each user'}")
    pairs = compared.comparison.pairs
    columns = ["a", "difference", "relative", "low", "high", "p_corrected", "verdict", "significant"]
    rows = {label: Gain(*row) for label, *row in pairs[columns].itertuples(index=False)}
    order = [label for label in values.sort_values(ascending=better == "lower", kind="stable").index if label in rows]
    description = f"{compared.comparison.stated}; on each user's {metric}, means over users"
    return Gains(metric, better, {label: rows[label] for label in order}, description, is_tested=True)
