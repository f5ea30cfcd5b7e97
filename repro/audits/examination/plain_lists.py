"""The first questions: whether answers are stable, the plain aspect, and to how many decimals answers are rounded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from repro.audits.examination.inference import SINGLE_DECIMALS, Inference, Unstable
from repro.audits.examination.state import ExaminationState
from repro.audits.hypotheses.simulation import AspectResult, Observation
from repro.audits.questions.answers import TOLERANCE, Answer, agree, values_by_user
from repro.audits.questions.aspects import ALL_TOGETHER, PLAIN, UNKNOWN_USERS, Aspect

_REPETITIONS = 3
_REPEATED_QUESTIONS = 4
_FIRST_QUESTIONS = 3  # of each kind, after which a black box that refused all of them is not asked again
_FIRST_KINDS: tuple[frozenset[str], ...] = (
    frozenset(),
    frozenset({"training"}),
    frozenset({"training", "graded", "no-relevant"}),
)

_QUESTIONS_ABOUT_ROUNDING = 24
_LARGEST_DENOMINATOR = 100
_LEAST_ROUNDED = 3  # numbers next to simple fractions that show rounding


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
    return AspectResult(plain, "refused", tuple(observations))


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
    aspect = plain.aspect.aspect
    frees = (*aspect.frees, "candidates.exclude_train")
    known = examine_plain(state, replace(aspect, frees=frees, also=("training",)))
    explains_more = known.is_explained and not (plain.is_explained and known.is_constant)
    if plain.aspect.state != "refused" and not explains_more:
        state.generator = generator
        state.use_engine(engine)
        return plain
    if known.is_explained:
        observations = plain.aspect.observations
        nearest = state.engine.nearest(state.engine.survivors, observations)
        if nearest.mismatches:  # there are none where all questions were refused
            unknown_users = replace(aspect, name=UNKNOWN_USERS)
            state.ledger.results.append(AspectResult(unknown_users, "unexplained", observations, nearest))
    return known


def _decimals(result: AspectResult, further: Sequence[Observation] = ()) -> int | None:
    """To how many decimals all answers are rounded; those of single precision where they are that exact only."""
    answers = (observation.answer.value for observation in (*result.observations, *further))
    values = [value for value in answers if value is not None and math.isfinite(value)]
    for decimals in range(2, SINGLE_DECIMALS + 1):
        if values and all(abs(value - round(value, decimals)) < 1e-12 for value in values):
            return decimals
    is_single = result.nearest is not None and result.nearest.residual <= 0.5 * 10.0**-SINGLE_DECIMALS
    return SINGLE_DECIMALS if is_single else None


def decimals_shown(inference: Inference, numbers: Sequence[float]) -> int | None:
    """To how many decimals the answers of a black box are rounded; None where nothing shows that they are.

    They are those of single precision where the policy fails only by that little. Otherwise the ``numbers`` of all
    answers tell.
    """
    gaps = [case.residual for case in inference.unexplained if case.aspect == ALL_TOGETHER]
    if gaps and max(gaps) <= 0.5 * 10.0**-SINGLE_DECIMALS:
        return SINGLE_DECIMALS
    return rounded_decimals(numbers)


def rounded_decimals(numbers: Sequence[float]) -> int | None:
    """To how many decimals numbers are rounded; None where nothing shows that they are.

    Rounding shows in numbers next to simple fractions: 0.6667 is next to 2/3, and 0.25 is itself a fraction.
    """
    distinct = np.unique(np.asarray(numbers, dtype=np.float64))
    for decimals in range(2, SINGLE_DECIMALS):
        if (np.abs(distinct - np.round(distinct, decimals)) < 1e-12).all():
            largest = min(_LARGEST_DENOMINATOR, 10**decimals // 4)
            fractions = [float(Fraction(number).limit_denominator(largest)) for number in distinct.tolist()]
            gaps = np.abs(distinct - fractions)
            n_rounded = ((gaps > 1e-10) & (gaps <= 0.5 * 10.0**-decimals)).sum()
            return decimals if n_rounded >= _LEAST_ROUNDED else None
    return None
