"""Protocols between two others: some decisions as in one of them, the rest as in the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from repro.errors import ProtocolError
from repro.protocol import Protocol, Value, registry, resolve


@dataclass(frozen=True)
class Switch:
    """Decisions that are switched together, from what they are in one protocol to what they are in another.

    Most are alone. ``riding`` are those that have an effect in only one of the two, because of these.
    """

    decisions: tuple[str, ...]
    riding: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return " + ".join(self.decisions)

    @property
    def needs_refit(self) -> bool:
        return any(registry()[key].needs_refit for key in self.decisions)


@dataclass(frozen=True)
class Change:
    """One decision in two protocols; None where it has no effect."""

    decision: str
    before: Value | None
    after: Value | None

    @property
    def needs_refit(self) -> bool:
        return registry()[self.decision].needs_refit

    def meaning(self, value: Value | None) -> str:
        """A value in words."""
        return "has no effect" if value is None else registry()[self.decision].meaning(value)

    def to_dict(self) -> dict[str, object]:
        """The change as plain data, with what it means."""
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


class Mixture:
    """All protocols between two: for each set of switched decisions, one.

    A decision that has an effect in only one of the two comes along with what gives it that effect. Decisions that
    contradict each other when only some of them are switched are switched together.
    """

    def __init__(self, a: Protocol, b: Protocol, objection: Callable[[Protocol], str] | None = None) -> None:
        self.a, self.b = a, b
        self._objection = objection or (lambda _: "")
        differing = [change.decision for change in changes(a, b)]
        self._free = [key for key in differing if key in a and key in b]
        self._only = [key for key in differing if key not in self._free]
        groups: list[tuple[str, ...]] = [(key,) for key in self._free]
        while (clash := self._clash(groups)) is not None:
            one, two = clash
            joined = tuple(key for key in self._free if key in (*one, *two))
            groups = sorted([g for g in groups if g not in clash] + [joined], key=lambda g: self._free.index(g[0]))
        self.switches = tuple(Switch(group, self._riding(group)) for group in groups)

    def protocol(self, switched: Iterable[Switch]) -> Protocol:
        """The protocol with these switches turned to ``b``."""
        return self._mixed({key for switch in switched for key in switch.decisions})

    def _mixed(self, taken: set[str]) -> Protocol:
        values: dict[str, Value] = {**self.a, **{key: self.b[key] for key in (*taken, *self._only) if key in self.b}}
        known, origins = registry(), {**self.b.origins, **self.a.origins}
        # What has no effect in the mixture is dropped; so is what hangs on it.
        active = {key: value for key, value in values.items() if known.active(known[key], values)}
        mixed = resolve(active, origins, strict=frozenset())
        theirs = {key for key in mixed.files if key in self.b and (key in taken or key in self._only)}
        stating = {key: self.b if key in theirs else self.a for key in mixed.files}
        folders = {key: one.folders.get(key, one.folder) for key, one in stating.items()}
        return Protocol(mixed.values_, mixed.origins, folders=folders)

    def _refused(self, groups: Iterable[tuple[str, ...]]) -> str:
        try:
            return self._objection(self._mixed({key for group in groups for key in group}))
        except ProtocolError as error:
            return str(error)

    def _clash(self, groups: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """Two groups that cannot be switched one without the other."""
        for one, two in combinations(groups, 2):
            others = [group for group in groups if group not in (one, two)]
            for rest in ([], others):
                apart = [self._refused([*rest, one]), self._refused([*rest, two])]
                together = [self._refused(rest), self._refused([*rest, one, two])]
                if any(apart) and not any(together):
                    return one, two
        return None

    def _riding(self, group: tuple[str, ...]) -> tuple[str, ...]:
        """The decisions that have an effect in one of the two protocols only, because of this group (and others)."""
        known = registry()
        return tuple(key for key in self._only if any(known.hangs_on(key, other) for other in group))
