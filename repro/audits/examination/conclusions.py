"""Conclusions of an examination: the decisions that the answers determine or leave open, and what was refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from repro.audits.black_boxes.black_box import BlackBox
from repro.audits.confirmation.adversary import TRAITS
from repro.audits.examination.evidence import gather_evidence, unreached_decisions
from repro.audits.examination.inference import Inference, Refused, Status
from repro.audits.examination.state import ExaminationState
from repro.audits.examination.thresholds import INCLUSIVE, THRESHOLD
from repro.audits.examination.undetermined import Undetermined, group_differences
from repro.audits.hypotheses.simulation import AspectResult, Observation
from repro.audits.hypotheses.space import Hypothesis, Space
from repro.audits.questions.aspects import in_words
from repro.evaluation.metrics import Measure
from repro.protocol import Protocol, Value

BASE = "random-5fold"  # inferred protocols state what differs from it
TITLE = "What {source} computes, as inferred from its answers"


def conclude(
    state: ExaminationState,
    policy: Hypothesis | None,
    *,
    evidence: bool,
    decimals: int | None = None,
    confirmed: tuple[int, int] = (0, 0),
) -> Inference:
    """The inference from everything that was observed; without a policy, the black box is unexplained.

    ``confirmed`` is how many new answers the policy predicted, and how many were tried.
    """
    state.progress("evidence")
    box, ledger, attacks = state.box, state.ledger, state.attacks
    rejected = gather_evidence(state.engine, policy, state.equivalent) if policy and evidence else []
    unsettled = undetermined(state, policy) if policy else []
    settled = determined(state, policy, unsettled) if policy else {}
    status: Status = "unexplained" if policy is None else "explained but for" if ledger.is_doubtful else "explained"
    return Inference(
        name=box.name,
        metric=box.metric.name,
        status=status,
        policy=settled,
        protocol=as_protocol(box.name, state.space, policy.values, settled) if policy else None,
        measure=measure_name(box, policy, settled) if policy else box.metric.name,
        evidence=tuple(rejected),
        undetermined=tuple(unsettled),
        unstable=tuple(ledger.instabilities),
        unexplained=tuple(ledger.unexplained),
        refused=tuple(refusals(ledger.results, attacks.refused)),
        holds=tuple(result.aspect.name for result in ledger.in_state("explained")),
        confirmed=confirmed[0],
        tried=confirmed[1],
        decimals=decimals,
        asked=state.n_questions,
        cutoffs=tuple(box.cutoffs),
        threshold=state.threshold if policy else None,
        attacked=len(attacks.passed) if policy else 0,
        pairs=(len(attacks.met), len(attacks.goals())) if policy else (0, 0),
        not_asked=not_asked(box),
    )


def undetermined(state: ExaminationState, policy: Hypothesis) -> list[Undetermined]:
    """The decisions that the answers leave open, with the remaining options, or why they could not be asked about."""
    n_questions = len(state.engine.observations) + len(state.attacks.passed)
    reason = f"none of our {n_questions:,} questions distinguishes them"
    threshold, equivalent = state.threshold, state.equivalent
    if threshold is not None:  # the interval says all about the threshold
        about = (THRESHOLD, INCLUSIVE)
        equivalent = [
            other for other in equivalent if all(policy.values.get(key) == other.values.get(key) for key in about)
        ]
    unsettled = group_differences(policy, equivalent, reason)
    if threshold is not None and not threshold.exact:
        options = (policy.values[THRESHOLD], policy.values[INCLUSIVE])
        unsettled.append(Undetermined((THRESHOLD, INCLUSIVE), (options,), f"any threshold so that {threshold}"))
    listed = {key for group in unsettled for key in group.decisions}
    without_option = [
        Undetermined((key,), (), f"no option explains {result.aspect.name}")
        for result in state.ledger.in_state("unexplained", "random")
        for key in policy.values
        if key in state.engine.free_decisions and result.aspect.is_about(key)
    ]
    unreached = unreached_decisions(state.engine, policy, state.ledger.in_state("refused"))
    for group in (*without_option, *unreached):
        if listed.isdisjoint(group.decisions):
            unsettled.append(group)
            listed.update(group.decisions)
    return unsettled


def determined(state: ExaminationState, policy: Hypothesis, unsettled: Sequence[Undetermined]) -> dict[str, Value]:
    """The decisions of the policy that answers determine: questions were about them, and they are not unsettled."""
    undecided = {key for group in unsettled for key in group.decisions}
    free = state.engine.free_decisions
    return {key: value for key, value in policy.values.items() if key in free and key not in undecided}


def measure_name(box: BlackBox, policy: Hypothesis, settled: Mapping[str, Value]) -> str:
    """The metric with the variants that are determined."""
    known = {short for short, key in box.metric.variant_ids.items() if key in settled}
    name = Measure(box.metric, None, {short: policy.variants[short] for short in sorted(known)}).full_name
    return f"{name}@k" if box.cutoffs else name


def as_protocol(name: str, space: Space, values: Mapping[str, Value], settled: Mapping[str, Value]) -> Protocol:
    """The policy of a black box as a protocol; decisions that are not ``settled`` are open in it."""
    base = Protocol.load(BASE)
    stated = {key: value for key, value in values.items() if value != base.get(key)}
    protocol = base.replace(stated, f"inferred from {name}")
    unsettled = tuple(
        key
        for key in protocol
        if key.partition(".")[0] in ("data", "split") or (key in space.decisions and key not in settled)
    )
    title = TITLE.replace("{source}", name)
    return replace(protocol, name="", title=title, source=name, notes="", open=unsettled)


def not_asked(box: BlackBox) -> dict[str, str]:
    """The features that no question had, and why."""
    excluded = {in_words(feature): reason for feature, reason in box.cannot.items()}
    if box.cutoffs and not box.any_cutoff:
        excluded["other cut-offs"] = f"it was only asked with k = {', '.join(map(str, box.cutoffs))}"
    return excluded


def refusals(results: Sequence[AspectResult], traits: Mapping[str, Observation]) -> Iterator[Refused]:
    """The refusals of aspects and traits, in order; of messages that differ in numbers only, the first."""
    known_messages = set()
    of_aspects = [(result.aspect.name, observation) for result in results for observation in result.observations]
    of_traits = [(TRAITS[trait].words, observation) for trait, observation in traits.items()]
    for name, observation in (*of_aspects, *of_traits):
        message = re.sub(r"[\d.]+", "", observation.answer.refusal)
        if message and message not in known_messages:
            known_messages.add(message)
            yield Refused(name, observation.answer.refusal, observation.question)
