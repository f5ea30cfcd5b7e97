"""The settings of the decisions that a source leaves open, and the numbers that they give."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repro.data.interactions import FloatArray
from repro.errors import ReproError
from repro.explanations.design import COUNTED, Axis, Design, read_axes
from repro.explanations.interpolate import changes
from repro.explanations.variants import measure_variants
from repro.protocol import Protocol, registry
from repro.replications.claim_runs import Numbers, Runs
from repro.replications.claims.claim import Setting
from repro.replications.settings.watch import SearchWatch

SETTINGS = 2000  # settings of evaluation decisions to try for each fit
REFITS = 8  # settings to try that need another fit


def differences(claimed: Protocol, other: Protocol) -> str:
    """The decisions in which another protocol differs from the claimed one, in words."""
    sentences = [
        f"{change.decision} = {change.after} ({change.meaning(change.after)})"
        for change in changes(claimed, other)
        if change.after is not None
    ]
    return ", ".join(sentences) or "the claim's own setting"


@dataclass(frozen=True, eq=False)
class TriedSettings:
    """The settings that were tried, each with its numbers by algorithm and metric.

    complete  whether these are all settings
    notes     the settings that failed
    """

    tried: tuple[tuple[Protocol, Numbers], ...]
    complete: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class OpenDecisions:
    """The open decisions as axes: those that stored scores suffice for, and those that need another fit."""

    axes: tuple[Axis, ...]
    refitted: tuple[Axis, ...]

    @classmethod
    def of(cls, setting: Setting, ratings: FloatArray | None = None) -> OpenDecisions:
        """Read the axes of the open decisions of ``setting``."""
        axes: tuple[list[Axis], list[Axis]] = ([], [])
        for axis in read_axes(setting.open, setting.protocol, ratings, refit=True):
            axes[registry()[axis.decision].needs_refit].append(axis)
        return cls(*map(tuple, axes))

    @property
    def all_axes(self) -> tuple[Axis, ...]:
        return (*self.axes, *self.refitted)

    def fits(self, claimed: Protocol, budget: int = REFITS) -> tuple[list[Protocol], bool]:
        """The protocols that need separate fits, the claimed one first, and whether they are all of them."""
        if not self.refitted:
            return [claimed], True
        design = Design(claimed, self.refitted, budget)
        return [variant.protocol for variant in design.variants()], design.complete

    def count(self, claimed: Protocol) -> str:
        """The number of settings, in words."""
        design = Design(claimed, self.all_axes, SETTINGS)
        settings = f"more than {COUNTED:,}" if design.combinations is None else f"{design.combinations:,}"
        return f"{settings} settings" if settings != "1" else "1 setting"


def try_settings(
    runs: Runs, setting: Setting, names: Sequence[str], *, budget: int, refits: int, watch: SearchWatch
) -> TriedSettings:
    """The numbers of the claim's algorithms under each setting of the open decisions, with the first seed."""
    seed, claimed = runs.seeds[0], setting.protocol
    opened = OpenDecisions.of(setting, runs.scored_run(claimed, seed).plan.interactions.ratings)
    fitted, complete = opened.fits(claimed, refits)
    tried: list[tuple[Protocol, Numbers]] = []
    notes: list[str] = []
    for number, base in enumerate(fitted):
        chosen = ", ".join(f"{axis.decision} = {base.get(axis.decision)}" for axis in opened.refitted)
        try:
            if number:
                began = time.monotonic()
                runs.refit(claimed, base)
                runs.scored_run(base, seed)
                watch.fitted(chosen, time.monotonic() - began)
            design = Design(base, opened.axes, budget)
            complete &= design.complete
            protocols = [variant.protocol for variant in design.variants()] if opened.axes else [base]
            measured = measure_variants(runs.scored_run(base, seed), protocols, names, None, watch.update)
        except ReproError as error:
            if not number:
                raise
            complete = False
            notes.append(f"A setting of the open decisions could not be run ({chosen}): {error}")
            continue
        tried += [(protocol, measured.of(position)) for position, protocol in enumerate(protocols)]
    return TriedSettings(tuple(tried), complete, tuple(notes))


def protocols_of(setting: Setting, bearing: Callable[[str], bool], most: int = SETTINGS) -> list[Protocol] | None:
    """The claimed protocol with each setting of those open decisions for which ``bearing`` is true.

    None if there are more than ``most``.
    """
    if not setting.open:
        return [setting.protocol]
    axes = [axis for axis in OpenDecisions.of(setting).all_axes if bearing(axis.decision)]
    design = Design(setting.protocol, axes, most)
    return [variant.protocol for variant in design.variants()] if design.complete else None


def questions(setting: Setting) -> list[tuple[str, str, str]]:
    """Each open decision with its question and the options to try."""
    axes = OpenDecisions.of(setting).all_axes if setting.open else ()
    return [(axis.decision, registry()[axis.decision].question, ", ".join(map(str, axis.values))) for axis in axes]
