"""The threshold of relevance of a policy: fitted to the answers, also where it lies between the values tried."""

from __future__ import annotations

from repro.audit.confirmation.adversary import Goal
from repro.audit.examination.further_aspects import retry_unexplained
from repro.audit.examination.state import ExaminationState
from repro.audit.examination.thresholds import INCLUSIVE, RULE, THRESHOLD, RatingProbe, interval


def fit_threshold(state: ExaminationState) -> None:
    """Find the interval of the threshold; where that of the policy lies outside, change the policy if answers allow."""
    engine, policy, adversary = state.engine, state.policy, state.attacks.adversary()
    state.threshold = None
    if THRESHOLD not in policy.values or not {THRESHOLD, RULE} <= engine.free_decisions:
        return
    graded = Goal(frozenset({"graded"}))
    probe = RatingProbe(
        policy,
        state.space,
        engine.ask,
        lambda: adversary.question(graded, state.rng),
        tolerance=state.attacks.tolerance,
        rng=state.rng,
    )
    state.threshold = interval(
        probe, fractions="fractional" in adversary.allowed, zero="zero-ratings" in adversary.allowed
    )
    if state.threshold is None or state.threshold.contains(
        float(policy.values[THRESHOLD]), inclusive=bool(policy.values[INCLUSIVE])
    ):
        return
    number, inclusive = state.threshold.simplest
    state.space.thresholds.add(number)
    for changed in state.space.with_changes(policy, {THRESHOLD: number, INCLUSIVE: inclusive}):
        if engine.consistent([changed]):
            engine.survivors = [changed]
            retry_unexplained(state)
            return
    state.threshold = None


def refit_threshold(state: ExaminationState) -> bool:
    """Whether another threshold makes the policy predict all answers; if none does, the policy stays as it is."""
    before = state.policy
    fit_threshold(state)
    if state.policy.values == before.values:
        return False
    if state.engine.consistent([state.policy]):
        return True
    state.engine.survivors = [before]
    return False
