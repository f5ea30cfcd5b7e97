"""What a claim leaves open, and what running it would take, before anything is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repro.data import datasets
from repro.data.registry import SYNTHETIC
from repro.evaluation.metrics import metrics, parse_measure
from repro.explain.search import bearing_on
from repro.plugin import how_to_install, plugins
from repro.protocol import DEFAULT, registry
from repro.replicate.claim import Claim, Setting
from repro.replicate.runs import Options, Runs
from repro.replicate.settings import REFITS, Opened, questions
from repro.text import plural


@dataclass(frozen=True)
class OpenProtocol:
    """A protocol of the claim: what its source does not say.

    open      each open decision, its question, and what is tried
    settings  how many settings that makes, in words
    fits      how many of them need a fit of their own
    assumed   decisions that bear on the claimed numbers and that nobody states: taken as they are by default
    """

    name: str
    base: str
    open: tuple[tuple[str, str, str], ...]
    settings: str
    fits: int
    assumed: tuple[str, ...]


@dataclass(frozen=True)
class Checked:
    """What is to be known of a claim before it is run.

    lacking  what is not here, each with what to do about it
    runs     the studies that would be run, in words
    """

    claim: Claim
    protocols: tuple[OpenProtocol, ...]
    lacking: tuple[str, ...]
    runs: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Everything as plain data."""
        claim = self.claim
        return {
            "claim": str(claim.path),
            "title": claim.title,
            "source": claim.source,
            "cells": len(claim.cells),
            "facts": len(claim.facts),
            "patterns": len(claim.patterns),
            "seeds": list(claim.seeds),
            "tolerance": claim.tolerance.sentence,
            "protocols": [
                {
                    "name": one.name,
                    "base": one.base,
                    "settings": one.settings,
                    "fits": one.fits,
                    "open": [dict(zip(("decision", "question", "tried"), told, strict=True)) for told in one.open],
                    "assumed": list(one.assumed),
                }
                for one in self.protocols
            ],
            "lacking": list(self.lacking),
            "runs": list(self.runs),
        }


def check(claim: Claim) -> Checked:
    """Look at a claim without running it."""
    protocols = tuple(_protocol(claim, name, setting) for name, setting in claim.settings.items())
    return Checked(claim, protocols, tuple(_lacking(claim)), tuple(_runs(claim)))


def _protocol(claim: Claim, name: str, setting: Setting) -> OpenProtocol:
    opened = Opened.of(setting)
    fits = len(opened.fits(setting.protocol, REFITS)[0]) if opened.refitted else 1
    settings = opened.count(setting.protocol) if setting.open else "1 setting"
    asked = tuple(questions(setting)) if setting.open else ()
    return OpenProtocol(
        name or "protocol", setting.protocol.name, asked, settings, fits, tuple(_assumed(claim, name, setting))
    )


def _assumed(claim: Claim, name: str, setting: Setting) -> list[str]:
    """Decisions with a default that bear on what is claimed under a protocol, and that are neither stated nor open."""
    names = [cell.place.metric for cell in claim.cells if cell.place.under == name]
    sides = [side for one in claim.patterns for side in (one.left, one.right)]
    names += [side.measure for side in sides if side.measure and side.under == name]
    if not names:
        return []
    measures = [parse_measure(one, setting.protocol, metrics()) for one in dict.fromkeys(names)]
    known = registry()
    bearing = [one.id for family in bearing_on(measures) for one in known.family(family)]
    axes = Opened.of(setting)
    opened = {axis.decision for axis in (*axes.axes, *axes.refitted)}
    return [
        f"{key} = {setting.protocol[key]}"
        for key in dict.fromkeys(bearing)
        if key in setting.protocol and setting.protocol.origins[key] == DEFAULT and key not in opened
    ]


def _lacking(claim: Claim) -> list[str]:
    told = []
    name = "" if claim.data is None else claim.data.name
    if name in datasets() and datasets()[name].cached() is None:
        told.append(f"the data {name} is not here; `repro data get {name}` gets it, or the run does")
    elif name and name not in (*datasets(), SYNTHETIC) and not (claim.folder / name).is_file():
        told.append(f"the data {name} is neither a data set of `repro data list` nor a file beside the claim")
    if claim.data is not None and not claim.data.digest and name != SYNTHETIC:
        told.append("the claim does not say which data it is by its digest; `repro data describe` prints it")
    if claim.algorithms:
        runs = Runs(claim, Options(), claim.seeds)
        told += dict.fromkeys(runs.not_run.values())
        told += _splitters(claim, runs)
    return told


def _splitters(claim: Claim, runs: Runs) -> list[str]:
    """Frameworks whose splitter is asked for and that are not here."""
    found: dict[str, None] = {}
    with runs.environment():
        for setting in claim.settings.values():
            owner, slash, _ = setting.protocol.text("split.strategy").partition("/")
            if slash and owner in plugins().frameworks and plugins().location(owner) == "missing":
                found[how_to_install(plugins().framework(owner))] = None
    return [one for one in found if one not in runs.not_run.values()]


def _runs(claim: Claim) -> list[str]:
    """The studies that would be run, in words."""
    if not claim.algorithms:
        return []
    runs = Runs(claim, Options(), claim.seeds)
    told = []
    for need in runs.needs:
        seeds: dict[int, list[int]] = {}
        for seed, labels in need.seeds.items():
            seeds.setdefault(len(labels), []).append(seed)
        told += [
            f"{plural(number, 'algorithm')} under {need.protocol.name or 'a protocol'} "
            f"({need.protocol.text('split.strategy')}), with {_seeds(those)}: {', '.join(need.metrics)}"
            for number, those in seeds.items()
        ]
    return told


def _seeds(seeds: Sequence[int]) -> str:
    return ("seed " if len(seeds) == 1 else "seeds ") + ", ".join(map(str, seeds))
