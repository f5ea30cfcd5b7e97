"""What may be said of a policy: which decisions the answers determine, which they leave open, and what was refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from repro.audit.aspects import in_words
from repro.audit.black_boxes.black_box import BlackBox
from repro.audit.confirmation.adversary import TRAITS
from repro.audit.examination.evidence import unreached
from repro.audit.examination.inference import Refused
from repro.audit.examination.thresholds import INCLUSIVE, THRESHOLD, Interval
from repro.audit.examination.undetermined import Undetermined, groups
from repro.audit.hypotheses.elimination import Asked, Elimination, Found
from repro.audit.space import Hypothesis
from repro.evaluation.metrics import Measure
from repro.protocol import Protocol, Value


def undetermined(
    engine: Elimination,
    policy: Hypothesis,
    equivalent: Sequence[Hypothesis],
    threshold: Interval | None,
    refused: Sequence[Found],
    questions: int,
) -> list[Undetermined]:
    """The decisions that answers leave open: with the options that remain, or why nothing could be asked.

    ``equivalent`` are the other policies that give all answers to so many ``questions``.
    """
    left = groups(policy, equivalent, f"none of our {questions:,} questions distinguishes them")
    if threshold is not None and not threshold.exact:
        left = [one for one in left if THRESHOLD not in one.decisions and INCLUSIVE not in one.decisions]
        own = (policy.values[THRESHOLD], policy.values[INCLUSIVE])
        left.append(Undetermined((THRESHOLD, INCLUSIVE), (own,), f"any threshold so that {threshold}"))
    known = {key for one in left for key in one.decisions}
    return [*left, *(one for one in unreached(engine, policy, refused) if not known & set(one.decisions))]


def determined(engine: Elimination, policy: Hypothesis, left: Sequence[Undetermined]) -> dict[str, Value]:
    """The decisions of the policy that answers determine: they were asked about, and none is ``left`` open."""
    is_open = {key for one in left for key in one.decisions}
    return {key: value for key, value in policy.values.items() if key in engine.opened and key not in is_open}


def measure_name(box: BlackBox, policy: Hypothesis, settled: Mapping[str, Value]) -> str:
    """The metric with those variants that are determined."""
    known = {short for short, key in box.metric.variant_ids.items() if key in settled}
    name = Measure(box.metric, None, {short: policy.variants[short] for short in sorted(known)}).full_name
    return f"{name}@k" if box.cutoffs else name


def as_protocol(box: BlackBox, policy: Hypothesis, settled: Mapping[str, Value]) -> Protocol:
    """The policy as a protocol that can be written to a file; what is not determined is open in it."""
    base = Protocol.load("random-5fold")
    stated = {key: value for key, value in policy.values.items() if value != base.get(key)}
    protocol = base.replace(stated, f"inferred from {box.name}")
    title = f"What {box.name} computes, as inferred from its answers"
    unsettled = tuple(
        key
        for key in protocol
        if key.partition(".")[0] in ("data", "split") or (key in policy.values and key not in settled)
    )
    return replace(protocol, name="", title=title, source=box.name, notes="", open=unsettled)


def not_asked(box: BlackBox) -> dict[str, str]:
    """What questions could not have in them, and why."""
    left_out = {in_words(feature): why for feature, why in box.cannot.items()}
    if box.cutoffs and not box.any_cutoff:
        left_out["other cut-offs"] = f"it was only asked with k = {', '.join(map(str, box.cutoffs))}"
    return left_out


def refusals(found: Sequence[Found], traits: Mapping[str, Asked]) -> Iterator[Refused]:
    """What was refused, about which aspect or trait first; the same words with other numbers are given once."""
    before = set()
    named = [(one.aspect.name, asked) for one in found for asked in one.asked]
    for name, asked in (*named, *((TRAITS[trait].words, asked) for trait, asked in traits.items())):
        words = re.sub(r"[\d.]+", "", asked.said.refusal)
        if words and words not in before:
            before.add(words)
            yield Refused(name, asked.said.refusal, asked.question)
