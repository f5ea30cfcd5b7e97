"""A study: a question, as data, algorithms, a protocol and metrics."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Collection, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.data import Interactions, load_dataset
from repro.errors import ProtocolError, StudyError, nearest
from repro.evaluation.metrics import Measure, bearing, metrics, parse_measure, simple_measures
from repro.evaluation.ranking import refuse_rows
from repro.protocol import Protocol, flatten, line_of, toml_value
from repro.protocol.toml import Inline, parse_toml, write_toml
from repro.runs.journal import canonical_json
from repro.study.entry import read_entries, require_space
from repro.study.tuning.settings import names_of, read_tune, with_spaces

if TYPE_CHECKING:
    from repro.runs.run import Run

KEYS = ("question", "seed", "data", "protocol", "algorithms", "metrics", "tune")


class Study:
    """What is compared, on what, under which protocol, by which metrics.

    >>> study = repro.Study("ratings.csv", "random-5fold", ["reference/popularity"], ["ndcg@10"])
    >>> study.run("popularity-run").table()
    metric                 ndcg@10
    algorithm
    reference popularity  ...

    data        the name of a data set, the path of a file, a pandas frame, or Interactions
    protocol    the name of a protocol, the path of a file, or a Protocol
    algorithms  each "framework/algorithm", or a mapping with ``use``, ``label``, ``parameters``, ``seed`` and ``tune``;
                "*/algorithm" is that algorithm in every framework that has it and can run here; ``left_out``
                says which cannot, and what to do about it
    metrics     names such as "ndcg@10"
    seed        the one seed of all draws
    tune        how parameters are chosen on the validation part (:mod:`repro.study.tuning.settings`); a mapping with
                ``metric``, ``trials``, ``space`` and, if wanted, ``seconds`` and ``refit``
    """

    def __init__(
        self,
        data: str | Path | Interactions | Any,
        protocol: str | Path | Protocol,
        algorithms: Sequence[str | Mapping[str, Any]],
        metrics: Sequence[str],
        *,
        seed: int = 42,
        question: str = "",
        data_options: Mapping[str, Any] | None = None,
        folder: Path | None = None,
        tune: Mapping[str, Any] | None = None,
    ) -> None:
        self.data = data
        self.data_options = dict(data_options or {})
        self.protocol = protocol if isinstance(protocol, Protocol) else Protocol.load(protocol)
        self._algorithms = [algorithms] if isinstance(algorithms, str | Mapping) else algorithms
        self._tune = tune
        self.entries, self.left_out = read_entries(self._algorithms)
        absent = {use.removeprefix("*/") for use in self.left_out} - names_of(self.entries)
        self.tune = None if tune is None else read_tune(tune, self.protocol, absent)
        if self.tune is not None:
            self.entries = with_spaces(self.entries, self.tune)
        require_space(self.entries)
        self.metric_names = (metrics,) if isinstance(metrics, str) else tuple(metrics)
        self.measures = _measures(self.metric_names, self.protocol)
        if isinstance(seed, Integral) and not isinstance(seed, bool):
            seed = int(seed)  # NumPy's whole numbers too
        if type(seed) is not int or seed < 0:
            raise StudyError(f"seed = {seed!r} must be a whole number of at least 0")
        self.seed = seed
        self.question = question
        self.folder = folder or Path()

    @classmethod
    def load(cls, path: str | Path) -> Study:
        """Read a study from a TOML file; paths in it are found from its folder."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
            document = parse_toml(text)
        except OSError as error:
            raise StudyError(f"cannot read the study {path}: {error.strerror or error}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise StudyError(f"{path} is not valid TOML: {error}") from None
        return read_study(document, text, path)

    def with_protocol(self, protocol: Protocol) -> Study:
        """The same study under another protocol."""
        return Study(
            self.data,
            protocol,
            self._algorithms,
            self.metric_names,
            seed=self.seed,
            question=self.question,
            data_options=self.data_options,
            folder=self.folder,
            tune=self._tune,
        )

    def only(self, labels: Collection[str]) -> Study:
        """The same study with these algorithms alone."""
        entries = [entry for entry in self.entries if entry.label in labels]
        tuned = names_of([entry for entry in entries if entry.space])
        tune = None
        # Where nothing is left to tune, [tune] still says on what the algorithms are fitted.
        if self.tune is not None and (tuned or self.tune.refit != "train"):
            spaces = {name: space for name, space in self.tune.spaces.items() if name in tuned}
            tune = {**self.tune.describe(), "space": spaces}
        chosen = Study(
            self.data,
            self.protocol,
            [entry.document() for entry in entries],
            self.metric_names,
            seed=self.seed,
            question=self.question,
            data_options=self.data_options,
            folder=self.folder,
            tune=tune,
        )
        chosen.left_out = self.left_out
        return chosen

    def describe(self) -> dict[str, Any]:
        """The study as plain data, complete: what two studies with the same answer have in common.

        Of the protocol, that is what bears on the metrics that are asked for.
        """
        described: dict[str, Any] = {
            "question": self.question,
            "seed": self.seed,
            "data": self.data_name,
            "data_options": {
                key: toml_value(_in_order(value)) for key, value in self.data_options.items() if value is not None
            },
            "protocol": self.protocol.hash_of(self._bearing),
            "algorithms": [
                {"use": e.use, "label": e.label, "parameters": dict(e.parameters)}
                | ({} if e.seed is None else {"seed": e.seed})
                for e in self.entries
            ],
            "metrics": [measure.short_name for measure in self.measures],
        }
        if self.tune is not None:
            spaces = {
                e.label: {name: domain.plain() for name, domain in e.space.items()} for e in self.entries if e.space
            }
            described["tune"] = {**self.tune.describe(), "metric": self.tune.measure.short_name, "space": spaces}
        return described

    @property
    def _asked(self) -> list[Measure]:
        """The measures of the study, and the one that it tunes by."""
        return [*self.measures, *([] if self.tune is None else [self.tune.measure])]

    @property
    def _bearing(self) -> set[str]:
        """The decisions that bear on the numbers of the study, beside the variants that its metrics are named with.

        A name has them whether it states them or the protocol does, but not those of the metrics it is made of.
        """
        named = {key for measure in self._asked for key in measure.decisions}
        within = {
            key
            for measure in self._asked
            if measure.parts
            for part in simple_measures(measure.parts)
            for key in part.decisions
        }
        return set(bearing(self.protocol, self._asked)) - (named - within)

    @property
    def protocol_in_use(self) -> Protocol:
        """The protocol as a run records it: default variants of metrics that are not asked for are left out, so that
        the run can be read wherever those metrics are not installed."""
        used = {measure.metric.name for measure in (*self._asked, *simple_measures(self._asked))}
        others = (metric for name, metric in metrics().items() if name not in used)
        return self.protocol.without_defaults(variant.id for metric in others for variant in metric.variants)

    @property
    def digest(self) -> str:
        """SHA-256 of all that decides the answer, the data's own content aside."""
        return hashlib.sha256(canonical_json(self.describe())).hexdigest()

    @property
    def data_name(self) -> str:
        """How the data is called in the journal."""
        return str(self.data) if isinstance(self.data, str | Path) else "given in code"

    def interactions(self) -> Interactions:
        """The data, as it comes."""
        if isinstance(self.data, Interactions):
            return self.data
        if isinstance(self.data, str | Path):
            own = self.folder / self.data
            return load_dataset(own if own.is_file() else self.data, **self.data_options)
        if not hasattr(self.data, "columns"):
            raise StudyError(
                f"data is of type {type(self.data).__name__}; give the name of a data set, a path, a pandas frame "
                "or Interactions"
            )
        return Interactions.from_frame(self.data, **self.data_options)

    def run(self, into: str | Path | None = None, **options: Any) -> Run:
        """Run the study into the folder ``into``, by default a temporary one.

        The options are the fields of :class:`repro.study.RunOptions`. Suspicious numbers are in ``findings`` of the
        run, and give a warning (``ReproWarning``).
        """
        from repro.evaluation.suspicion import warn
        from repro.study.engine import RunOptions, run_study

        run = run_study(self, into, RunOptions(**options))
        warn(run.findings)
        return run

    def to_toml(self) -> str:
        """The study as a file that reads back; the protocol is in a file beside it."""
        options = {
            key: Inline(value) if isinstance(value, Mapping) else value for key, value in self.data_options.items()
        }
        return write_toml(
            {
                "question": self.question,
                "seed": self.seed,
                "metrics": [measure.full_name for measure in self.measures],
                "data": {"name": self.data_name, **options},
                "protocol": {"base": "protocol.toml"},
                "tune": None if self.tune is None else self.tune.document(),
                "algorithms": [entry.document() for entry in self.entries],
            }
        )


def read_study(document: Mapping[str, Any], text: str, path: Path) -> Study:
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
    metric_names = document["metrics"]
    if not isinstance(metric_names, list) or not all(isinstance(name, str) for name in metric_names):
        raise StudyError(f'{path}:{line_of(text, "metrics")}: metrics must be a list such as ["ndcg@10"]')
    algorithms = document["algorithms"]
    if not isinstance(algorithms, list):
        raise StudyError(f"{path}:{line_of(text, 'algorithms')}: write each algorithm as [[algorithms]]")
    return Study(
        data,
        stated_protocol(document["protocol"], text, path),
        algorithms,
        metric_names,
        seed=document.get("seed", 42),
        question=str(document.get("question", "")),
        data_options=options,
        folder=path.parent,
        tune=document.get("tune"),
    )


def stated_protocol(given: object, text: str, path: Path, table: str = "protocol") -> Protocol:
    """A protocol by name or file, or a table with ``base`` and the decisions that differ from it.

    ``text`` is that of the file at ``path``, which has it under the name ``table``.
    """
    if isinstance(given, str):
        given = {"base": given}
    if not isinstance(given, Mapping) or not isinstance(given.get("base"), str):
        where = f"{path}:{line_of(text, table)}"
        raise ProtocolError(f'{where}: the protocol needs a base: protocol = "random-5fold"')
    base = given["base"]
    beside = path.parent / base
    protocol = Protocol.load(beside if base.endswith(".toml") else base)
    changes = flatten({key: value for key, value in given.items() if key != "base"})
    origins = {key: f"{path}:{line_of(text, f'{table}.{key}')}" for key in changes}
    try:
        return protocol.replace(changes, origins, path.parent)
    except ProtocolError as error:
        raise ProtocolError(f"{path}, [{table}] on {base}:\n{error}") from None


def _measures(names: Sequence[str], protocol: Protocol) -> tuple[Measure, ...]:
    for name in names:
        if not isinstance(name, str):
            raise StudyError(f"a metric is text such as ndcg@10, not {name!r}")
    measures = [parse_measure(name, protocol, metrics()) for name in names]
    if not measures:
        raise StudyError(f"a study needs at least one metric, such as ndcg@10; metrics: {', '.join(metrics())}")
    if any(measure.metric.kind != "prediction" for measure in measures):
        refuse_rows(protocol)
    seen: set[str] = set()
    for measure in measures:
        if measure.full_name in seen:
            raise StudyError(f"metric {measure.full_name} is asked for twice")
        seen.add(measure.full_name)
    return tuple(measures)


def _in_order(value: object) -> object:
    """``value`` with the keys of all tables in it sorted: their order means nothing."""
    if isinstance(value, Mapping):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(inner) for inner in value] if isinstance(value, list | tuple) else value
