"""What speaks against each option that a policy does not take: the smallest case that rejects it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

from repro.audit.aspects import in_words, reaching
from repro.audit.black_boxes.black_box import agree
from repro.audit.examination.inference import Evidence
from repro.audit.examination.undetermined import Undetermined
from repro.audit.hypotheses.elimination import Asked, Elimination, Found
from repro.audit.questions.question import Question
from repro.audit.questions.shrinking import shrunk
from repro.audit.simulation import Outcome, Simulation
from repro.audit.space import Hypothesis
from repro.protocol import Value

# Decisions that small questions do not bear on.
BESIDE = frozenset({"average.folds", "candidates.negatives"})
_TRIES = 120  # at making a case smaller
_VISIBLE = 1e-6  # a difference that evidence should show


def gathered(engine: Elimination, policy: Hypothesis, equal: Sequence[Hypothesis]) -> list[Evidence]:
    """For each option that answers reject: the smallest case that does. Nothing rejects those of ``equal`` policies."""
    asked = sorted((one for one in engine.asked if not one.said.refusal), key=lambda one: one.question.size)
    left = {(key, value) for other in equal for key, value in other.values.items()}
    evidence: list[Evidence] = []
    for key in policy.values:
        if key not in engine.opened:
            continue
        for value in engine.space.tried(key):
            if value == policy.values[key] or (key, value) in left:
                continue
            ways = engine.space.changed(policy, {key: value})
            rejecting = [_rejecting(engine, way, asked) for way in ways]
            pairs = [(one, way) for one, way in zip(rejecting, ways, strict=True) if one is not None]
            if not ways or len(pairs) < len(ways):
                continue
            one, way = max(pairs, key=lambda pair: pair[0].question.size)
            evidence.append(_evidence(engine, policy, way, key, value, one))
    return evidence


def unreached(engine: Elimination, policy: Hypothesis, refused: Collection[Found]) -> Iterator[Undetermined]:
    """Decisions that were not settled, and why: what could not be asked, or was ``refused``."""
    for key in policy.values:
        if key in engine.opened or key in BESIDE or not reaching(key):
            continue
        barred = [one for one in reaching(key) if one not in engine.box.possible]
        if len(barred) == len(reaching(key)):
            why = f"it cannot be given {in_words(barred[0])}: {engine.box.cannot.get(barred[0], '')}".rstrip(": ")
            yield Undetermined((key,), (), why)
        elif found := [one for one in refused if set(one.aspect.needs) & set(reaching(key))]:
            yield Undetermined((key,), (), f"it refuses {found[0].aspect.name}")


def _rejecting(engine: Elimination, way: Hypothesis, asked: Sequence[Asked]) -> Asked | None:
    """The first question whose answer another hypothesis does not give; None where there is none.

    One to which it has a number is better than one to which it has none.
    """
    second_best = None
    for one in asked:
        other = one.simulation.outcome(way)
        if not agree(one.said, other, max(_VISIBLE, 2 * engine.tolerance)):
            if _is_number(other):
                return one
            second_best = second_best or one
    return second_best


def _alike(engine: Elimination, mine: Outcome, other: Outcome) -> bool:
    tolerance = max(_VISIBLE, 2 * engine.tolerance)
    by_user = engine.by_user
    return agree(mine.as_told(by_user), other.as_told(by_user), tolerance)


def _evidence(
    engine: Elimination, policy: Hypothesis, way: Hypothesis, key: str, value: Value, rejecting: Asked
) -> Evidence:
    def outcomes(of: Question) -> tuple[Outcome, Outcome]:
        simulation = Simulation(of, engine.space)
        return simulation.outcome(policy), simulation.outcome(way)

    kinds = tuple(map(_is_number, outcomes(rejecting.question)))

    def apart(smaller: Question) -> bool:
        mine, other = outcomes(smaller)
        return (_is_number(mine), _is_number(other)) == kinds and not _alike(engine, mine, other)

    small = shrunk(
        rejecting.question, apart, tries=_TRIES, known_users="training" in engine.always, takes=engine.box.takes
    )
    said = engine.box.ask(small)
    if not agree(said, outcomes(small)[0], engine.tolerance):
        small, said = rejecting.question, rejecting.said  # so small a case is answered in another way
    return Evidence(key, value, small, said, outcomes(small)[1].as_told(said.is_by_user))


def _is_number(outcome: Outcome) -> bool:
    return outcome.value is not None and math.isfinite(outcome.value)
