"""What a source leaves open: the settings of it, and which of them give the printed numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repro.data.interactions import FloatArray
from repro.errors import ReproError
from repro.explain.design import COUNTED, Axis, Design, read_axes
from repro.explain.mixing import changes
from repro.explain.variants import measure_variants
from repro.protocol import Protocol, registry
from repro.replicate.claim import Place, Setting
from repro.replicate.runs import Runs

SETTINGS = 2000  # of decisions about evaluation, for each fit
REFITS = 8  # settings that need a fit of their own

Tell = Callable[[str, int, int], None]
Numbers = dict[tuple[str, str], float]


def differences(own: Protocol, other: Protocol) -> str:
    """What another protocol decides otherwise than the claim's own, in words."""
    told = [
        f"{one.decision} = {one.after} ({one.meaning(one.after)})"
        for one in changes(own, other)
        if one.after is not None
    ]
    return ", ".join(told) or "the claim's own setting"


@dataclass(frozen=True, eq=False)
class Tried:
    """A setting of the open decisions, with the numbers that it gives by algorithm and metric."""

    protocol: Protocol
    values: Numbers

    def value(self, place: Place) -> float:
        """The number at a place of the table; not a number where there is none."""
        return self.values.get((place.algorithm, place.metric), math.nan)

    def differs(self, own: Protocol) -> str:
        """What it decides otherwise than the claim's own setting, in words."""
        return differences(own, self.protocol)

    def steps(self, own: Protocol) -> int:
        """In how many decisions it differs."""
        return len(changes(own, self.protocol))


@dataclass(frozen=True, eq=False)
class Settings:
    """The settings that were tried; ``complete`` says whether these are all, and ``notes`` which could not be run."""

    own: Protocol
    tried: tuple[Tried, ...]
    complete: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Opened:
    """What is open, as axes: those that kept scores answer for, and those that need another fit."""

    axes: tuple[Axis, ...]
    refitted: tuple[Axis, ...]

    @classmethod
    def of(cls, setting: Setting, ratings: FloatArray | None = None) -> Opened:
        """The axes of a setting's open decisions."""
        every = read_axes(setting.open, setting.protocol, ratings, refit=True)
        return cls(
            tuple(axis for axis in every if not registry()[axis.decision].needs_refit),
            tuple(axis for axis in every if registry()[axis.decision].needs_refit),
        )

    def fits(self, own: Protocol, budget: int = REFITS) -> tuple[list[Protocol], bool]:
        """The protocols that need a fit each, the claim's own first, and whether they are all."""
        if not self.refitted:
            return [own], True
        design = Design(own, self.refitted, budget)
        return [variant.protocol for variant in design.variants()], design.complete

    def count(self, own: Protocol) -> str:
        """How many settings there are, in words."""
        design = Design(own, (*self.axes, *self.refitted), SETTINGS)
        settings = f"more than {COUNTED:,}" if design.combinations is None else f"{design.combinations:,}"
        return f"{settings} settings" if settings != "1" else "1 setting"


def try_settings(
    runs: Runs,
    setting: Setting,
    names: Sequence[str],
    *,
    budget: int = SETTINGS,
    refits: int = REFITS,
    tell: Tell | None = None,
) -> Settings:
    """The numbers of the claim's algorithms under each setting of what is open, with the claim's own seed."""
    seed, own = runs.seeds[0], setting.protocol
    ratings = runs.kept(own, seed).plan.interactions.ratings
    opened = Opened.of(setting, ratings)
    fitted, complete = opened.fits(own, refits)
    tried: list[Tried] = []
    notes: list[str] = []
    for number, base in enumerate(fitted):
        try:
            if number:
                runs.refit(own, base)
            design = Design(base, opened.axes, budget)
            complete &= design.complete
            protocols = [variant.protocol for variant in design.variants()] if opened.axes else [base]
            found = measure_variants(runs.kept(base, seed), protocols, names, None, tell)
        except ReproError as error:
            if not number:
                raise
            complete = False
            notes.append(f"A setting of what is open could not be run ({_chosen(opened, base)}): {error}")
            continue
        for place, protocol in enumerate(protocols):
            values = {
                (label, name): float(found.values[place, row, column])
                for row, label in enumerate(found.algorithms)
                for column, name in enumerate(found.metrics)
            }
            tried.append(Tried(protocol, values))
    return Settings(own, tuple(tried), complete, tuple(notes))


def _chosen(opened: Opened, protocol: Protocol) -> str:
    return ", ".join(f"{axis.decision} = {protocol.get(axis.decision)}" for axis in opened.refitted)


def protocols_of(setting: Setting, bearing: Callable[[str], bool], most: int = SETTINGS) -> list[Protocol] | None:
    """The claim's own protocol with each setting of those open decisions that bear on something.

    None where they are more than ``most``.
    """
    if not setting.open:
        return [setting.protocol]
    opened = Opened.of(setting)
    axes = [axis for axis in (*opened.axes, *opened.refitted) if bearing(axis.decision)]
    design = Design(setting.protocol, axes, most)
    return [variant.protocol for variant in design.variants()] if design.complete else None


def questions(setting: Setting) -> list[tuple[str, str, str]]:
    """Each open decision, its question, and the options that are tried."""
    known = registry()
    opened = Opened.of(setting)
    return [
        (axis.decision, known[axis.decision].question, ", ".join(map(str, axis.values)))
        for axis in (*opened.axes, *opened.refitted)
    ]
