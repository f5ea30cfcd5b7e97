"""The first questions: whether the black box answers at all, and whether it gives the same answer twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repro.audit.examination.inference import Unstable
from repro.audit.examination.state import ExaminationState
from repro.audit.hypotheses.observation import AspectResult, Observation
from repro.audit.questions.answers import Answer, agree
from repro.audit.questions.aspects import PLAIN, Aspect

_REPETITIONS = 3
_REPEATED_QUESTIONS = 4
_FIRST_QUESTIONS = 3  # of each kind, after which a black box that refused all of them is not asked again
_FIRST_KINDS: tuple[frozenset[str], ...] = (
    frozenset(),
    frozenset({"training"}),
    frozenset({"training", "graded", "no-relevant"}),
)


def refusal_of_everything(state: ExaminationState, plain: Aspect) -> AspectResult | None:
    """The refusals, if the black box refuses the first questions of every kind; None if it answers one of them."""
    observations: list[Observation] = []
    rng = np.random.default_rng(state.seed)
    kinds = [(state.generator, features) for features in _FIRST_KINDS]
    if "training" in state.box.possible:  # a black box may refuse users without training rows, or with all items
        kinds.append((replace(state.generator, known_users=True), frozenset({"training"})))
    for generator, features in kinds:
        for _ in range(_FIRST_QUESTIONS):
            question = generator.question(features & state.box.possible, rng)
            observations.append(state.observe(question))
            if not observations[-1].answer.refusal:
                return None
    return AspectResult(plain, "refused", tuple(observations), reason=observations[0].answer.refusal)


def instabilities(state: ExaminationState, aspect: Aspect) -> list[Unstable]:
    """The first question that gets different answers when it is repeated, and the first when its rows are reversed.

    Rows are reversed in questions about plain lists only.
    """
    features = aspect.features(state.box.possible)
    first_of_kind: dict[str, Unstable] = {}
    for _ in range(_REPEATED_QUESTIONS):
        question = state.generator.question(features, state.rng)
        first = state.box.ask(question)
        repeated = [state.box.ask(question) for _ in range(_REPETITIONS - 1)]
        if not all(_is_same(first, answer) for answer in repeated):
            first_of_kind.setdefault("random", Unstable("random", aspect.name, question, (first, *repeated)))
        elif aspect.name == PLAIN:
            reversed_rows = state.box.ask(question.with_reversed_rows())
            if not _is_same(first, reversed_rows):
                unstable = Unstable("row order", aspect.name, question, (first, reversed_rows))
                first_of_kind.setdefault("row order", unstable)
    return list(first_of_kind.values())


def _is_same(first: Answer, second: Answer) -> bool:
    if first.refusal or second.refusal:
        return bool(first.refusal) == bool(second.refusal)
    return agree(first, second, 1e-12)
