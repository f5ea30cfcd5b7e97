"""The plain aspect: the metric itself, to how many decimals answers are rounded, and which users can be asked about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from repro.audit.examination.inference import SINGLE_DECIMALS
from repro.audit.examination.state import ExaminationState
from repro.audit.hypotheses.observation import AspectResult, Observation
from repro.audit.questions.answers import TOLERANCE, values_by_user
from repro.audit.questions.aspects import UNKNOWN_USERS, Aspect

_QUESTIONS_ABOUT_ROUNDING = 24


@dataclass(frozen=True, eq=False)
class PlainResult:
    """The result of the plain aspect, and to how many decimals answers are rounded; None where they are not."""

    aspect: AspectResult
    decimals: int | None = None

    @property
    def is_explained(self) -> bool:
        return self.aspect.state == "explained"

    @property
    def is_constant(self) -> bool:
        """Whether all answers are the same number."""
        values: list[float] = []
        for answer in (observation.answer for observation in self.aspect.observations):
            if not answer.refusal:
                values += values_by_user(answer).values() if answer.value is None else [answer.value]
        return len({round(value, 9) for value in values}) == 1


def examine_plain(state: ExaminationState, aspect: Aspect) -> PlainResult:
    """Examine the plain aspect; where no hypothesis is exact, examine it again with rounded answers."""
    if state.known_decimals is not None:
        state.start_engine(0.5 * 10.0**-state.known_decimals + TOLERANCE, state.engine.base_features)
        return PlainResult(state.engine.examine(aspect), state.known_decimals)
    result = state.engine.examine(aspect)
    if result.state == "refused" or (result.state == "explained" and _decimals(result) is None):
        return PlainResult(result)
    features = state.engine.features_of(aspect)
    further = [state.ask_new(features) for _ in range(_QUESTIONS_ABOUT_ROUNDING)]
    if result.state == "explained":
        if state.engine.reconsider():
            return PlainResult(result)
        # Further answers show that the survivors predicted the first ones by chance.
        nearest = state.engine.nearest(state.engine.survivors, further)
        result = AspectResult(aspect, "unexplained", (*result.observations, *further), nearest)
    decimals, base_features = _decimals(result, further), state.engine.base_features
    if decimals is not None:
        state.start_engine(0.5 * 10.0**-decimals + TOLERANCE, base_features)
        rounded = state.engine.examine(aspect)
        if rounded.state != "unexplained":
            return PlainResult(rounded, decimals)
    state.start_engine(TOLERANCE, base_features)
    return PlainResult(result)


def examine_known_users(state: ExaminationState, plain: PlainResult) -> PlainResult:
    """Examine the plain aspect again with users who have training rows, none of whom has trained on every item.

    The first result stays, unless this one explains more.
    """
    engine, generator = state.engine, state.generator
    state.generator = replace(generator, known_users=True)
    state.start_engine(TOLERANCE, frozenset({"training"}))
    known = examine_plain(state, _with_training_rows(plain.aspect.aspect))
    explains_more = known.is_explained and not (plain.is_explained and known.is_constant)
    if plain.aspect.state != "refused" and not explains_more:
        state.generator = generator
        state.use_engine(engine)
        return plain
    if known.is_explained:
        observations = plain.aspect.observations
        nearest = state.engine.nearest(state.engine.survivors, observations)
        if nearest.mismatches:  # there are none where all questions were refused
            unknown_users = replace(plain.aspect.aspect, name=UNKNOWN_USERS)
            state.ledger.record(AspectResult(unknown_users, "unexplained", observations, nearest))
    return known


def _with_training_rows(plain: Aspect) -> Aspect:
    """The plain aspect about users who have training rows."""
    return replace(plain, frees=(*plain.frees, "candidates.exclude_train"), also=("training",))


def _decimals(result: AspectResult, further: Sequence[Observation] = ()) -> int | None:
    """To how many decimals all answers are rounded; those of single precision where they are that exact only."""
    answers = (observation.answer.value for observation in (*result.observations, *further))
    values = [value for value in answers if value is not None and math.isfinite(value)]
    for decimals in range(2, SINGLE_DECIMALS + 1):
        if values and all(abs(value - round(value, decimals)) < 1e-12 for value in values):
            return decimals
    is_single = result.nearest is not None and result.nearest.residual <= 0.5 * 10.0**-SINGLE_DECIMALS
    return SINGLE_DECIMALS if is_single else None
