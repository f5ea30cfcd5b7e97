"""Black boxes whose policy is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repro.audits import BlackBox
from repro.audits.black_boxes.black_box import CUTOFFS
from repro.audits.hypotheses.simulation import Simulation
from repro.audits.hypotheses.space import NOT_THERE, Hypothesis, Space
from repro.errors import PluginError
from repro.evaluation.metrics import metrics
from repro.plugin import Observed

AUDITED = [metric for metric in metrics().values() if not metric.not_audited and not NOT_THERE & set(metric.needs)]
ALL = sorted(metric.name for metric in AUDITED)


def planted(space: Space, rng: np.random.Generator) -> Hypothesis:
    """A policy drawn at random from the space."""
    hypothesis = space.start
    for key in space.decisions:
        if key in hypothesis.values and rng.random() < 0.6:
            options = space.tried(key)
            ways = space.with_changes(hypothesis, {key: options[rng.integers(len(options))]})
            hypothesis = ways[rng.integers(len(ways))] if ways else hypothesis
    return hypothesis


def box_of(space: Space, hypothesis: Hypothesis, by_user: bool) -> BlackBox:
    def respond(question):
        outcome = Simulation(question, space).outcome(hypothesis)
        if outcome.refusal:
            raise PluginError(outcome.refusal)
        return Observed(None, outcome.per_user) if by_user else Observed(outcome.value)

    return BlackBox("planted", space.metric, respond, () if space.metric.cutoff == "none" else CUTOFFS)


def asked_only(box: BlackBox, *features: str) -> BlackBox:
    return replace(box, cannot=dict.fromkeys(box.possible - {*features}, "not here"))
