"""Inspect a claim before it runs: its open decisions, the studies it needs, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repro.data import datasets
from repro.data.registry import SYNTHETIC
from repro.evaluation.metrics import metrics, parse_measure
from repro.explain.search import bearing_on
from repro.plugin import how_to_install, plugins
from repro.protocol import DEFAULT, registry
from repro.replicate.claim_runs import Options, Runs
from repro.replicate.claims.claim import Claim, Setting
from repro.replicate.settings.open_decisions import REFITS, OpenDecisions, questions
from repro.text import plural


@dataclass(frozen=True)
class OpenProtocol:
    """A protocol of the claim with its open decisions.

    open      each open decision, its question, and the options to try
    settings  the number of settings, in words
    fits      the number of fits that the settings need
    assumed   unstated decisions that bear on the claimed numbers; they have their defaults
    """

    name: str
    base: str
    open: tuple[tuple[str, str, str], ...]
    settings: str
    fits: int
    assumed: tuple[str, ...]


@dataclass(frozen=True)
class ClaimCheck:
    """The result of inspecting a claim.

    missing  missing data and frameworks, each with what to do
    runs     the studies to run, in words
    """

    claim: Claim
    protocols: tuple[OpenProtocol, ...]
    missing: tuple[str, ...]
    runs: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """All fields as JSON-compatible data."""
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
                    "name": protocol.name,
                    "base": protocol.base,
                    "settings": protocol.settings,
                    "fits": protocol.fits,
                    "open": [
                        dict(zip(("decision", "question", "tried"), decision, strict=True))
                        for decision in protocol.open
                    ],
                    "assumed": list(protocol.assumed),
                }
                for protocol in self.protocols
            ],
            "lacking": list(self.missing),
            "runs": list(self.runs),
        }


def check(claim: Claim) -> ClaimCheck:
    """Inspect a claim without running it."""
    protocols = tuple(_protocol(claim, name, setting) for name, setting in claim.settings.items())
    return ClaimCheck(claim, protocols, tuple(_missing(claim)), tuple(_runs(claim)))


def _protocol(claim: Claim, name: str, setting: Setting) -> OpenProtocol:
    opened = OpenDecisions.of(setting)
    fits = len(opened.fits(setting.protocol, REFITS)[0]) if opened.refitted else 1
    settings = opened.count(setting.protocol) if setting.open else "1 setting"
    open_questions = tuple(questions(setting)) if setting.open else ()
    return OpenProtocol(
        name or "protocol", setting.protocol.name, open_questions, settings, fits, tuple(_assumed(claim, name, setting))
    )


def _assumed(claim: Claim, name: str, setting: Setting) -> list[str]:
    """Decisions that bear on the numbers claimed under a protocol, have a default, and are neither stated nor open."""
    names = [cell.key.metric for cell in claim.cells if cell.key.under == name]
    sides = [side for pattern in claim.patterns for side in (pattern.left, pattern.right)]
    names += [side.measure for side in sides if side.measure and side.under == name]
    if not names:
        return []
    measures = [parse_measure(name, setting.protocol, metrics()) for name in dict.fromkeys(names)]
    decisions = registry()
    bearing = [decision.id for family in bearing_on(measures) for decision in decisions.family(family)]
    axes = OpenDecisions.of(setting)
    opened = {axis.decision for axis in (*axes.axes, *axes.refitted)}
    return [
        f"{key} = {setting.protocol[key]}"
        for key in dict.fromkeys(bearing)
        if key in setting.protocol and setting.protocol.origins[key] == DEFAULT and key not in opened
    ]


def _missing(claim: Claim) -> list[str]:
    messages = []
    name = "" if claim.data is None else claim.data.name
    if name in datasets() and datasets()[name].cached() is None:
        messages.append(f"the data {name} is not downloaded; `repro data get {name}` downloads it, and so does the run")
    elif name and name not in (*datasets(), SYNTHETIC) and not (claim.folder / name).is_file():
        messages.append(f"the data {name} is neither a data set of `repro data list` nor a file next to the claim")
    if claim.data is not None and not claim.data.digest and name != SYNTHETIC:
        messages.append("the claim states no digest of the data; `repro data describe` prints it")
    if claim.algorithms:
        runs = Runs(claim, Options(), claim.seeds)
        messages += dict.fromkeys(runs.not_run.values())
        messages += _missing_splitters(claim, runs)
    return messages


def _missing_splitters(claim: Claim, runs: Runs) -> list[str]:
    """Missing frameworks whose splitter a protocol uses, with what to do."""
    messages: dict[str, None] = {}
    with runs.environment():
        for setting in claim.settings.values():
            owner, slash, _ = setting.protocol.text("split.strategy").partition("/")
            if slash and owner in plugins().frameworks and plugins().location(owner) == "missing":
                messages[how_to_install(plugins().framework(owner))] = None
    return [message for message in messages if message not in runs.not_run.values()]


def _runs(claim: Claim) -> list[str]:
    """The studies to run, in words."""
    if not claim.algorithms:
        return []
    runs = Runs(claim, Options(), claim.seeds)
    sentences = []
    for need in runs.needs:
        seeds: dict[int, list[int]] = {}
        for seed, labels in need.seeds.items():
            seeds.setdefault(len(labels), []).append(seed)
        sentences += [
            f"{plural(number, 'algorithm')} under {need.protocol.name or 'a protocol'} "
            f"({need.protocol.text('split.strategy')}), with {_seeds(seeds_of_number)}: {', '.join(need.metrics)}"
            for number, seeds_of_number in seeds.items()
        ]
    return sentences


def _seeds(seeds: Sequence[int]) -> str:
    return ("seed " if len(seeds) == 1 else "seeds ") + ", ".join(map(str, seeds))
