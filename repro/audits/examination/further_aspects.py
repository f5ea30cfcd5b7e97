"""The aspects beyond plain lists, examined in turn and again where unexplained, and the relevance threshold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from repro.audits.confirmation.adversary import Goal
from repro.audits.examination.plain_lists import PlainResult, examine_known_users, instabilities
from repro.audits.examination.state import ExaminationState
from repro.audits.examination.thresholds import INCLUSIVE, RULE, THRESHOLD, RatingProbe, interval
from repro.audits.hypotheses.simulation import AspectResult
from repro.audits.questions.aspects import FRACTIONS, UNKNOWN_USERS, Aspect


def examine_all(state: ExaminationState, aspects: Sequence[Aspect], plain: PlainResult) -> PlainResult:
    """Examine all further aspects; the plain result that they were examined with.

    Some black boxes give every user without training rows the same number. What was inferred from such users need not
    hold for others: where training rows are unexplained, everything is examined again with users who have some.
    """
    ledger = state.ledger
    results_before, instabilities_before = ledger.results[:-1], list(ledger.instabilities)  # without plain lists
    for aspect in aspects[1:]:
        state.progress(aspect.name)
        ledger.results.append(examine_aspect(state, aspect))
    is_training_unexplained = any(
        result.aspect.own_features == {"training"} for result in ledger.in_state("unexplained")
    )
    if not is_training_unexplained or state.asks_known_users or not plain.is_constant:
        return plain
    results, ledger.results = ledger.results, results_before
    known = examine_known_users(state, plain)
    if known is plain:
        ledger.results = results
        return plain
    ledger.results.append(known.aspect)
    ledger.instabilities = instabilities_before
    return examine_all(state, aspects, known)


def examine_aspect(state: ExaminationState, aspect: Aspect) -> AspectResult:
    """Examine one aspect; where it is unexplained, examine it again with whole ratings only."""
    engine = state.engine
    if aspect.name == "ties" and "ties" in state.box.possible:
        random = [instability for instability in instabilities(state, aspect) if instability.kind == "random"]
        if random:
            state.ledger.instabilities += random[:1]
            engine.unexplained_features |= aspect.own_features
            return AspectResult(aspect, "random")
    result = engine.examine(aspect)
    if result.state != "unexplained" or "fractional" not in engine.features_of(aspect) - aspect.own_features:
        return result
    engine.unexplained_features.add("fractional")
    whole = engine.examine(aspect)
    if whole.state != "explained":
        engine.unexplained_features.remove("fractional")
        return result
    fractional = replace(aspect, name=FRACTIONS, needs=(*aspect.needs, "fractional"))
    state.ledger.results.append(replace(result, aspect=fractional))
    return whole


def retry_unexplained(state: ExaminationState, is_wanted: Callable[[Aspect], bool] = lambda aspect: True) -> bool:
    """Examine unexplained aspects again, now that more is known; whether any of them is explained now."""
    is_any_explained = False
    for result in list(state.ledger.results):
        if result.state == "unexplained" and result.aspect.name != UNKNOWN_USERS and is_wanted(result.aspect):
            state.engine.unexplained_features -= result.aspect.own_features
            again = examine_aspect(state, result.aspect)
            if again.state == "explained":
                state.ledger.mark_explained(result, again)
                is_any_explained = True
    return is_any_explained


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
