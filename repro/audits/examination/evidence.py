"""Evidence against the options that a policy does not take: the smallest case that rejects each of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

from repro.audits.examination.inference import Evidence
from repro.audits.examination.undetermined import Undetermined
from repro.audits.hypotheses.elimination import Elimination
from repro.audits.hypotheses.simulation import AspectResult, Observation, Simulation
from repro.audits.hypotheses.space import Hypothesis
from repro.audits.questions.answers import Answer, agree
from repro.audits.questions.aspects import features_touching, in_words
from repro.audits.questions.question import Question, shrink
from repro.protocol import Value

# Decisions that do not affect the answer to any question.
WITHOUT_BEARING = frozenset({"average.folds", "candidates.negatives"})
_SHRINKING_STEPS = 120
_VISIBLE = 1e-6  # the smallest difference that evidence shows


def gather_evidence(engine: Elimination, policy: Hypothesis, equivalent: Sequence[Hypothesis]) -> list[Evidence]:
    """For each option that answers reject, the smallest case that does; those of ``equivalent`` policies are not."""
    answered = [observation for observation in engine.observations if not observation.answer.refusal]
    answered.sort(key=lambda observation: observation.question.size)
    unrejected = {(key, value) for other in equivalent for key, value in other.values.items()}
    evidence: list[Evidence] = []
    for key in policy.values:
        if key not in engine.free_decisions:
            continue
        for value in engine.space.tried(key):
            if value == policy.values[key] or (key, value) in unrejected:
                continue
            alternatives = engine.space.with_changes(policy, {key: value})
            rejections = [_rejection(engine, alternative, answered) for alternative in alternatives]
            rejected = [
                (rejection, alternative)
                for rejection, alternative in zip(rejections, alternatives, strict=True)
                if rejection is not None
            ]
            if not alternatives or len(rejected) < len(alternatives):
                continue
            rejection, alternative = max(rejected, key=lambda pair: pair[0].question.size)
            evidence.append(_evidence(engine, policy, alternative, (key, value), rejection))
    return evidence


def unreached_decisions(
    engine: Elimination, policy: Hypothesis, refused: Collection[AspectResult]
) -> Iterator[Undetermined]:
    """Decisions that no answer is about, because questions about them were impossible or were ``refused``."""
    for key in policy.values:
        if key in engine.free_decisions or key in WITHOUT_BEARING or not features_touching(key):
            continue
        impossible = [feature for feature in features_touching(key) if feature not in engine.box.possible]
        if len(impossible) == len(features_touching(key)):
            feature = impossible[0]
            reason = f"it cannot be given {in_words(feature)}: {engine.box.cannot.get(feature, '')}".rstrip(": ")
            yield Undetermined((key,), (), reason)
        elif about := [result for result in refused if set(result.aspect.needs) & set(features_touching(key))]:
            yield Undetermined((key,), (), f"it refuses {about[0].aspect.name}")


def _rejection(engine: Elimination, alternative: Hypothesis, observations: Sequence[Observation]) -> Observation | None:
    """The first observation that rejects a hypothesis; preferably one for which the hypothesis predicts a number."""
    without_number = None
    for observation in observations:
        predicted = observation.predicted(alternative)
        if not agree(observation.answer, predicted, max(_VISIBLE, 2 * engine.tolerance)):
            if _is_number(predicted):
                return observation
            without_number = without_number or observation
    return without_number


def _evidence(
    engine: Elimination,
    policy: Hypothesis,
    alternative: Hypothesis,
    changed: tuple[str, Value],
    rejection: Observation,
) -> Evidence:
    """The rejection of an alternative with a ``changed`` decision, made as small as the black box confirms."""

    def predictions(question: Question) -> tuple[Answer, Answer]:
        simulation = Simulation(question, engine.space)
        return simulation.outcome(policy), simulation.outcome(alternative)

    visible = max(_VISIBLE, 2 * engine.tolerance)
    are_numbers = tuple(map(_is_number, predictions(rejection.question)))

    def still_rejects(smaller: Question) -> bool:
        of_policy, of_alternative = predictions(smaller)
        if (_is_number(of_policy), _is_number(of_alternative)) != are_numbers:
            return False
        by_user = engine.by_user
        return not agree(of_policy.as_reported(by_user), of_alternative.as_reported(by_user), visible)

    question = shrink(
        rejection.question,
        still_rejects,
        max_tries=_SHRINKING_STEPS,
        known_users="training" in engine.base_features,
        takes=engine.box.takes,
    )
    answer = engine.box.ask(question)
    if not agree(answer, predictions(question)[0], engine.tolerance):
        # The policy does not hold for so small a question: show the question as it was asked.
        question, answer = rejection.question, rejection.answer
    return Evidence(*changed, question, answer, predictions(question)[1].as_reported(answer.is_by_user))


def _is_number(outcome: Answer) -> bool:
    return outcome.value is not None and math.isfinite(outcome.value)
