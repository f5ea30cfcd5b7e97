"""What speaks against each option that a policy does not take: the smallest case that rejects it, or that none does."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

from repro.audit.aspects import in_words, reaching
from repro.audit.black_box import agree
from repro.audit.elimination import Elimination, Found
from repro.audit.inference import Evidence, Unidentifiable
from repro.audit.question import Question
from repro.audit.shrink import shrunk
from repro.audit.simulation import Outcome, Simulation
from repro.audit.space import Hypothesis
from repro.protocol import Value

# Decisions that small questions do not bear on.
BESIDE = frozenset({"average.folds", "candidates.negatives"})
_APART = 120  # further questions that must not tell two options apart before they count as the same
_TRIES = 120  # at making a case smaller
_VISIBLE = 1e-6  # a difference that evidence should show

Simulated = Sequence[tuple[Question, Simulation]]


def gathered(engine: Elimination, policy: Hypothesis) -> tuple[list[Evidence], list[Unidentifiable]]:
    """For each option that the policy does not take: the smallest case that rejects it, or that none does."""
    questions = _questions(engine)
    evidence: list[Evidence] = []
    same: list[Unidentifiable] = []
    for key in policy.values:
        if key not in engine.opened:
            continue
        equal: list[Value] = []
        for value in engine.space.tried(key):
            if value == policy.values[key]:
                continue
            ways = engine.space.changed(policy, {key: value})
            rejecting = [_rejecting(engine, policy, way, questions) for way in ways]
            if not ways:
                continue
            if any(one is None for one in rejecting):
                equal.append(value)
                continue
            question, way = max(
                ((one, way) for one, way in zip(rejecting, ways, strict=True) if one is not None),
                key=lambda pair: pair[0].size,
            )
            evidence.append(_evidence(engine, policy, way, key, value, question))
        if equal:
            why = "they never differ for this metric and this policy, as far as questions tell"
            same.append(Unidentifiable(key, (policy.values[key], *equal), why))
    return evidence, same


def unreached(engine: Elimination, policy: Hypothesis, refused: Collection[Found]) -> Iterator[Unidentifiable]:
    """Decisions that were not settled, and why: what could not be asked, or was ``refused``."""
    for key in policy.values:
        if key in engine.opened or key in BESIDE or not reaching(key):
            continue
        barred = [one for one in reaching(key) if one not in engine.box.possible]
        if len(barred) == len(reaching(key)):
            why = f"it cannot be given {in_words(barred[0])}: {engine.box.cannot.get(barred[0], '')}".rstrip(": ")
            yield Unidentifiable(key, (), why)
        elif found := [one for one in refused if set(one.aspect.needs) & set(reaching(key))]:
            yield Unidentifiable(key, (), f"it refuses {found[0].aspect.name}")


def _questions(engine: Elimination) -> Simulated:
    """Those that were asked, the smallest first, and further ones."""
    further = [engine.drawing.question(engine.mixed(), engine.rng) for _ in range(_APART)]
    known = sorted(((one.question, one.simulation) for one in engine.asked), key=lambda pair: pair[0].size)
    return [*known, *((question, Simulation(question, engine.space)) for question in further)]


def _rejecting(engine: Elimination, policy: Hypothesis, way: Hypothesis, questions: Simulated) -> Question | None:
    """The first question that tells the policy and another hypothesis apart; None where there is none.

    One to which both have a number is better than one to which one of them has none.
    """
    second_best = None
    for question, simulation in questions:
        mine, other = simulation.outcome(policy), simulation.outcome(way)
        if not _alike(engine, mine, other):
            if _is_number(mine) and _is_number(other):
                return question
            second_best = second_best or question
    return second_best


def _alike(engine: Elimination, mine: Outcome, other: Outcome) -> bool:
    tolerance = max(_VISIBLE, 2 * engine.tolerance)
    by_user = engine.by_user
    return agree(mine.as_told(by_user), other.as_told(by_user), tolerance)


def _evidence(
    engine: Elimination, policy: Hypothesis, way: Hypothesis, key: str, value: Value, question: Question
) -> Evidence:
    def outcomes(of: Question) -> tuple[Outcome, Outcome]:
        simulation = Simulation(of, engine.space)
        return simulation.outcome(policy), simulation.outcome(way)

    kinds = tuple(map(_is_number, outcomes(question)))

    def apart(smaller: Question) -> bool:
        mine, other = outcomes(smaller)
        return (_is_number(mine), _is_number(other)) == kinds and not _alike(engine, mine, other)

    small = shrunk(question, apart, tries=_TRIES, known_users="training" in engine.always)
    said = engine.box.ask(small)
    if not agree(said, outcomes(small)[0], engine.tolerance):
        small, said = question, engine.box.ask(question)  # the black box has other ideas about so small a case
    return Evidence(key, value, small, said, outcomes(small)[1].as_told(said.is_by_user))


def _is_number(outcome: Outcome) -> bool:
    return outcome.value is not None and math.isfinite(outcome.value)
