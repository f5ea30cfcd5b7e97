"""The algorithms of a study: in which frameworks they run, and with which parameters."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from repro.data import Interactions
from repro.errors import StudyError, nearest
from repro.models import GivenModel, as_tables
from repro.plugin import Algorithm, CheckedRecommender, ParameterValue, how_to_install, parameters_of, plugins
from repro.plugin.api.canonical import CANONICAL
from repro.plugin.host.discovery import SELECTED, deselected
from repro.plugin.host.placement import Location
from repro.protocol.toml import Inline
from repro.study.tuning.settings import Domain

KEYS = ("use", "label", "definition", "follows", "parameters", "seed", "tune", "code")
EVERY = "*"
STUDY_SEED = "study"
_LABEL = re.compile(r"[^\x00-\x1f/]+")


@dataclass(frozen=True)
class Entry:
    """One algorithm of a study: ``use`` is framework/algorithm, ``parameters`` are all of them, with defaults.

    unmapped       parameters in the study that the framework cannot express, with the reason
    stated         the parameters that the study states; the others have the framework's defaults
    seed           of every fit: a number, or "study" for that of the study; by default one is drawn for each fit
    tune           whether the study wants it tuned; None where it does not say
    space          the search space of a tuned algorithm
    left_out       parameters of the search space that are not tuned, with the reason
    not_expressed  the values that the study states for unmapped parameters
    given          the model, where it was given in Python
    follows        the named definition that it follows with these parameters, with the proof
    """

    use: str
    label: str
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    unmapped: Mapping[str, str] = field(default_factory=dict)
    stated: frozenset[str] = frozenset()
    seed: int | str | None = None
    tune: bool | None = None
    space: Mapping[str, Domain] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    not_expressed: Mapping[str, Any] = field(default_factory=dict)
    given: GivenModel | None = None
    follows: str = ""

    @property
    def framework(self) -> str:
        return self.use.partition("/")[0]

    @property
    def algorithm(self) -> Algorithm:
        """The declaration of the algorithm."""
        return plugins().algorithm(self.use)[1] if self.given is None else self.given.algorithm

    @property
    def location(self) -> Location:
        """The place where it runs; missing where nothing here can fit it."""
        if self.given is not None:
            return "in-process" if self.given.is_here else "missing"
        return plugins().location(self.framework)

    @property
    def obstacle(self) -> str:
        """The reason why it cannot be fitted here, and what to do; empty where it can."""
        if self.location != "missing":
            return ""
        return how_to_install(plugins().framework(self.framework)) if self.given is None else self.given.absence

    def recommender(self, data: Interactions, limit: float | None = None) -> CheckedRecommender:
        """A new recommender for one fit on a part of ``data``."""
        if self.given is not None:
            return self.given.recommender(self.parameters, data, self.label)
        return plugins().recommender(self.use, dict(self.parameters), limit)

    def table(self) -> dict[str, Any]:
        """The entry as an argument of a study."""
        if self.given is None:
            return self.document()
        return {"model": self.given, "label": self.label, "seed": self.seed, "tune": self.tune}

    def document(self) -> dict[str, Any]:
        """The entry as data for a TOML file; tuned parameters are not stated."""
        stated = {key: value for key, value in self.parameters.items() if key not in self.space}
        return {
            "use": self.use,
            "label": self.label,
            "seed": self.seed,
            "tune": self.tune,
            "parameters": Inline(stated | dict(self.not_expressed)),
            "follows": self.follows or None,
            "code": None if self.given is None else self.given.document(),
        }


def read_entries(
    algorithms: Sequence[str | Mapping[str, Any]], models: Mapping[str, Any] | None = None
) -> tuple[tuple[Entry, ...], dict[str, str]]:
    """The entries of a study, and what ``*`` leaves out, each with the reason as a sentence.

    ``models`` are given in Python, by label, where a file has records of them.

    Left out are ``framework/algorithm`` where the framework cannot run here, or not with the options that the study
    states, ``*/algorithm`` where none can, plug-ins that are broken, and, as ``REPRO_PLUGINS``, those that this
    variable excludes.
    """
    left_out: dict[str, str] = {}
    tables = [_as_table(algorithm) for algorithm in algorithms]
    entries = [entry for table in tables for entry in _given_entries(table, models or {}) or _expanded(table, left_out)]
    if not entries:
        reasons = "".join(f"\n  {reason}" for reason in dict.fromkeys(left_out.values()))
        raise StudyError(f"a study needs at least one algorithm; `repro plugins list` shows them{reasons}")
    labels = [entry.label for entry in entries]
    for label in labels:
        if labels.count(label) > 1:
            raise StudyError(f"two algorithms are labelled '{label}'; give each a label of its own")
    return tuple(entries), left_out


def require_space(entries: Sequence[Entry]) -> None:
    """An algorithm with ``tune = true`` must have a search space."""
    for entry in entries:
        if entry.tune and not entry.space:
            raise StudyError(
                f"{entry.label}: tune = true, and there is nothing to try; give it a space of parameters that it does "
                f'not state, [tune.space."{entry.use.partition("/")[2]}"]'
            )


def label_of(name: object, entries: Sequence[Entry]) -> str:
    """The label of the entry called ``name``: its label, framework/algorithm, or algorithm if one entry has it."""
    labels = [entry.label for entry in entries]
    if name in labels:
        return str(name)
    matching = [entry.label for entry in entries if name in (entry.use, entry.use.partition("/")[2])]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise StudyError(f"baseline = {name!r} could be {' or '.join(map(repr, matching))}; give one of these labels")
    raise StudyError(
        f"the baseline {name!r} is not an algorithm of the study{nearest(str(name), labels)} Algorithms: "
        f"{', '.join(labels)}"
    )


def _given_entries(table: Mapping[str, Any], models: Mapping[str, Any]) -> list[Entry]:
    """The entry of a model that is given in Python, or of the record of one; none for an algorithm of a plug-in."""
    given = table.get("model")
    if given is None and table.get("code") is None:
        return []
    if given is None:
        given = GivenModel.from_record(table["use"], table["code"])
        label = str(table.get("label"))
        if label in models:
            (again,) = as_tables([(label, models[label])])
            given = again["model"].require_same(given, label)
    label, seed, tune = _checked(table, given.use)
    entry = Entry(given.use, label, dict(given.parameters), seed=seed, tune=tune, given=given)
    return [entry]


def _as_table(algorithm: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """An algorithm as a table; ``"reference/ease"`` is short for one with ``use`` alone."""
    table = {"use": algorithm} if isinstance(algorithm, str) else algorithm
    if not isinstance(table, Mapping):
        raise StudyError(f'an algorithm is "framework/algorithm" or a table with use, label, parameters; not {table!r}')
    given = isinstance(table.get("model"), GivenModel)
    for key in table:
        if key not in KEYS and not (given and key == "model"):
            raise StudyError(f"unknown key '{key}' in an algorithm{nearest(key, KEYS)}")
    if given:
        return table
    if not isinstance(table.get("use"), str):
        raise StudyError('an algorithm needs "use", such as use = "reference/item-knn"')
    return table


def _expanded(table: Mapping[str, Any], left_out: dict[str, str]) -> list[Entry]:
    """The entries of one table: ``*/item-knn`` is one for each framework that has it and can run here."""
    use = table["use"]
    framework, slash, algorithm = use.partition("/")
    if not slash or framework != EVERY:
        own = _following(framework, algorithm, table)
        if isinstance(own, str):
            raise StudyError(own)
        return [_entry(use, table.get("label", use.replace("/", " ")), own)]
    frameworks = plugins().frameworks_with(algorithm)
    if not frameworks and algorithm not in CANONICAL:
        known = {known.name for framework in plugins().frameworks.values() for known in framework.algorithms}
        raise StudyError(
            f"no framework here has an algorithm '{algorithm}'{nearest(algorithm, sorted(known))} "
            "`repro algorithms list` shows who has which"
        )
    for name, reason in plugins().broken.items():
        left_out[name] = f"plug-in {name} is installed but broken: {reason}"
    if names := deselected():
        left_out[SELECTED] = f"{SELECTED} = {os.environ[SELECTED]} leaves out {', '.join(names)}"
    label = table.get("label", algorithm)
    entries = []
    for name in frameworks:
        stated = {} if "definition" in table else table.get("parameters", {})
        if reason := _obstacle(name, algorithm, stated):
            left_out[f"{name}/{algorithm}"] = reason
            continue
        own = _following(name, algorithm, table)
        if isinstance(own, str):
            left_out[f"{name}/{algorithm}"] = own
        else:
            entries.append(_entry(f"{name}/{algorithm}", f"{name} {label}", own))
    if not entries:
        left_out[use] = f"no framework that can run here has {label}"
    return entries


def _following(framework: str, algorithm: str, table: Mapping[str, Any]) -> Mapping[str, Any] | str:
    """The table with the parameters with which a framework follows the stated definition, or why it cannot."""
    definition, parameters = table.get("definition"), table.get("parameters", {})
    if definition is None:
        return table
    from repro.definitions.following import follow, named

    if not isinstance(definition, str):
        raise StudyError(f'definition = {definition!r} must be the name of a definition, such as "cosine-sum"')
    if not isinstance(parameters, Mapping):
        raise StudyError(f"{algorithm}: parameters = {parameters!r} must be a table, such as {{ k = 20 }}")
    followed = follow(named(definition, algorithm).name, f"{framework}/{algorithm}", parameters)
    if followed.parameters is None:
        return followed.reason
    stated = {name: value for name, value in table.items() if name != "definition"}
    return {**stated, "parameters": followed.parameters, "follows": followed.proof}


def _obstacle(framework: str, algorithm: str, parameters: object) -> str:
    """The reason why a framework cannot run its algorithm here with these parameters; empty where it can."""
    if plugins().location(framework) == "missing":
        return how_to_install(plugins().framework(framework))
    stated = parameters if isinstance(parameters, Mapping) else {}
    for parameter in plugins().algorithm(f"{framework}/{algorithm}")[1].parameters:
        name, options = parameter.name, parameter.options
        if options and stated.get(name, parameter.default) not in options:
            offered = ", ".join(map(str, options))
            return f"{framework} has no {algorithm} with {name} = {stated[name]}, only {offered}"
    return ""


def _entry(use: str, label: object, table: Mapping[str, Any]) -> Entry:
    framework, algorithm = plugins().algorithm(use)
    parameters = table.get("parameters", {})
    label, seed, tune = _checked({**table, "label": label}, use)
    if not isinstance(parameters, Mapping):
        raise StudyError(f"{label}: parameters = {parameters!r} must be a table, such as {{ k = 20 }}")
    unmapped = {name: algorithm.unmapped[name] for name in parameters if name in algorithm.unmapped}
    expressed = {name: value for name, value in parameters.items() if name not in unmapped}
    return Entry(
        f"{framework.name}/{algorithm.name}",
        label,
        parameters_of(algorithm, expressed),
        unmapped,
        frozenset(expressed),
        seed,
        tune,
        not_expressed={name: parameters[name] for name in unmapped},
        follows=str(table.get("follows") or ""),
    )


def _checked(table: Mapping[str, Any], default: str) -> tuple[str, int | str | None, bool | None]:
    """The label, the seed and whether to tune, as a table states them."""
    label, seed, tune = table.get("label", default.replace("/", " ")), table.get("seed"), table.get("tune")
    if not isinstance(label, str) or not _LABEL.fullmatch(label):
        raise StudyError(f"label = {label!r} must be text in one line, without '/'")
    if tune is not None and type(tune) is not bool:
        raise StudyError(f"{label}: tune = {tune!r} must be true or false; the section [tune] has the settings")
    if seed not in (None, STUDY_SEED) and (type(seed) is not int or not 0 <= seed < 1 << 31):
        raise StudyError(f'{label}: seed = {seed!r} must be "study" or a whole number from 0 to {(1 << 31) - 1:,}')
    return label, seed, tune
