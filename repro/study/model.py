"""A study: data, algorithms, a protocol and metrics that answer a question."""

from __future__ import annotations

import hashlib
import tomllib
import warnings
from collections.abc import Collection, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from repro.data import Interactions, load_dataset
from repro.errors import ProtocolError, ReproWarning, StudyError, nearest
from repro.evaluation.blocks import BLOCK_USERS
from repro.evaluation.metrics import Measure, bearing, metrics, parse_measure, simple_measures
from repro.evaluation.ranking import refuse_rows
from repro.extras import missing
from repro.models import as_tables
from repro.progress import Shown, progress_reporter
from repro.protocol import Protocol, flatten, line_of, toml_value
from repro.protocol.toml import Inline, parse_toml, write_toml
from repro.runs.journal import canonical_json
from repro.study.entry import label_of, read_entries, require_space
from repro.study.metric_lists import EXAMPLE, StatedMetrics, expanded_metrics
from repro.study.tuning.settings import names_of, read_tuning, with_search_spaces
from repro.text import as_page

if TYPE_CHECKING:
    from repro.runs.run import Run

GIVEN_IN_CODE = "given in code"
KEYS = ("question", "seed", "data", "protocol", "algorithms", "metrics", "tune", "baseline")
_SHOWN = 10  # algorithms in the text of a study


class Study:
    """A comparison of algorithms on a data set, under a protocol, by metrics.

    >>> study = repro.Study("ratings.csv", "random-5fold", ["reference/popularity"], ["ndcg@10"])
    >>> study.run("popularity-run").table()
    metric                 ndcg@10
    algorithm
    reference popularity  ...

    data        the name of a data set, the path of a file, a pandas frame, or Interactions
    protocol    the name of a protocol, the path of a file, or a Protocol
    algorithms  each "framework/algorithm", a model, a function or a matrix of scores (:mod:`repro.models`), these
                as ``("label", model)``, or a mapping with ``use``, ``label``, ``parameters``, ``seed`` and ``tune``;
                "*/algorithm" is that algorithm in every framework that has it and can run here; ``left_out``
                has the others, and what to do about them
    metrics     names such as "ndcg@10", or :class:`repro.Metric`; {"names": ["ndcg", "precision"], "at": [5, 10]} is
                every name with every cut-off (:func:`repro.study.metric_lists.expanded_metrics`)
    seed        the one seed of all draws
    tune        how parameters are chosen on the validation part (:mod:`repro.study.tuning.settings`); a mapping with
                ``metric``, ``trials``, ``space`` and, optionally, ``seconds``
    baseline    the algorithm that the others are to be better than: its label, or its name where one entry has it
    models      models by label, where ``algorithms`` are those of a file, which has records of them only
    """

    def __init__(
        self,
        data: str | Path | Interactions | Any,
        protocol: str | Path | Protocol,
        algorithms: Any,
        metrics: StatedMetrics,
        *,
        seed: int = 42,
        question: str = "",
        data_options: Mapping[str, Any] | None = None,
        folder: Path | None = None,
        tune: Mapping[str, Any] | None = None,
        baseline: str | None = None,
        models: Mapping[str, Any] | None = None,
    ) -> None:
        self.data = data
        self.data_options = dict(data_options or {})
        if isinstance(data, Interactions) and data.origin is not None and not self.data_options:
            self.data_options = dict(data.origin.options)
        self.protocol = protocol if isinstance(protocol, Protocol) else Protocol.load(protocol)
        self._algorithms = as_tables(algorithms)
        self._models = models
        self._tune = tune
        self.entries, self.left_out = read_entries(self._algorithms, models)
        unavailable = {use.removeprefix("*/") for use in self.left_out} - names_of(self.entries)
        self.tune = None if tune is None else read_tuning(tune, self.protocol, unavailable)
        if self.tune is not None:
            self.entries = with_search_spaces(self.entries, self.tune)
        require_space(self.entries)
        self.baseline = None if baseline is None else label_of(baseline, self.entries)
        self.metric_names = expanded_metrics(metrics)
        self.measures = _measures(self.metric_names, self.protocol)
        if isinstance(seed, Integral) and not isinstance(seed, bool):
            seed = int(seed)  # NumPy's whole numbers too
        if type(seed) is not int or seed < 0:
            raise StudyError(f"seed = {seed!r} must be a whole number of at least 0")
        self.seed = seed
        self.question = question
        self.folder = folder or Path()

    @classmethod
    def load(cls, path: str | Path, models: Mapping[str, Any] | None = None) -> Study:
        """Read a study from a TOML file; paths in it are relative to its folder.

        A file has no code: of models that were given in Python it has records, and ``models`` has the models
        themselves, by label. Without them, the study can be read and not be run.
        """
        path = Path(path)
        text, document = read_toml(path, "study")
        return read_study(document, text, path, models)

    def with_protocol(self, protocol: Protocol) -> Study:
        """The same study under another protocol."""
        return self._changed(protocol=protocol)

    def only(self, labels: Collection[str]) -> Study:
        """The same study with these algorithms alone."""
        entries = [entry for entry in self.entries if entry.label in labels]
        tuned = names_of([entry for entry in entries if entry.space])
        tune = None
        if self.tune is not None and tuned:
            spaces = {name: space for name, space in self.tune.spaces.items() if name in tuned}
            tune = {**self.tune.describe(), "space": spaces}
        baseline = self.baseline if self.baseline in labels else None
        selected = self._changed(algorithms=[entry.table() for entry in entries], tune=tune, baseline=baseline)
        selected.left_out = self.left_out
        return selected

    def _changed(self, **changes: Any) -> Study:
        """A study with other arguments of the constructor, and otherwise those of this one."""
        arguments: dict[str, Any] = {
            "data": self.data,
            "protocol": self.protocol,
            "algorithms": self._algorithms,
            "metrics": self.metric_names,
            "seed": self.seed,
            "question": self.question,
            "data_options": self.data_options,
            "folder": self.folder,
            "tune": self._tune,
            "baseline": self.baseline,
            "models": self._models,
        }
        return Study(**(arguments | changes))

    def describe(self) -> dict[str, Any]:
        """Everything that decides the answer of the study, as plain data; of the protocol, what affects its metrics."""
        described: dict[str, Any] = {
            "question": self.question,
            "seed": self.seed,
            "data": self.data_name,
            "data_options": {
                key: toml_value(_sorted_keys(value)) for key, value in self.data_options.items() if value is not None
            },
            "protocol": self.protocol.hash_of(self._decisive),
            "algorithms": [
                {"use": e.use, "label": e.label, "parameters": dict(e.parameters)}
                | ({} if e.seed is None else {"seed": e.seed})
                | ({} if e.given is None else {"code": e.given.record()})
                for e in self.entries
            ],
            "metrics": [measure.short_name for measure in self.measures],
        }
        if self.tune is not None:
            spaces = {
                e.label: {name: domain.plain() for name, domain in e.space.items()} for e in self.entries if e.space
            }
            described["tune"] = {**self.tune.describe(), "metric": self.tune.measure.short_name, "space": spaces}
        if self.baseline is not None:
            described["baseline"] = self.baseline
        return described

    @property
    def _all_measures(self) -> list[Measure]:
        """The measures of the study, and the one of tuning."""
        return [*self.measures, *([] if self.tune is None else [self.tune.measure])]

    @property
    def _decisive(self) -> set[str]:
        """The decisions that affect the numbers of the study, except the variants in the names of its metrics.

        A name has the variants of its metric, but not those of the metrics that it combines.
        """
        named = {key for measure in self._all_measures for key in measure.decisions}
        within = {
            key
            for measure in self._all_measures
            if measure.parts
            for part in simple_measures(measure.parts)
            for key in part.decisions
        }
        return set(bearing(self.protocol, self._all_measures)) - (named - within)

    @property
    def protocol_in_use(self) -> Protocol:
        """The protocol as a run records it: without the default variants of metrics that the study does not use, so
        that the run can be read where those metrics are not installed."""
        used = {measure.metric.name for measure in (*self._all_measures, *simple_measures(self._all_measures))}
        unused = (metric for name, metric in metrics().items() if name not in used)
        return self.protocol.without_defaults(variant.id for metric in unused for variant in metric.variants)

    @property
    def digest(self) -> str:
        """SHA-256 of everything that decides the answer, except the content of the data."""
        return hashlib.sha256(canonical_json(self.describe())).hexdigest()

    @property
    def data_name(self) -> str:
        """The name of the data in the journal."""
        if isinstance(self.data, Interactions) and self.data.origin is not None:
            return self.data.origin.name
        return str(self.data) if isinstance(self.data, str | Path) else GIVEN_IN_CODE

    def interactions(self) -> Interactions:
        """The data, before it is prepared."""
        if isinstance(self.data, Interactions):
            return self.data
        if isinstance(self.data, str | Path):
            path = self.folder / self.data
            return load_dataset(path if path.is_file() else self.data, **self.data_options)
        return Interactions.from_frame(self.data, **self.data_options)

    def text_ids(self, rows: Interactions) -> frozenset[str]:
        """The roles (user, item) whose ids are text in the given frame, although they are whole numbers in ``rows``:
        models that are given in Python get them as text."""
        if not isinstance(self.data, pd.DataFrame):
            return frozenset()
        names = {"user": "user", "item": "item"} | dict(self.data_options.get("columns") or {})
        return frozenset(
            role
            for role, ids in (("user", rows.user_ids), ("item", rows.item_ids))
            if ids.dtype.kind == "i" and pd.api.types.infer_dtype(self.data[names[role]]) == "string"
        )

    # Whether a run into a stated folder writes its report, where the caller does not say.
    writes_report = True

    def run(
        self,
        into: str | Path | None = None,
        *,
        workers: int | None = None,
        executor: str = "local",
        address: str | None = None,
        block_users: int = BLOCK_USERS,
        time_limit: float | None = None,
        keep_scores: bool = False,
        cell_seconds: float | None = None,
        drop: Collection[str] = (),
        only: Collection[str] = (),
        resume: bool = False,
        fresh: bool = False,
        report: bool | None = None,
        progress: Shown = True,
    ) -> Run:
        """Run the study; none of the options changes a number.

        into         the folder of the run, by default a temporary one
        workers      the number of processes that run cells: by default this one, or all cores of a cluster
        executor     "local", or "ray": cells run on a Ray cluster, and this process only writes the folder
        address      of the cluster: "auto" (the one that runs on this machine), "ray://host:port", "host:port", "local"
        block_users  users are ranked and measured in blocks of about this many
        time_limit   how many seconds a framework in a separate process may take to fit, or to score a block
        keep_scores  keep the scores of all test users for all items, for ``repro.explain`` and ``repro.multiverse``
        cell_seconds how long a cell may take; one that takes longer is stopped and fails, and the run goes on
        drop, only   labels of algorithms to go on without, or of the only ones to run; the results leave out the others
        resume       finish an interrupted run in the folder; start one where there is none
        fresh        replace a run that is in the folder
        report       whether to write report.html, as `repro run` does: by default where ``into`` is stated
        progress     whether to show the progress, or a function that receives it (:mod:`repro.progress`)

        Returns the :class:`repro.Run`. Suspicious numbers are in ``run.findings``, and raise a warning
        (``ReproWarning``).
        """
        from repro.evaluation.suspicion import warn
        from repro.study.engine import RunOptions, run_study
        from repro.study.progress import watching

        with progress_reporter(progress) as report_progress:
            options = RunOptions(
                workers=workers,
                executor=executor,
                address=address,
                block_users=block_users,
                time_limit=time_limit,
                keep_scores=keep_scores,
                cell_seconds=cell_seconds,
                drop=drop,
                only=only,
                resume=resume,
                fresh=fresh,
                watcher=watching(report_progress),
            )
            run = run_study(self, into, options)
        warn(run.findings)
        if report is None and into is not None and self.writes_report:
            if lacking := missing("report", "The report of a run"):
                warnings.warn(lacking, ReproWarning, stacklevel=2)
            report = not lacking
        if report:
            run.report()
        return run

    def __repr__(self) -> str:
        labels = [entry.label for entry in self.entries]
        more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
        return "\n".join(
            [
                f"Study{f': {self.question}' if self.question else ''}",
                f"  data        {self.data_name}",
                f"  protocol    {self.protocol.name or 'without a name'} (hash {self.protocol.hash[:12]})",
                f"  algorithms  {', '.join(labels[:_SHOWN])}{more}",
                f"  metrics     {', '.join(measure.name for measure in self.measures)}",
                f"  seed        {self.seed}",
                *(f"  left out    {reason}" for reason in dict.fromkeys(self.left_out.values())),
            ]
        )

    def _repr_html_(self) -> str:
        return as_page(repr(self))

    def to_toml(self) -> str:
        """The study as the text of a file; the protocol is in another file, ``protocol.toml``."""
        options = {
            key: Inline(value) if isinstance(value, Mapping) else value for key, value in self.data_options.items()
        }
        return write_toml(
            {
                "question": self.question,
                "seed": self.seed,
                "baseline": self.baseline,
                "metrics": [measure.full_name for measure in self.measures],
                "data": {"name": self.data_name, **options},
                "protocol": {"base": "protocol.toml"},
                "tune": None if self.tune is None else self.tune.document(),
                "algorithms": [entry.document() for entry in self.entries],
            }
        )


def read_toml(path: Path, noun: str) -> tuple[str, dict[str, Any]]:
    """The text of a TOML file and its document; ``noun`` names the kind of file in messages."""
    try:
        text = path.read_text(encoding="utf-8")
        return text, parse_toml(text)
    except OSError as error:
        raise StudyError(f"cannot read the {noun} {path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} is not valid TOML: {error}") from None


def read_study(document: Mapping[str, Any], text: str, path: Path, models: Mapping[str, Any] | None = None) -> Study:
    """The study in a parsed TOML ``document``; ``text`` and ``path`` are for messages and relative paths."""
    for key in document:
        if key not in KEYS:
            raise StudyError(f"{path}:{line_of(text, key)}: unknown key '{key}'{nearest(key, KEYS)}")
    for key in ("data", "protocol", "algorithms", "metrics"):
        if key not in document:
            raise StudyError(f"{path} has no '{key}'; a study needs data, protocol, algorithms and metrics")
    data = document["data"]
    options: dict[str, Any] = {}
    if isinstance(data, Mapping):
        options = {key: value for key, value in data.items() if key != "name"}
        data = data.get("name")
    if not isinstance(data, str):
        raise StudyError(f'{path}:{line_of(text, "data")}: data needs the name of a data set: data = "ml-100k"')
    stated_metrics = document["metrics"]
    parts = stated_metrics if isinstance(stated_metrics, list) else [stated_metrics]
    if isinstance(stated_metrics, str) or not all(isinstance(part, str | Mapping) for part in parts):
        where = f"{path}:{line_of(text, 'metrics')}"
        raise StudyError(f'{where}: metrics must be a list such as ["ndcg@10"], or a table: {EXAMPLE}')
    algorithms = document["algorithms"]
    if not isinstance(algorithms, list):
        raise StudyError(f"{path}:{line_of(text, 'algorithms')}: write each algorithm as [[algorithms]]")
    return Study(
        data,
        stated_protocol(document["protocol"], text, path),
        algorithms,
        stated_metrics,
        seed=document.get("seed", 42),
        question=str(document.get("question", "")),
        data_options=options,
        folder=path.parent,
        tune=document.get("tune"),
        baseline=document.get("baseline"),
        models=models,
    )


def stated_protocol(protocol: object, text: str, path: Path, table: str = "protocol") -> Protocol:
    """A protocol by name or file, or a table with ``base`` and the decisions that differ from it.

    ``text`` is that of the file at ``path``, which has it under the name ``table``.
    """
    if isinstance(protocol, str):
        protocol = {"base": protocol}
    if not isinstance(protocol, Mapping) or not isinstance(protocol.get("base"), str):
        where = f"{path}:{line_of(text, table)}"
        raise ProtocolError(f'{where}: the protocol needs a base: protocol = "random-5fold"')
    name = protocol["base"]
    base = Protocol.load(path.parent / name if name.endswith(".toml") else name)
    changes = flatten({key: value for key, value in protocol.items() if key != "base"})
    origins = {key: f"{path}:{line_of(text, f'{table}.{key}')}" for key in changes}
    try:
        return base.replace(changes, origins, path.parent)
    except ProtocolError as error:
        raise ProtocolError(f"{path}, [{table}] on {name}:\n{error}") from None


def _measures(names: Sequence[str], protocol: Protocol) -> tuple[Measure, ...]:
    measures = [parse_measure(name, protocol, metrics()) for name in names]
    if not measures:
        raise StudyError(f"a study needs at least one metric, such as ndcg@10; metrics: {', '.join(metrics())}")
    if any(measure.metric.kind != "prediction" for measure in measures):
        refuse_rows(protocol)
    full_names = [measure.full_name for measure in measures]
    for name in full_names:
        if full_names.count(name) > 1:
            raise StudyError(f"metric {name} is asked for twice")
    return tuple(measures)


def _sorted_keys(value: object) -> object:
    """``value`` with the keys of all tables in it sorted, because their order has no meaning."""
    if isinstance(value, Mapping):
        return {key: _sorted_keys(value[key]) for key in sorted(value)}
    return [_sorted_keys(inner) for inner in value] if isinstance(value, list | tuple) else value
