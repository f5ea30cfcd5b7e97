"""A protocol: every decision between data and a number, with its value and its origin."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from repro.errors import ProtocolError, nearest
from repro.protocol.decision import Option, Value
from repro.protocol.paths import named_files
from repro.protocol.registry import Registry, registry
from repro.protocol.stages import Stage
from repro.protocol.toml import Place, toml_value, write_toml

if TYPE_CHECKING:
    import pandas as pd

Other = TypeVar("Other")

DEFAULT = "default"
CHANGED = ", changed"
NO_FILE = "none"
# What a hash covers, and how.
HASH_VERSION = 2
_SHOWN = 20  # decisions in the text of a protocol


@dataclass(frozen=True, eq=False)
class Protocol(Mapping[str, Value]):
    """A fully resolved protocol: ``protocol["ties.break"]`` is the value of that decision.

    Only decisions that have an effect are in it, so two protocols that mean the same are equal and have the
    same hash, whatever was written, left to a default, or written as a shorthand.

    >>> protocol = repro.Protocol.load("random-5fold", split__folds=10)
    >>> protocol["split.folds"], protocol["ties.break"]
    (10, 'item-asc')
    >>> protocol.diff("random-5fold")[["decision", "first", "second"]]
          decision  first  second
    0  split.folds     10       5

    name, title, source, notes  what the protocol is called, what it is, where it comes from, and remarks
    open                        the decisions that its source leaves open
    origins                     where the value of each decision comes from
    base                        the protocol that this one was made from by changing decisions
    """

    values_: Mapping[str, Value]
    origins: Mapping[str, str]
    name: str = ""
    title: str = ""
    source: str = ""
    notes: str = ""
    open: tuple[str, ...] = ()
    folder: Path = field(default_factory=Path)
    folders: Mapping[str, Path] = field(default_factory=dict)
    base: Protocol | None = None

    @classmethod
    def load(cls, name_or_path: str | Path, **changes: Value) -> Protocol:
        """Read a protocol by its name (``repro protocol list``) or from a TOML file.

        Keywords change decisions, dots written as ``__``: ``Protocol.load("random-5fold", split__folds=10)``.
        """
        from repro.protocol.reader import read_protocol

        protocol = read_protocol(name_or_path)
        return protocol.replace({key.replace("__", "."): value for key, value in changes.items()})

    def __getitem__(self, key: str) -> Value:
        if key not in self.values_:
            conditions = _conditions(registry()[key].when)
            raise KeyError(f"{key} has no effect in this protocol: it applies when {conditions}")
        return self.values_[key]

    def __contains__(self, key: object) -> bool:
        return key in self.values_

    @overload
    def get(self, key: str) -> Value | None: ...
    @overload
    def get(self, key: str, default: Value | Other) -> Value | Other: ...
    def get(self, key: str, default: object = None) -> object:
        """The value of a decision, or ``default`` where it has no effect."""
        return self.values_.get(key, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Protocol) and dict(self) == dict(other)

    def __hash__(self) -> int:
        return hash(self.hash)

    def text(self, key: str) -> str:
        """The value of a decision that is a choice or a path."""
        value = self[key]
        assert isinstance(value, str), (key, value)
        return value

    def number(self, key: str) -> float:
        """The value of a decision that is a number."""
        value = self[key]
        assert isinstance(value, int | float), (key, value)
        return float(value)

    def count(self, key: str) -> int:
        """The value of a decision that is a whole number."""
        value = self[key]
        assert isinstance(value, int), (key, value)
        return value

    def option(self, key: str) -> Option:
        """The option that a decision has, with all that its declaration says of it."""
        option = registry()[key].option(self[key])
        assert option is not None, (key, self[key])
        return option

    def of_stages(self, *stages: Stage) -> dict[str, Value]:
        """The decisions in effect that these stages read, with their values."""
        all_decisions = registry()
        return {key: value for key, value in self.values_.items() if all_decisions[key].stage in stages}

    def reads(self, stage: Stage, other: Stage) -> bool:
        """Whether a stage, under the options that it has here, reads the results of another one."""
        all_decisions = registry()
        options = (all_decisions[key].option(value) for key, value in self.of_stages(stage).items())
        return any(option is not None and other in option.reads for option in options)

    @property
    def files(self) -> dict[str, dict[str, Path]]:
        """The files that decisions name, by decision and fold; a file for all folds has the empty name."""
        all_decisions = registry()
        paths = [key for key in self if all_decisions[key].kind == "path"]
        stated = [key for key in paths if self[key] not in (NO_FILE, *all_decisions[key].words)]
        return {key: named_files(self.text(key), self.folders.get(key, self.folder)) for key in stated}

    def path(self, key: str, fold: str = "") -> Path:
        """The file that a decision names for a fold; raises an error if it names none for this fold."""
        files = named_files(self.text(key), self.folders.get(key, self.folder))
        if "" in files or fold in files:
            return files.get("", files.get(fold, Path()))
        has = f"has those of the folds {', '.join(files)}" if files else "matches no file"
        raise ProtocolError(f"{key} = {_shown(self[key])} names no file for the fold '{fold}': it {has}")

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the decisions in effect that differ from their defaults: equal for equal meaning."""
        return self.hash_of(self.values_)

    def hash_of(self, decisions: Iterable[str]) -> str:
        """SHA-256 of those of ``decisions`` that are in effect and differ from their defaults.

        Defaults are left out so that a new decision, variant of a metric or plug-in changes no hash while it has its
        default, which must leave numbers as they were. A change of a default changes what hashes stand for: it needs
        another id, or another ``HASH_VERSION``.
        """
        all_decisions = registry()
        stated = {key: self.values_[key] for key in decisions if key in self.values_}
        differing = {
            key: value
            for key, value in stated.items()
            if all_decisions[key].required or value != all_decisions[key].default
        }
        hashed = json.dumps(
            {"version": HASH_VERSION, "decisions": differing}, sort_keys=True, ensure_ascii=False, separators=(",", ":")
        )
        return hashlib.sha256(hashed.encode()).hexdigest()

    def without_defaults(self, decisions: Iterable[str]) -> Protocol:
        """The same protocol without those of ``decisions`` that have their default value."""
        all_decisions, candidates = registry(), set(decisions)
        dropped = {key for key in self.values_ if key in candidates and self.values_[key] == all_decisions[key].default}
        return dataclasses.replace(self, values_={key: self.values_[key] for key in self.values_ if key not in dropped})

    def replace(
        self,
        changes: Mapping[str, Value],
        origin: str | Mapping[str, str] = "changed in code",
        folder: Path | None = None,
    ) -> Protocol:
        """The same protocol with some decisions changed; decisions without effect after that are dropped.

        ``origin`` says where the changes come from, for all or for each of them. ``folder`` is the folder of the files
        that ``changes`` name; the current one by default.
        """
        if not changes:
            return self
        stated = {k: v for k, v in self.values_.items() if self.origins[k] != DEFAULT}
        protocol = resolve(
            {**stated, **changes},
            {**self.origins, **(dict.fromkeys(changes, origin) if isinstance(origin, str) else origin)},
            strict=frozenset(changes),
        )
        was_changed = self.name.endswith(CHANGED)
        changed = bool(self.name) and not was_changed and protocol != self
        return dataclasses.replace(
            self,
            base=self.base if was_changed else self,
            values_=protocol.values_,
            origins=protocol.origins,
            name=self.name + CHANGED if changed else self.name,
            folders={**self.folders, **dict.fromkeys(changes, folder or Path())},
        )

    def to_toml(self) -> str:
        """The resolved protocol as a file: every decision stated, each with its origin as a comment."""
        document: dict[str, Any] = {key: getattr(self, key) or None for key in ("name", "title", "source", "notes")}
        document["open"] = list(self.open) or None
        comments: dict[Place, str] = {}
        for key, value in self.values_.items():
            *tables, leaf = key.split(".")
            table = document
            for name in tables:
                table = table.setdefault(name, {})
            table[leaf] = value
            comments[*tables, leaf] = self.origins[key]
        return write_toml(document, comments)

    def diff(self, other: Protocol | str | Path) -> pd.DataFrame:
        """The decisions in which two protocols differ: a row for each, in the order of the registry.

        other  the protocol to compare with, its name or its file

        The columns are ``decision``, ``first`` (the value here), ``second`` (the value there) and ``question``. A value
        is None where the decision has no effect in that protocol. Equal protocols give no rows.
        """
        import pandas as pd

        second = other if isinstance(other, Protocol) else Protocol.load(other)
        rows = [
            (decision.id, self.values_.get(decision.id), second.values_.get(decision.id), decision.question)
            for decision in registry().values()
            if self.values_.get(decision.id) != second.values_.get(decision.id)
        ]
        return pd.DataFrame(rows, columns=["decision", "first", "second", "question"]).astype(
            {"first": object, "second": object}
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each decision in effect: its value, what it means and where it comes from."""
        return self._frame(self.values_)

    def _frame(self, decisions: Iterable[str]) -> pd.DataFrame:
        import pandas as pd

        all_decisions = registry()
        rows = [
            (key, self.values_[key], all_decisions[key].meaning(self.values_[key]), self.origins[key])
            for key in decisions
        ]
        return pd.DataFrame(rows, columns=["decision", "value", "meaning", "origin"]).astype({"value": object})

    def _heading(self) -> str:
        title = f": {self.title}" if self.title else ""
        return f"Protocol {self.name or 'without a name'}{title}"

    def _distinct(self) -> tuple[str, list[str]]:
        """In words, what the protocol is compared with, and the decisions that differ from that."""
        base_values: Mapping[str, object]
        if self.base is not None:
            base_values = self.base.values_
            words = self.base.name or "the protocol that it was made from"
        else:
            all_decisions = registry()
            base_values = {key: all_decisions[key].default for key in self.values_}
            words = "the defaults"
        differing = [key for key, value in self.values_.items() if base_values.get(key) != value]
        count = f"{len(differing)} of {len(self)} decisions differ from {words}"
        return f"hash {self.hash[:12]}; {count} (to_frame() has all)", differing

    def __repr__(self) -> str:
        """The name and the hash, and the decisions that differ from those of the base, or else from the defaults."""
        summary, differing = self._distinct()
        width = max(map(len, differing[:_SHOWN]), default=0)
        lines = [f"  {key:<{width}}  {toml_value(self.values_[key])}" for key in differing[:_SHOWN]]
        if len(differing) > _SHOWN:
            lines.append(f"  and {len(differing) - _SHOWN} more")
        return "\n".join([self._heading(), summary, *lines])

    def _repr_html_(self) -> str:
        summary, differing = self._distinct()
        table = self._frame(differing).to_html(index=False) if differing else ""
        return f"<p><b>{escape(self._heading())}</b><br>{escape(summary)}</p>{table}"


def resolve(
    stated: Mapping[str, Value],
    origins: Mapping[str, str],
    *,
    strict: frozenset[str] | None = None,
    known: Registry | None = None,
) -> Protocol:
    """State every decision that has an effect, from what was stated and the defaults.

    Raises a ProtocolError that lists everything wrong: unknown decisions, values that are not allowed,
    decisions stated without effect (of those in ``strict``, all by default), and decisions left out that
    have no default.
    """
    known = known or registry()
    strict = frozenset(stated) if strict is None else strict
    problems: list[str] = []
    accepted = _accepted(stated, origins, known, problems)
    chosen, origins = _without_shorthands(accepted, origins, known, problems)
    values: dict[str, Value] = {}
    for decision in known.values():  # defaults first: conditions may depend on them
        if decision.id in chosen:
            values[decision.id] = chosen[decision.id]
        elif not decision.required:
            assert isinstance(decision.default, str | int | float | bool)
            values[decision.id] = decision.default
    active = {key: value for key, value in values.items() if known.active(known[key], values)}
    for key in chosen:
        if key not in active and key in strict:
            problems.append(
                f"{_assignment(key, chosen[key], origins)} has no effect here: "
                f"it applies when {_conditions(known[key].when)}; remove it, or change that"
            )
    for decision in known.values():
        if decision.id not in values and decision.id not in stated and known.active(decision, values):
            problems.append(
                f"{decision.id} is not stated and has no default: {decision.question} Allowed: {decision.allowed()}"
            )
    for key, value in active.items():
        option = known[key].option(value)
        if option and not known.allows(known[key], value, values):
            problems.append(
                f"{_assignment(key, value, origins)} has no effect of its own here: it applies when "
                f"{_conditions(option.when)}; {option.instead or 'choose another option, or change that'}"
            )
    problems += contradictions(active, known)
    if problems:
        raise ProtocolError("\n".join(problems))
    return Protocol(active, {key: origins.get(key, DEFAULT) for key in active})


def _accepted(
    stated: Mapping[str, Value], origins: Mapping[str, str], known: Registry, problems: list[str]
) -> dict[str, Value]:
    """The stated values that their decisions allow, in their normal form."""
    accepted: dict[str, Value] = {}
    for key, value in stated.items():
        if key not in known:
            problems.append(f"{_where(key, origins)}unknown decision '{key}'{nearest(key, known)}")
        elif (normal := known[key].accept(value)) is None:
            close = nearest(str(value), [option.value for option in known[key].options])
            problems.append(
                f"{_assignment(key, value, origins)} is not allowed; allowed: {known[key].allowed()}{close}"
            )
        else:
            accepted[key] = normal
    return accepted


def _without_shorthands(
    values: Mapping[str, Value], origins: Mapping[str, str], known: Registry, problems: list[str]
) -> tuple[dict[str, Value], dict[str, str]]:
    """Replace shorthands by what they mean; a shorthand and another value for what it sets contradict."""
    replaced, sources = dict(values), dict(origins)
    for key, value in values.items():
        option = known[key].option(value)
        for target, meant in option.means.items() if option else ():
            if target != key and values.get(target, meant) != meant:
                problems.append(
                    f"{_assignment(target, values[target], origins)} contradicts "
                    f"{key} = {_shown(value)}, which sets it to {_shown(meant)}"
                )
            replaced[target] = meant
            sources[target] = origins.get(key, DEFAULT)
    return replaced, sources


def contradictions(values: Mapping[str, Value], known: Registry) -> list[str]:
    """The conflicts between decisions whose values are valid one by one."""
    return [
        f"{key} = {_shown(value)} and {rule.other} = {_shown(values[rule.other])} contradict: {rule.why}"
        for key, value in values.items()
        for rule in known[key].contradicts
        if rule.other in values and rule.holds(value, values[rule.other])
    ]


def _assignment(key: str, value: object, origins: Mapping[str, str]) -> str:
    return f"{_where(key, origins)}{key} = {_shown(value)}"


def _conditions(conditions: Iterable[object]) -> str:
    return " and ".join(map(str, conditions))


def _where(key: str, origins: Mapping[str, str]) -> str:
    origin = origins.get(key, "")
    return f"{origin}: " if origin and origin != DEFAULT else ""


def _shown(value: object) -> str:
    return toml_value(value) if isinstance(value, str | int | float | bool) else repr(value)
