"""Data frames of what can be named: in a study, a protocol or a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from repro.app import application
from repro.data import datasets as known_datasets
from repro.errors import PluginError, ProtocolError, nearest
from repro.evaluation.metrics import metrics as known_metrics
from repro.plugin import Algorithm, how_to_install
from repro.plugin import plugins as installed_plugins
from repro.plugin.api.canonical import CANONICAL
from repro.protocol import protocol_names, read_protocol, registry

RANKS_BY = {"ratings": "predicted ratings", "ranking": "scores for ranking", "unknown": "unknown"}
LOCATIONS = {"in-process": "in this process", "isolated": "in an environment of its own", "missing": "not installed"}

_ALGORITHM = ("algorithm", "framework", "called", "title", "ranks_by", "deterministic", "citation")
_PARAMETER = ("framework", "parameter", "default", "called", "meaning", "problem")
_DATASET = ("name", "title", "rows", "here", "checked", "home", "terms", "citation")
_DECISION = ("decision", "question", "default", "allowed", "citation")
_OPTION = ("decision", "value", "is_default", "meaning", "used_by", "applies_when", "citation")
_METRIC = ("metric", "title", "shows", "kind", "task", "cutoff", "better", "options", "aliases", "needs", "citation")
_PLUGIN = ("framework", "version", "summary", "runs", "algorithms", "install")
_PROTOCOL = ("protocol", "title", "source", "open", "hash")


def algorithms(name: str | None = None) -> pd.DataFrame:
    """The algorithms of all frameworks, or how each framework has the one with that ``name``.

    Without a name: a row for each algorithm of each framework, which a study uses as ``framework/algorithm``;
    ``called`` is the name that the framework itself gives it.

    With a name: a row for each framework and parameter, with its default and what the framework calls it; ``problem``
    says why a framework cannot express a parameter.

    >>> list(repro.algorithms().columns)
    ['algorithm', 'framework', 'called', 'title', 'ranks_by', 'deterministic', 'citation']
    >>> item_knn = repro.algorithms("item-knn")
    >>> item_knn[item_knn["framework"] == "reference"]["parameter"].tolist()[:3]
    ['k', 'similarity', 'center']
    """
    every = [
        (framework.name, algorithm)
        for framework in installed_plugins().frameworks.values()
        for algorithm in framework.algorithms
    ]
    if name is None:
        rows = [_algorithm(framework, algorithm) for framework, algorithm in every]
        order = {canonical: place for place, canonical in enumerate(CANONICAL)}
        rows.sort(key=lambda row: order.get(row["algorithm"], len(order)))
        return _frame(rows, _ALGORITHM)
    chosen = [(framework, algorithm) for framework, algorithm in every if algorithm.name == name]
    if not chosen:
        names = sorted({*CANONICAL, *(algorithm.name for _, algorithm in every)})
        raise PluginError(
            f"no framework here has an algorithm '{name}'{nearest(name, names)} `repro algorithms list` and "
            "repro.algorithms() list all"
        )
    return _frame((row for framework, algorithm in chosen for row in _parameters(framework, algorithm)), _PARAMETER)


def datasets() -> pd.DataFrame:
    """The data sets that are known by name; ``here`` says whether the files of one are on this machine.

    >>> repro.datasets().set_index("name").loc["ml-100k", "title"]
    'MovieLens 100K'
    """
    rows = []
    for dataset in known_datasets().values():
        fields = {name: getattr(dataset, name) for name in ("name", "title", "rows", "home", "terms", "citation")}
        checked = all(source.checked for source in dataset.sources)
        rows.append(fields | {"here": dataset.cached() is not None, "checked": checked})
    return _frame(rows, _DATASET).astype({"rows": "Int64"})


def decisions(name: str | None = None) -> pd.DataFrame:
    """The decisions of protocols, or the options of those with that ``name``: an id, or a family such as ``ties``.

    Without a name: a row for each decision, with its question, its default (None if a protocol must state it) and what
    is allowed. With a name: a row for each option, with its meaning and who uses it; a decision about a number or a
    file has one row, with what is allowed as its value.

    >>> repro.decisions("ties.break")["value"].tolist()[:2]
    ['item-asc', 'item-desc']
    """
    all_decisions = registry()
    if name is None:
        return _frame(
            (
                {
                    "decision": decision.id,
                    "question": decision.question,
                    "default": None if decision.required else decision.default,
                    "allowed": decision.allowed(),
                    "citation": decision.cite,
                }
                for decision in all_decisions.values()
            ),
            _DECISION,
        )
    # For an unknown name, the look-up raises an error that suggests the nearest name.
    chosen = all_decisions.family(name) or [all_decisions[name]]
    return options_of([decision.id for decision in chosen])


def options_of(ids: Iterable[str]) -> pd.DataFrame:
    """The options of these decisions: a row for each, or one for a decision about a number or a file."""
    rows: list[dict[str, Any]] = []
    for decision in map(registry().__getitem__, ids):
        conditions, options = [*map(str, decision.when)], decision.options
        if not options:
            row = {"value": decision.allowed(), "is_default": False, "meaning": decision.question}
            rows.append(row | {"decision": decision.id, "applies_when": " and ".join(conditions)})
        for option in options:
            rows.append(
                {
                    "decision": decision.id,
                    "value": option.value,
                    "is_default": not decision.required and option.value == decision.default,
                    "meaning": option.meaning,
                    "used_by": ", ".join(option.used_by),
                    "applies_when": " and ".join([*conditions, *map(str, option.when)]),
                    "citation": option.cite,
                }
            )
    return _frame(rows, _OPTION)


def metrics() -> pd.DataFrame:
    """The metrics, with what their names can state; :class:`repro.Metric` has all about one of them.

    >>> repro.metrics().set_index("metric").loc["ndcg", ["cutoff", "better"]].tolist()
    ['optional', 'higher']
    """
    rows = [
        {name: getattr(metric, name) for name in ("title", "kind", "shows", "cutoff", "better")}
        | {
            "metric": metric.name,
            "task": metric.task or "",
            "options": ", ".join(metric.variant_ids),
            "aliases": ", ".join(metric.aliases),
            "needs": ", ".join(metric.needs),
            "citation": metric.cite,
        }
        for metric in known_metrics().values()
    ]
    return _frame(rows, _METRIC)


def plugins() -> pd.DataFrame:
    """The frameworks that can be used here: version, where each runs, its algorithms, and how to install missing ones.

    A plug-in that cannot be used has a row that says so in ``runs``.

    >>> repro.plugins().set_index("framework").loc["reference", "runs"]
    'in this process'
    """
    installed = application().ask_plugins()
    rows = []
    for name in installed.frameworks:
        framework, location = installed.framework(name), installed.location(name)
        rows.append(
            {
                "framework": name,
                "version": framework.version,
                "summary": framework.summary,
                "runs": LOCATIONS[location],
                "algorithms": ", ".join(algorithm.name for algorithm in framework.algorithms),
                "install": how_to_install(framework) if location == "missing" else "",
            }
        )
    rows += [{"framework": name, "runs": f"broken: {reason}"} for name, reason in installed.broken.items()]
    return _frame(rows, _PLUGIN)


def protocols(group: str = "") -> pd.DataFrame:
    """The protocols that come with repro: those of the literature, or of a ``group`` such as ``inferred``.

    ``open`` has the decisions that the source of a protocol leaves open; ``repro.Protocol.load(name)`` reads one.

    >>> repro.protocols().set_index("protocol").loc["random-5fold", "title"]
    'Five random folds of the ratings, all items ranked'
    """
    groups = protocol_groups()
    if group not in groups:
        known = ", ".join(filter(None, groups)) or "none"
        raise ProtocolError(f"there is no group of protocols '{group}'{nearest(group, groups)} Groups: {known}")
    rows = []
    for protocol in map(read_protocol, groups[group]):
        fields = {name: getattr(protocol, name) for name in ("title", "source", "hash")}
        rows.append(fields | {"protocol": protocol.name, "open": ", ".join(protocol.open)})
    return _frame(rows, _PROTOCOL)


def protocol_groups() -> dict[str, list[str]]:
    """The names of protocols by the folder that they are in; those of the literature are in none."""
    groups: dict[str, list[str]] = {"": []}
    for name in protocol_names():
        groups.setdefault(name.rpartition("/")[0], []).append(name)
    return groups


def ranks_by(algorithm: Algorithm) -> str:
    """The kind of the scores of an algorithm, with its default parameters."""
    return RANKS_BY[algorithm.kind_of_scores({each.name: each.default for each in algorithm.parameters})]


def _algorithm(framework: str, algorithm: Algorithm) -> dict[str, Any]:
    canonical = CANONICAL.get(algorithm.name)
    return {
        "algorithm": algorithm.name,
        "framework": framework,
        "called": algorithm.own,
        "title": algorithm.summary or (canonical.title if canonical else ""),
        "ranks_by": ranks_by(algorithm),
        "deterministic": algorithm.deterministic,
        "citation": algorithm.cite or (canonical.cite if canonical else ""),
    }


def _parameters(framework: str, algorithm: Algorithm) -> Iterable[dict[str, Any]]:
    meanings = CANONICAL[algorithm.name].parameters if algorithm.name in CANONICAL else {}
    own = {parameter.name: parameter for parameter in algorithm.parameters}
    for name in dict.fromkeys([*meanings, *own]):
        if name not in own and name not in algorithm.unmapped:
            continue
        parameter = own.get(name)
        yield {
            "framework": framework,
            "parameter": name,
            "default": None if parameter is None else parameter.default,
            "called": algorithm.mapping.get(name, "" if parameter is None else name),
            "meaning": meanings.get(name, ""),
            "problem": algorithm.unmapped.get(name, ""),
        }


def _frame(rows: Iterable[Mapping[str, Any]], columns: tuple[str, ...]) -> pd.DataFrame:
    """The rows as a frame; text that a row lacks is empty, and mixed values stay what they are."""
    records = [{name: row.get(name, "") for name in columns} for row in rows]
    frame = pd.DataFrame(records, columns=list(columns))
    mixed = {name: object for name in ("default", "value") if name in columns}
    return frame.astype(mixed)
