"""The differences between two runs, or between a run and a protocol, from decisions to numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from repro.explanations.interpolate import Change, changes
from repro.protocol import Protocol
from repro.runs.results_table import ALL_FOLDS
from repro.runs.run import Run
from repro.stats import CORRECTION, TEST, Settings, compare_matched
from repro.stats.corrections import correction
from repro.stats.equality import differences
from repro.stats.paired import named_test
from repro.stats.weakness import folds_caution

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True)
class Fact:
    """A difference that is not a decision: of the data, the environment or an algorithm."""

    about: str
    before: str
    after: str


@dataclass(frozen=True)
class NumberPair:
    """A metric of an algorithm in both runs, and its change for the users of both.

    higher, lower  the number of users with a higher or lower value; rounding errors are ignored
    quantiles      quantiles of the change of users
    p              the p-value of the paired test; NaN without pairs
    p_corrected    corrected for the family of comparisons: all algorithms of both runs by this metric
    verdict        the result in words
    caution        weaknesses of the test; empty if there are none
    """

    algorithm: str
    metric: str
    before: float
    after: float
    users: int = 0
    higher: int = 0
    lower: int = 0
    quantiles: Mapping[float, float] = field(default_factory=dict)
    p: float = float("nan")
    p_corrected: float = float("nan")
    verdict: str = ""
    caution: str = ""

    @property
    def change(self) -> float:
        return self.after - self.before

    @property
    def same(self) -> int:
        """The number of users with equal values."""
        return self.users - self.higher - self.lower


@dataclass(frozen=True)
class Difference:
    """All differences; ``numbers`` contains the metrics of both, whether or not they differ."""

    first: str
    second: str
    decisions: tuple[Change, ...]
    data: tuple[Fact, ...] = ()
    algorithms: tuple[Fact, ...] = ()
    environment: tuple[Fact, ...] = ()
    numbers: tuple[NumberPair, ...] = ()
    test: str = TEST
    correct: str = CORRECTION
    cautions: tuple[str, ...] = ()

    @property
    def stated(self) -> str:
        """The test, the family of comparisons, the correction and the level in words."""
        family = "all algorithms that are in both runs, by one metric"
        return f"{Settings(test=self.test, correct=self.correct).stated(family)}; of the users that are in both"

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON-compatible data."""
        return {
            "first": self.first,
            "second": self.second,
            "decisions": [change.to_dict() for change in self.decisions],
            "data": [asdict(fact) for fact in self.data],
            "algorithms": [asdict(fact) for fact in self.algorithms],
            "environment": [asdict(fact) for fact in self.environment],
            "test": self.test,
            "correct": self.correct,
            "stated": self.stated,
            "cautions": list(self.cautions),
            "numbers": [{**asdict(pair), "change": pair.change, "same": pair.same} for pair in self.numbers],
        }


def diff(first: str | Path, second: str | Path | Protocol, test: str = TEST, correct: str = CORRECTION) -> Difference:
    """Compare two run folders, or a run folder and a protocol (its name or its file).

    test, correct  the test of the changes of users and its correction, as in :func:`repro.stats.compare`

    >>> difference = repro.diff("run", "other-run")
    >>> [(change.decision, change.before, change.after) for change in difference.decisions]
    [('ties.break', 'item-asc', 'item-desc')]
    """
    run = Run(first)
    settings = Settings(test=named_test(test).name, correct=correction(correct).name)
    if isinstance(second, Protocol) or not Path(second).is_dir():
        protocol = second if isinstance(second, Protocol) else Protocol.load(second)
        return Difference(str(first), protocol.name or str(second), tuple(changes(run.protocol, protocol)))
    other = Run(second)
    folds = max(len(each.folds) for each in (run, other))
    return Difference(
        str(first),
        str(second),
        tuple(changes(run.protocol, other.protocol)),
        tuple(_facts(_data(run), _data(other))),
        tuple(_facts(_algorithms(run), _algorithms(other))),
        tuple(_facts(_environment(run), _environment(other))),
        tuple(_numbers(run, other, settings)),
        settings.test,
        settings.correct,
        folds_caution(folds),
    )


def _facts(first: Mapping[str, str], second: Mapping[str, str]) -> list[Fact]:
    keys = dict.fromkeys((*first, *second))
    return [Fact(key, first.get(key, "-"), second.get(key, "-")) for key in keys if first.get(key) != second.get(key)]


def _data(run: Run) -> dict[str, str]:
    facts: dict[str, str] = {}
    for event, state in ((run.loaded, "as loaded"), (run.prepared, "as prepared")):
        facts |= {f"{size}, {state}": f"{getattr(event, size):,}" for size in ("rows", "users", "items")}
        facts[f"digest, {state}"] = event.digest[:12]
    loaded = run.loaded
    facts["name"] = loaded.data
    facts |= {f"file of {decision}": digest[:12] for decision, digest in loaded.files.items()}
    for fold in run.folds:
        rows = f"{fold.train_rows:,} + {fold.test_rows:,} rows"
        facts[f"{fold.fold}, training + test"] = f"{rows} ({fold.train_digest[:6]} + {fold.test_digest[:6]})"
    return facts


def _algorithms(run: Run) -> dict[str, str]:
    facts: dict[str, str] = {}
    for event in run.journal.events("cell.started"):
        label = event.cell.rpartition("/")[0]
        facts[label] = event.algorithm
        facts[f"{label}, version"] = event.framework_version
        owner = event.cell if event.tuned else label  # tuned parameters may differ between folds
        facts |= {f"{owner}, {name}": str(value) for name, value in event.parameters.items()}
    return facts


def _environment(run: Run) -> dict[str, str]:
    event = run.started
    facts = {"seed": str(event.seed)}
    facts |= {name: str(version) for name, version in event.versions.items()}
    facts |= {f"machine, {name}": str(value) for name, value in event.machine.items()}
    for framework, packages in run.environments.items():
        for line in packages:
            package, equals, version = line.partition("==")
            if equals and package not in event.versions:
                facts[f"{package} ({framework})"] = version
    return facts


def _numbers(first: Run, second: Run, settings: Settings) -> list[NumberPair]:
    before, after = _values(first), _values(second)
    shared = [key for key in before if key in after]
    tested: dict[tuple[str, str], NumberPair] = {}
    for metric in dict.fromkeys(metric for _, metric in shared):
        labels = [label for label, name in shared if name == metric]
        users = {"second": _user_values(second, metric), "first": _user_values(first, metric)}
        joined = {
            label: pd.concat({run: values[label] for run, values in users.items()}, axis=1, join="inner").dropna()
            for label in labels
            if all(label in values for values in users.values())
        }
        paired = {label: table for label, table in joined.items() if len(table)}
        if not paired:
            continue
        tests = compare_matched(paired, replace(settings, better=first.better[metric]))
        for label, table in paired.items():
            row = tests.loc[label]
            change = differences(table["second"].to_numpy(), table["first"].to_numpy())
            tested[label, metric] = NumberPair(
                label,
                metric,
                before[label, metric],
                after[label, metric],
                users=len(change),
                higher=int((change > 0).sum()),
                lower=int((change < 0).sum()),
                quantiles={share: float(np.quantile(change, share)) for share in QUANTILES},
                p=float(row["p"]),
                p_corrected=float(row["p_corrected"]),
                verdict=str(row["verdict"]),
                caution=str(row["caution"]),
            )
    return [tested.get(key) or NumberPair(*key, before[key], after[key]) for key in shared]


def _values(run: Run) -> dict[tuple[str, str], float]:
    """The numbers of the run over all folds, by algorithm and metric."""
    frame = run.results[run.results["fold"] == ALL_FOLDS]
    return dict(zip(zip(frame["algorithm"], frame["metric"], strict=True), frame["value"].tolist(), strict=True))


def _user_values(run: Run, metric: str) -> dict[str, pd.Series[float]]:
    """The values of users by a metric for each algorithm; empty if the metric has no values of users."""
    measures = {run.metric_names[measure.full_name]: measure for measure in run.measures if measure.per_user}
    if metric not in measures:
        return {}
    groups = run.user_values(measures[metric]).groupby("algorithm", sort=False)
    return {str(label): rows.set_index("user")["value"] for label, rows in groups}
