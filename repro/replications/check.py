"""Inspect a claim before it runs: its open decisions, the studies it needs, and what is missing."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from repro.data import datasets
from repro.data.registry import SYNTHETIC
from repro.evaluation.metrics import metrics, parse_measure
from repro.explanations.search import bearing_on
from repro.grouping import grouped
from repro.plugin import how_to_install, plugins
from repro.protocol import DEFAULT, registry
from repro.replications.claim_runs import Options, Runs
from repro.replications.claims.claim import Claim, Setting
from repro.replications.settings.open_decisions import REFITS, OpenDecisions, questions
from repro.text import plural


@dataclass(frozen=True)
class OpenProtocol:
    """A protocol of the claim with its open decisions.

    settings  the number of settings, in words
    fits      the number of fits that the settings request
    open      each open decision, its question, and the options to try
    assumed   unstated decisions that bear on the claimed numbers; they have their defaults
    """

    name: str
    base: str
    settings: str
    fits: int
    open: tuple[tuple[str, str, str], ...]
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
        claim, names = self.claim, ("decision", "question", "tried")
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
                asdict(protocol) | {"open": [dict(zip(names, decision, strict=True)) for decision in protocol.open]}
                for protocol in self.protocols
            ],
            "lacking": list(self.missing),
            "runs": list(self.runs),
        }


def check(claim: Claim) -> ClaimCheck:
    """Inspect a claim without running it."""
    protocols = tuple(_protocol(claim, name, setting) for name, setting in claim.settings.items())
    runs = [Runs(part, Options(), claim.seeds) for part in claim.parts()] if claim.algorithms else []
    of_parts: list[Runs | None] = [*runs] or [None for _ in claim.parts()]
    parts = zip(claim.parts(), of_parts, strict=True)
    missing = dict.fromkeys(message for part in parts for message in _missing(*part))
    studies = [sentence for of_data in runs for sentence in _studies(of_data)]
    return ClaimCheck(claim, protocols, tuple(missing), tuple(studies))


def _protocol(claim: Claim, name: str, setting: Setting) -> OpenProtocol:
    opened = OpenDecisions.of(setting)
    return OpenProtocol(
        name=name or "protocol",
        base=setting.protocol.name,
        settings=opened.count(setting.protocol) if setting.open else "1 setting",
        fits=len(opened.fits(setting.protocol, REFITS)[0]),
        open=tuple(questions(setting)),
        assumed=tuple(_assumed(claim, name, setting)),
    )


def _assumed(claim: Claim, name: str, setting: Setting) -> list[str]:
    """Decisions that bear on the numbers claimed under a protocol, have a default, and are neither stated nor open."""
    names = [cell.key.metric for cell in claim.cells if name in cell.key.protocols]
    names += [metric for operand in claim.operands if operand.under == name for metric in operand.measures]
    if not names:
        return []
    protocol, decisions = setting.protocol, registry()
    measures = [parse_measure(name, protocol, metrics()) for name in dict.fromkeys(names)]
    bearing = dict.fromkeys(decision.id for family in bearing_on(measures) for decision in decisions.family(family))
    opened = [decision for decision, _, _ in questions(setting)]
    return [
        f"{key} = {protocol[key]}"
        for key in bearing
        if key in protocol and protocol.origins[key] == DEFAULT and key not in opened
    ]


def _missing(claim: Claim, runs: Runs | None) -> list[str]:
    messages = []
    name = "" if claim.data is None else claim.data.name
    if name in datasets() and datasets()[name].cached() is None:
        messages.append(f"the data {name} is not downloaded; `repro data get {name}` downloads it, and so does the run")
    elif name and name not in (*datasets(), SYNTHETIC) and not (claim.folder / name).is_file():
        messages.append(f"the data {name} is neither a data set of `repro data list` nor a file next to the claim")
    if claim.data is not None and not claim.data.digest and name != SYNTHETIC:
        messages.append("the claim states no digest of the data; `repro data describe` prints it")
    if runs is not None:
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


def _studies(runs: Runs) -> list[str]:
    """The studies to run, in words."""
    sentences = []
    for request in runs.requests.values():
        algorithms_with = {seed: len(labels) for seed, labels in request.seeds.items()}
        seeds = grouped(request.seeds, algorithms_with.__getitem__)
        sentences += [
            f"{plural(algorithms, 'algorithm')} under {request.protocol.name or 'a protocol'} "
            f"({request.protocol.text('split.strategy')}), with seed{'s' if len(with_seeds) > 1 else ''} "
            f"{', '.join(map(str, with_seeds))}: {', '.join(request.metrics)}"
            for algorithms, with_seeds in seeds.items()
        ]
    return sentences
