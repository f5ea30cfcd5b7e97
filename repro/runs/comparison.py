"""Compare the algorithms of a run, or systems in files of per-user values.

:func:`run_comparisons` compares the algorithms of a run, once for each metric. The report and the exports for papers
use it, and `repro compare` the same function, so that they cannot contradict each other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa

from repro.data.io.per_user_values import read_per_user_values
from repro.errors import DataError, StudyError, nearest
from repro.evaluation.metrics import Measure, metrics
from repro.stats import Comparison, Selection, Settings, comparison, select_settings
from repro.stats.weakness import folds_caution

if TYPE_CHECKING:
    from repro.runs.run import Run


@dataclass(frozen=True, eq=False)
class Systems:
    """Systems with per-user values, from a run or from files.

    source      their name in messages
    metrics     the names of the metrics, the first one the default
    values      of a metric: users x systems, empty where a system has no value of a user
    better      of a metric: "higher", "lower" or "neither"
    algorithms  the algorithm that each system is a setting of; empty where that is not known
    notes       of a metric: how its per-user values differ from the table
    cautions    why any test on these users is weak
    """

    source: str
    metrics: tuple[str, ...]
    values: Callable[[str], pd.DataFrame]
    better: Callable[[str], str]
    algorithms: Mapping[str, str] = field(default_factory=dict)
    notes: Callable[[str], tuple[str, ...]] = lambda _: ()
    cautions: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Compared:
    """A comparison by one metric, the settings that were chosen for it, all notes, and where it is weak."""

    metric: str
    better: str
    comparison: Comparison
    selection: Selection | None
    notes: tuple[str, ...]
    cautions: tuple[str, ...]


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


def systems_of_run(run: Run) -> Systems:
    """The algorithms of a run."""
    per_user = [run.metric_names[measure.full_name] for measure in run.measures if measure.per_user]
    if not per_user:
        raise StudyError(
            f"the metrics of the run in {run.folder} ({', '.join(run.metric_names.values())}) are about all users "
            "together; there is nothing to pair by user"
        )
    return Systems(
        source=f"the run in {run.folder}",
        metrics=tuple(per_user),
        values=lambda name: _wide(run.user_values(run.measure(name)), list(run.cells)),
        better=lambda name: run.measure(name).metric.better,
        algorithms=run.algorithms,
        notes=lambda name: _notes(run, run.measure(name)),
        cautions=folds_caution(len(run.folds)),
    )


def _notes(run: Run, measure: Measure) -> tuple[str, ...]:
    """Why the means over users differ from the numbers in the run's table, where they do."""
    over = run.protocol["average.over"]
    if measure.metric.kind == "prediction":
        over = measure.variants.get("average", "users")
    if measure.pooled:
        over = "pooled"
    reasons = [f"averages over {over}"] if over in ("lists", "ratings", "items") else []
    reasons += ["pools all users"] if over == "pooled" else []
    reasons += ["averages the folds' numbers"] if len(run.folds) > 1 else []
    if not reasons:
        return ()
    return (f"Each user counts once here; the run's own table {' and '.join(reasons)}, so its numbers may differ.",)


def _wide(long: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    wide = long.pivot(index="user", columns="algorithm", values="value")
    return wide[[label for label in order if label in wide.columns]]


def systems_of_files(paths: Sequence[str | Path]) -> Systems:
    """Systems in files with the columns user, metric and value, as `repro evaluate --per-user` writes them.

    A file is one system, with the name of the file, or several, named in a column ``run``.
    """
    frames: dict[str, pd.DataFrame] = {}
    protocols: dict[str, str] = {}
    for label, path in zip(_labels([Path(path) for path in paths]), paths, strict=True):
        table = read_per_user_values(path)
        protocols |= _protocol_of(table, label)
        for run, frame in _by_run(table, Path(path), label).items():
            if run in frames:
                raise StudyError(f"two of the files have a run '{run}'; give each run once")
            frames[run] = frame
    shared = [
        name
        for name in dict.fromkeys(next(iter(frames.values()))["metric"])
        if all((frame["metric"] == name).any() for frame in frames.values())
    ]
    if not shared:
        raise DataError(f"the files {', '.join(map(str, paths))} have no metric in common")

    def values(name: str) -> pd.DataFrame:
        if name not in shared:
            raise StudyError(f"the files have no metric '{name}'{nearest(name, shared)} Metrics: {', '.join(shared)}")
        columns = {label: frame[frame["metric"] == name].set_index("user")["value"] for label, frame in frames.items()}
        return pd.DataFrame(columns)

    notes = _mixed_protocols(protocols)
    return Systems("per-user files", tuple(shared), values, _better, notes=lambda _: notes)


def _protocol_of(table: pa.Table, label: str) -> dict[str, str]:
    """The protocol of the values of a file, if the file states it: Parquet files do."""
    attributes = json.loads((table.schema.metadata or {}).get(b"PANDAS_ATTRS", b"{}"))
    protocol = attributes.get("protocol") if isinstance(attributes, dict) else None
    if not isinstance(protocol, dict) or "hash" not in protocol:
        return {}
    return {label: f"{protocol.get('name') or 'the default'} ({protocol['hash'][:12]})"}


def _mixed_protocols(protocols: Mapping[str, str]) -> tuple[str, ...]:
    if len(set(protocols.values())) < 2:
        return ()
    listed = ", ".join(f"{label} under {protocol}" for label, protocol in protocols.items())
    return (
        f"The files were measured under different protocols: {listed}. What differs may be the protocol, not the "
        "systems; measure all of them under one.",
    )


def _labels(paths: list[Path]) -> list[str]:
    """Files by their names, or by their paths where names are the same."""
    names = [path.stem for path in paths]
    labels = [str(path) if names.count(path.stem) > 1 else path.stem for path in paths]
    for label in labels:
        if labels.count(label) > 1:
            raise StudyError(f"the file {label} is given twice")
    return labels


def _by_run(table: pa.Table, path: Path, label: str) -> dict[str, pd.DataFrame]:
    """The values in a file, by system: by its column ``run`` where it has one, otherwise all of them of ``label``."""
    frame: pd.DataFrame = table.to_pandas().astype({"user": str})  # 7 in one file and "7" in another are the same user
    if not pd.api.types.is_numeric_dtype(frame["value"]):
        raise DataError(f"{path}: the column 'value' must hold numbers")
    frame["run"] = frame["run"].astype(str) if "run" in frame else label
    twice = frame[frame.duplicated(["run", "user", "metric"])]
    if len(twice):
        first = twice.iloc[0]
        raise DataError(
            f"{path} has {first['metric']} of user {first['user']} twice (rows of this kind: {len(twice):,})"
        )
    return {str(run): part for run, part in frame.groupby("run", sort=False)}


def _better(name: str) -> str:
    """The better direction of the metric called ``name``, whatever its variants and cut-off."""
    plain = name.partition("[")[0].partition("@")[0].strip().lower()
    known = {alias: metric for metric in metrics().values() for alias in (metric.name, *metric.aliases)}
    if plain not in known:
        raise StudyError(
            f"there is no metric '{plain}'{nearest(plain, known)} Values of another kind can be compared in Python: "
            "repro.stats.compare(values, Settings(better=...))"
        )
    return known[plain].better
