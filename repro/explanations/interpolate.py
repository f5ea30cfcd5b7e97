"""Protocols between two others: some decisions have the value of the first, the others that of the second."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from repro.errors import ProtocolError
from repro.protocol import Protocol, Value, registry, resolve


@dataclass(frozen=True)
class Switch:
    """Decisions that are switched together from their values in one protocol to those in another; mostly a single one.

    dependents  decisions that have an effect in only one of the two protocols, because of these decisions
    """

    decisions: tuple[str, ...]
    dependents: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return " + ".join(self.decisions)

    @property
    def needs_refit(self) -> bool:
        return any(registry()[key].needs_refit for key in self.decisions)


@dataclass(frozen=True)
class Change:
    """The values of a decision in two protocols; None where it has no effect."""

    decision: str
    before: Value | None
    after: Value | None

    @property
    def needs_refit(self) -> bool:
        return registry()[self.decision].needs_refit

    def meaning(self, value: Value | None) -> str:
        """The meaning of a value in words."""
        return "has no effect" if value is None else registry()[self.decision].meaning(value)

    def to_dict(self) -> dict[str, object]:
        """The change as JSON-compatible data, with the meaning of both values."""
        return {
            "decision": self.decision,
            "before": self.before,
            "after": self.after,
            "before_means": self.meaning(self.before),
            "after_means": self.meaning(self.after),
            "needs_refit": self.needs_refit,
        }


def changes(a: Protocol, b: Protocol) -> list[Change]:
    """The decisions that differ, in the order of the registry."""
    keys = [key for key in registry() if a.get(key) != b.get(key)]
    return [Change(key, a.get(key), b.get(key)) for key in keys]


class ProtocolPath:
    """All protocols between two others: one for each set of switched decisions.

    A decision that has an effect in only one of the two is switched with the decisions that it depends on. Decisions
    that contradict each other unless they are switched together form a single switch.
    """

    def __init__(self, a: Protocol, b: Protocol, objection: Callable[[Protocol], str] | None = None) -> None:
        self.a, self.b = a, b
        self._objection = objection or (lambda _: "")
        differing = [change.decision for change in changes(a, b)]
        self._free = [key for key in differing if key in a and key in b]
        self._only = [key for key in differing if key not in self._free]
        groups: list[tuple[str, ...]] = [(key,) for key in self._free]
        while (conflict := self._conflict(groups)) is not None:
            first, second = conflict
            joined = tuple(key for key in self._free if key in (*first, *second))
            groups = sorted([g for g in groups if g not in conflict] + [joined], key=lambda g: self._free.index(g[0]))
        self.switches = tuple(Switch(group, self._dependents(group)) for group in groups)

    def protocol(self, switched: Iterable[Switch]) -> Protocol:
        """The protocol in which these switches have the values of ``b``."""
        return self._mixed({key for switch in switched for key in switch.decisions})

    def _mixed(self, switched: set[str]) -> Protocol:
        values: dict[str, Value] = {**self.a, **{key: self.b[key] for key in (*switched, *self._only) if key in self.b}}
        decisions, origins = registry(), {**self.b.origins, **self.a.origins}
        # Decisions without effect in this protocol are dropped, and so are those that depend on them.
        active = {key: value for key, value in values.items() if decisions.active(decisions[key], values)}
        resolved = resolve(active, origins, strict=frozenset())
        from_b = {key for key in resolved.files if key in self.b and (key in switched or key in self._only)}
        stated_by = {key: self.b if key in from_b else self.a for key in resolved.files}
        folders = {key: protocol.folders.get(key, protocol.folder) for key, protocol in stated_by.items()}
        return Protocol(resolved.values_, resolved.origins, folders=folders)

    def _problem(self, groups: Iterable[tuple[str, ...]]) -> str:
        try:
            return self._objection(self._mixed({key for group in groups for key in group}))
        except ProtocolError as error:
            return str(error)

    def _conflict(self, groups: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """Two groups of decisions that must be switched together."""
        for first, second in combinations(groups, 2):
            others = [group for group in groups if group not in (first, second)]
            for context in ([], others):
                separately = [self._problem([*context, first]), self._problem([*context, second])]
                jointly = [self._problem(context), self._problem([*context, first, second])]
                if any(separately) and not any(jointly):
                    return first, second
        return None

    def _dependents(self, group: tuple[str, ...]) -> tuple[str, ...]:
        """The decisions that have an effect in only one of the two protocols, because of this group (and others)."""
        decisions = registry()
        return tuple(key for key in self._only if any(decisions.depends_on(key, other) for other in group))
