"""Systems with a value for each user and metric: the algorithms of a run, or files and frames of per-user values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from repro.data.io.per_user_values import read_per_user_values, require_columns
from repro.errors import DataError, ProtocolError, StudyError, nearest
from repro.evaluation.metrics import Measure, metric_named, own_name
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
    """The reasons why the means over users differ from the numbers in the run's table, where they do."""
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
    return systems_of_tables(dict(zip(_labels([Path(path) for path in paths]), paths, strict=True)))


def systems_of_tables(tables: Mapping[str, Any]) -> Systems:
    """Systems in frames or files with the columns user, metric and value, each under its label.

    One with a column ``run`` has several systems, with the names in this column.
    """
    frames: dict[str, pd.DataFrame] = {}
    protocols: dict[str, str] = {}
    for label, given in tables.items():
        table, name = _read(given, label)
        if protocol := _protocol_of(table.attrs):
            protocols[label] = protocol
        for run, frame in _by_run(table, name, label).items():
            if run in frames:
                raise StudyError(f"there are two systems called '{run}'; give each of them once")
            frames[run] = frame
    if not frames:
        raise StudyError("no per-user values are given; `repro evaluate --per-user` and repro.evaluate make them")
    shared = [
        name
        for name in dict.fromkeys(next(iter(frames.values()))["metric"])
        if all((frame["metric"] == name).any() for frame in frames.values())
    ]
    if not shared:
        raise DataError(f"{', '.join(map(str, tables))} have no metric in common")

    def values(name: str) -> pd.DataFrame:
        if name not in shared:
            name = next((other for other in shared if _own_name(other) == _own_name(name)), name)
        if name not in shared:
            raise StudyError(f"the values have no metric '{name}'{nearest(name, shared)} Metrics: {', '.join(shared)}")
        columns = {label: frame[frame["metric"] == name].set_index("user")["value"] for label, frame in frames.items()}
        return pd.DataFrame(columns)

    notes = _mixed_protocols(protocols)
    return Systems("per-user values", tuple(shared), values, _better, notes=lambda _: notes)


def _read(given: Any, label: str) -> tuple[pd.DataFrame, str]:
    """A file or a frame of per-user values, and its name in messages."""
    if isinstance(given, str | Path):
        table = read_per_user_values(given)
        frame: pd.DataFrame = table.to_pandas()
        frame.attrs.update(_attributes(table))
        return frame, str(given)
    frame = given.to_pandas() if hasattr(given, "to_pandas") else given
    if not isinstance(frame, pd.DataFrame):
        raise StudyError(f"'{label}' is of type {type(given).__name__}; give a file or a frame of per-user values")
    require_columns(list(frame.columns), f"'{label}'")
    return frame, f"'{label}'"


def _attributes(table: pa.Table) -> dict[str, Any]:
    """The attributes that pandas stored with a frame when it wrote a Parquet file."""
    attributes = json.loads((table.schema.metadata or {}).get(b"PANDAS_ATTRS", b"{}"))
    return attributes if isinstance(attributes, dict) else {}


def _protocol_of(attributes: Mapping[Any, Any]) -> str:
    """The protocol of values, if they state it: frames of `repro.evaluate` and its Parquet files do."""
    protocol = attributes.get("protocol")
    if not isinstance(protocol, dict) or "hash" not in protocol:
        return ""
    return f"{protocol.get('name') or 'the default'} ({protocol['hash'][:12]})"


def _mixed_protocols(protocols: Mapping[str, str]) -> tuple[str, ...]:
    if len(set(protocols.values())) < 2:
        return ()
    listed = ", ".join(f"{label} under {protocol}" for label, protocol in protocols.items())
    return (
        f"The values were measured under different protocols: {listed}. What differs may be the protocol, not the "
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


def _by_run(table: pd.DataFrame, name: str, label: str) -> dict[str, pd.DataFrame]:
    """The values in a table, by system: by its column ``run`` where it has one, otherwise all of them of ``label``."""
    frame = table.astype({"user": str})  # 7 in one file and "7" in another are the same user
    if not pd.api.types.is_numeric_dtype(frame["value"]):
        raise DataError(f"{name}: the column 'value' must hold numbers")
    frame["run"] = frame["run"].astype(str) if "run" in frame else label
    twice = frame[frame.duplicated(["run", "user", "metric"])]
    if len(twice):
        first = twice.iloc[0]
        raise DataError(
            f"{name} has {first['metric']} of user {first['user']} twice (rows of this kind: {len(twice):,})"
        )
    return {str(run): part for run, part in frame.groupby("run", sort=False)}


def _own_name(name: str) -> str:
    """The name that the suite gives to a metric; an unknown one keeps its name."""
    try:
        return own_name(name)
    except ProtocolError:
        return name.strip()


def _better(name: str) -> str:
    """The better direction of the metric called ``name``, whatever its variants and cut-off."""
    try:
        return metric_named(own_name(name).partition("[")[0].partition("@")[0]).better
    except ProtocolError as error:
        raise StudyError(
            f"{error} Values of another kind can be compared in Python: "
            "repro.stats.compare(values, Settings(better=...))"
        ) from None
