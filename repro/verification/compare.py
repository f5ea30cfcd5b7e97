"""Compare two runs of one study number by number: identical, within a tolerance, or different."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from repro.data.io.parquet import read_parquet
from repro.errors import StudyError, nearest
from repro.runs.results_table import ALL_FOLDS
from repro.runs.run import Run
from repro.verification.cells import same_number
from repro.verification.distances import effects, order_distances, rmse
from repro.verification.finding import TOLERANCE

if TYPE_CHECKING:
    from repro.study.progress import Watcher

Verdict = Literal["identical", "within tolerance", "different"]


@dataclass(frozen=True)
class RefitOptions:
    """Options for fitting a run again, and for comparing its numbers with those of the original.

    data        where the data of the run is, if it is no longer where the run found it
    algorithms  the labels of those that are fitted again; all of them by default
    tolerance   the share of the original by which a number may be off
    baseline    the algorithm that effect ratios are about; the first one by default
    workers     cells are fitted in that many processes
    time_limit  how many seconds a framework in a process of its own may take to fit, or to score a block
    watcher     receives progress events
    models      the models that were given in Python, by label: a run folder has no code
    """

    data: object = None
    algorithms: Sequence[str] | None = None
    tolerance: float = TOLERANCE
    baseline: str | None = None
    workers: int = 1
    time_limit: float | None = None
    watcher: Watcher | None = None
    models: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Number:
    """One number of a table, then and now.

    differing  the users whose own numbers differ, of all folds together
    rmse       root mean square error of the users' numbers
    er, dri    effect ratio and delta relative improvement over the baseline
    """

    algorithm: str
    fold: str
    metric: str
    before: float
    after: float
    users_before: int
    users_after: int
    verdict: Verdict
    differing: tuple[str, ...] = ()
    rmse: float = math.nan
    er: float = math.nan
    dri: float = math.nan


@dataclass(frozen=True)
class Order:
    """The lists of an algorithm, then and now: whether all are the same, Kendall's tau union, rank-biased overlap."""

    same: bool
    ktu: float
    rbo: float


@dataclass
class Comparison:
    """All numbers of two runs; ``tolerance`` is the share of the original by which a number may be off.

    notes  further facts: versions that differ, cells that failed
    """

    tolerance: float
    baseline: str
    numbers: list[Number] = field(default_factory=list)
    orders: dict[str, Order] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def together(self) -> list[Number]:
        """The numbers of all folds together: those of the table that people read."""
        return [number for number in self.numbers if number.fold == ALL_FOLDS]

    @property
    def reproduced(self) -> bool:
        """Whether no number is further off than the tolerance."""
        return not any(number.verdict == "different" for number in self.numbers)

    @property
    def summary(self) -> str:
        """The verdict in one line."""
        counts = dict.fromkeys(("identical", "within tolerance", "different"), 0)
        for number in self.together or self.numbers:
            counts[number.verdict] += 1
        verdicts = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items() if count)
        total = len(self.together or self.numbers)
        return f"{total:,} numbers: {verdicts or 'none'} (tolerance {self.tolerance:g} of the original)"

    def __str__(self) -> str:
        lines = [self.summary]
        for number in self.together or self.numbers:
            if number.verdict != "identical":
                change = f"{number.before!r} then, {number.after!r} now: {number.verdict}"
                lines.append(f"  {number.algorithm}, {number.metric}: {change}")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data, for scripts."""
        return {
            "summary": self.summary,
            "reproduced": self.reproduced,
            "tolerance": self.tolerance,
            "baseline": self.baseline,
            "numbers": [asdict(number) for number in self.numbers],
            "lists": {label: asdict(order) for label, order in self.orders.items()},
            "notes": list(self.notes),
        }


def compare_runs(
    before: Run,
    after: Run,
    tolerance: float = TOLERANCE,
    baseline: str | None = None,
    algorithms: Sequence[str] | None = None,
) -> Comparison:
    """The numbers of ``after`` against those of ``before``, for all algorithms or some.

    The baseline of effect ratios is an algorithm of the study, its first one by default.
    """
    labels = [label for label in before.algorithms if algorithms is None or label in algorithms]
    base = baseline or next(iter(labels), "")
    if base and base not in before.algorithms:
        raise StudyError(
            f"there is no algorithm '{base}' to be the baseline{nearest(base, before.algorithms)} "
            f"There are: {', '.join(before.algorithms)}"
        )
    comparison = Comparison(tolerance, base)
    for label in labels:
        if order := _order(before, after, label):
            comparison.orders[label] = order
    user_values = [_users(run) for run in (before, after)]
    table = _rows(before).merge(_rows(after), on=["algorithm", "fold", "measure"], how="left", suffixes=("", "_after"))
    for row in table[table["algorithm"].isin(labels)].to_dict(orient="records"):
        comparison.numbers.append(_number(row, user_values, base, tolerance))
    return comparison


UserValues = dict[tuple[str, str], dict[str, float]]


def _number(row: dict[Any, Any], user_values: Sequence[UserValues], base: str, tolerance: float) -> Number:
    then, now = float(row["value"]), float(row["value_after"])
    users = [0 if pd.isna(row[name]) else int(row[name]) for name in ("users", "users_after")]
    lost = pd.isna(row["users_after"])
    key = (row["algorithm"], row["measure"])
    own_values = [table.get(key, {}) if row["fold"] == ALL_FOLDS else {} for table in user_values]
    differing = tuple(
        user
        for user in dict.fromkeys([*own_values[0], *own_values[1]])
        if not same_number(own_values[0].get(user, math.inf), own_values[1].get(user, math.inf))
    )
    verdict: Verdict = "different"
    if not lost and same_number(then, now) and users[0] == users[1] and not differing:
        verdict = "identical"
    elif abs(now - then) <= tolerance * abs(then):
        verdict = "within tolerance"
    bases = [table.get((base, row["measure"]), {}) for table in user_values]
    distances = _distances(own_values, bases, bool(differing), key[0] == base)
    labels = (row["algorithm"], row["fold"], row["metric"])
    return Number(*labels, then, now, users[0], users[1], verdict, differing, *distances)


def _distances(
    own_values: Sequence[dict[str, float]], bases: Sequence[dict[str, float]], differ: bool, is_base: bool
) -> tuple[float, float, float]:
    """RMSE, effect ratio and delta relative improvement over the users who have a value in all runs."""
    before, after = own_values
    both = [user for user in before if user in after and before[user] == before[user] and after[user] == after[user]]
    if not both:
        return math.nan, math.nan, math.nan
    error = rmse({user: before[user] for user in both}, {user: after[user] for user in both}) if differ else 0.0
    common = [user for user in both if all(user in base and base[user] == base[user] for base in bases)]
    if is_base or not common:
        return error, math.nan, math.nan
    if not differ and bases[0] == bases[1]:
        gap = math.fsum(before[user] - bases[0][user] for user in common)
        return error, 1.0 if gap else math.nan, 0.0
    picked = [{user: scores[user] for user in common} for scores in (before, bases[0], after, bases[1])]
    return (error, *effects(*picked))


def _rows(run: Run) -> pd.DataFrame:
    return run.results[["algorithm", "fold", "metric", "measure", "value", "users"]]


def _users(run: Run) -> UserValues:
    """Each user's number, by algorithm and measure."""
    by_algorithm: UserValues = {}
    for measure in run.measures:
        if not measure.per_user:
            continue
        frame = run.user_values(measure)
        for label, rows in frame.groupby("algorithm", sort=False):
            values = zip(rows["user"].map(str), rows["value"].tolist(), strict=True)
            by_algorithm[str(label), measure.full_name] = dict(values)
    return by_algorithm


def _order(before: Run, after: Run, label: str) -> Order | None:
    """The lists of an algorithm over all folds; None where it has none."""
    same, taus, overlaps = True, [], []
    for fold, cell in before.cells.get(label, {}).items():
        other = after.cells.get(label, {}).get(fold)
        if "lists" not in cell.artifacts or other is None or "lists" not in other.artifacts:
            return None
        if cell.artifacts["lists"] == other.artifacts["lists"]:
            taus.append(1.0)
            overlaps.append(1.0)
            continue
        same = False
        lists = (read_parquet(run.stored(event, "lists")) for run, event in ((before, cell), (after, other)))
        tau, overlap = order_distances(*(table.to_pandas() for table in lists))
        taus.append(tau)
        overlaps.append(overlap)
    if not taus:
        return None
    return Order(same, math.fsum(taus) / len(taus), math.fsum(overlaps) / len(overlaps))
