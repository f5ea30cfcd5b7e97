"""Compare black boxes that are declared as one metric: all of them are asked the same questions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from repro.audits.black_boxes.black_box import BlackBox, box_of_evaluator
from repro.audits.comparison.agreement import Agreement, Choice, Pair, Refusal, SmallestCase
from repro.audits.examination.inference import brief
from repro.audits.hypotheses.simulation import Simulation
from repro.audits.hypotheses.space import Hypothesis, Space
from repro.audits.policies import Policies, hypothesis_of, protocol_of
from repro.audits.questions.answers import Answer, agree, close, values_by_user
from repro.audits.questions.aspects import aspects_of
from repro.audits.questions.generator import QuestionGenerator
from repro.audits.questions.question import Question, shrink
from repro.errors import ProtocolError
from repro.evaluation.metrics import Metric
from repro.plugin import Evaluator
from repro.protocol import Protocol
from repro.rng import stream

DIGITS = 12
FIRST = 6  # questions of each kind to all black boxes
QUESTIONS = 60  # of each kind to pairs that agreed so far
ROUNDING = 1e-4  # no evaluator rounds to fewer than four decimals
_REPETITIONS = 4  # of a question to which numbers differ, to detect random answers
_FRACTIONAL = ("graded", "fractional")
_SHRINKING_STEPS = 120

Progress = Callable[[str, int, int], None]  # is called with a metric, the steps done and all steps


@dataclass(frozen=True)
class Kind:
    """A kind of questions: their features, whether all ratings are 1, and whether only one user is tested."""

    name: str
    features: frozenset[str]
    binary: bool = False
    alone: bool = False

    def fits(self, box: BlackBox) -> bool:
        """Whether the black box can be asked such questions."""
        return self.features <= box.possible and (self.binary or "graded" not in box.cannot)

    def question(self, generator: QuestionGenerator, rng: np.random.Generator) -> Question:
        """A random question of this kind."""
        drawn = generator.question(self.features, rng)
        if not self.alone:
            return drawn
        others = drawn.tested[1:]
        return replace(drawn, users=tuple(user for user in drawn.users if user not in others))


def compare_evaluators(
    evaluators: Collection[Evaluator],
    *,
    metrics: Collection[str] = (),
    seed: int = 0,
    questions: int = QUESTIONS,
    policies: Policies | None = None,
    progress: Progress | None = None,
) -> list[Agreement]:
    """Compare the measures of evaluators that are declared as one metric, for each metric with several measures.

    ``metrics`` restricts the comparison to some metrics; for the other parameters see :func:`compare_boxes`.
    """
    groups = by_metric(evaluators)
    return [
        compare_boxes(boxes, seed=seed, questions=questions, policies=policies, progress=progress)
        for label, boxes in groups.items()
        if len(boxes) > 1 and (not metrics or boxes[0].metric.name in metrics or label in metrics)
    ]


def by_metric(evaluators: Collection[Evaluator]) -> dict[str, list[BlackBox]]:
    """The measures of evaluators as black boxes, by the metric that they are declared as: ``ndcg@k``, ``ndcg``."""
    groups: dict[str, list[BlackBox]] = {}
    for evaluator in evaluators:
        for measure in evaluator.measures:
            box = box_of_evaluator(evaluator, measure)
            groups.setdefault(_label(box), []).append(box)
    return dict(sorted(groups.items()))


def compare_boxes(
    boxes: Sequence[BlackBox],
    *,
    seed: int = 0,
    questions: int = QUESTIONS,
    policies: Policies | None = None,
    progress: Progress | None = None,
) -> Agreement:
    """Compare black boxes that are declared as one metric, pair by pair.

    There are plain questions and, for each aspect, questions with its features. All black boxes are asked the same
    questions, unless they cannot be given the features. Two of them are compared on questions to which both gave a
    number; those that agree are asked more, up to ``questions`` of each kind. ``policies`` are the known policies by
    the names of black boxes: they explain differences.
    """
    return _Comparison(boxes, seed, questions, policies or {}, progress or (lambda *_: None)).agreement()


def kinds_of(metric: Metric, boxes: Sequence[BlackBox]) -> list[Kind]:
    """The kinds of questions that two or more of the black boxes can be asked.

    Each kind occurs without and with training rows of the tested users: some evaluators refuse users without any. Where
    a black box accepts ratings of 1 only, each kind also occurs with such ratings.
    """
    aspects = [(aspect.name, aspect.needs) for aspect in aspects_of(metric)]
    named = [*aspects, ("ratings that are not whole", _FRACTIONAL)]
    kinds = [Kind("one user", frozenset(), alone=True), *(Kind(name, frozenset(needs)) for name, needs in named)]
    untrained = [kind for kind in kinds if "training" not in kind.features]
    trained = [kind for kind in kinds if "training" in kind.features]
    with_training = {kind.features for kind in trained}
    trained += [
        replace(kind, name=f"{kind.name}, and training rows", features=kind.features | {"training"})
        for kind in untrained
        if kind.alone or kind.features | {"training"} not in with_training
    ]
    kinds = [*untrained, *trained]
    if any("graded" in box.cannot for box in boxes):
        binary = [
            replace(kind, name=f"{kind.name}, ratings of 1", binary=True)
            for kind in kinds
            if "graded" not in kind.features
        ]
        kinds = [kind for pair in itertools.zip_longest(kinds, binary) for kind in pair if kind is not None]
    return [kind for kind in kinds if sum(map(kind.fits, boxes)) > 1]


class _Comparison:
    """A comparison of black boxes, with the answers so far."""

    def __init__(
        self, boxes: Sequence[BlackBox], seed: int, questions: int, policies: Policies, progress: Progress
    ) -> None:
        self._boxes = {box.name: box for box in boxes}
        self._metric = boxes[0].metric
        self._label = _label(boxes[0])
        self._policies = {name: protocol_of(policy) for name, policy in policies.items()}
        self._progress = progress
        self._kinds = {kind.name: kind for kind in kinds_of(self._metric, boxes)}
        self._cutoffs = _common_cutoffs(boxes)
        self._n_questions = max(questions, FIRST)
        self._draws = {name: self._draw(kind, seed) for name, kind in self._kinds.items()}
        self._drawn: dict[str, list[Question]] = {name: [] for name in self._kinds}
        self._answers: dict[tuple[str, Question], Answer] = {}
        self._random: dict[tuple[str, Question], bool] = {}
        self._cases: list[SmallestCase] = []

    def _draw(self, kind: Kind, seed: int) -> Iterator[Question]:
        rng = np.random.default_rng(int(stream(seed, "agreement", self._label, kind.name)))
        generator = QuestionGenerator(self._cutoffs, self._metric.kind == "prediction", kind.binary)
        while True:
            yield kind.question(generator, rng)

    def _questions(self, kind: Kind, n: int) -> list[Question]:
        """The first ``n`` questions of a kind."""
        drawn = self._drawn[kind.name]
        drawn += itertools.islice(self._draws[kind.name], max(0, n - len(drawn)))
        return drawn[:n]

    def agreement(self) -> Agreement:
        pairs = list(itertools.combinations(self._boxes.values(), 2))
        total = len(self._kinds) + len(pairs)
        for done, kind in enumerate(self._kinds.values()):
            self._progress(self._label, done, total)
            for box, question in itertools.product(self._fitting(kind), self._questions(kind, FIRST)):
                self._answer(box, question)
        compared = []
        for done, (a, b) in enumerate(pairs, start=len(self._kinds)):
            self._progress(self._label, done, total)
            compared.append(self._pair(a, b))
        self._progress(self._label, total, total)
        names, kinds = tuple(self._boxes), tuple(self._kinds)
        return Agreement(self._label, names, kinds, tuple(compared), tuple(self._refusals()), DIGITS)

    def _fitting(self, kind: Kind) -> list[BlackBox]:
        return [box for box in self._boxes.values() if kind.fits(box)]

    def _answer(self, box: BlackBox, question: Question) -> Answer:
        key = (box.name, question)
        if key not in self._answers:
            self._answers[key] = box.ask(question)
        return self._answers[key]

    def _pair(self, a: BlackBox, b: BlackBox) -> Pair:
        kinds = [kind for kind in self._kinds.values() if kind.fits(a) and kind.fits(b)]
        gaps = {kind.name: self._gaps(a, b, self._questions(kind, FIRST)) for kind in kinds}
        if not any(size > ROUNDING for of_kind in gaps.values() for size in of_kind.values()):
            gaps = {kind.name: self._gaps(a, b, self._questions(kind, self._n_questions)) for kind in kinds}
        compared = {name: len(of_kind) for name, of_kind in gaps.items()}
        largest = {name: max(of_kind.values()) for name, of_kind in gaps.items() if any(of_kind.values())}
        if not largest:
            return Pair(a.name, b.name, compared)
        first = next((name for name, most in largest.items() if most > ROUNDING), next(iter(largest)))
        least = ROUNDING if largest[first] > ROUNDING else 0.0
        differing = [question for question, size in gaps[first].items() if size > least]
        random = tuple(box.name for box in (a, b) if any(self._is_random(box, question) for question in differing))
        question = min(differing, key=lambda question: (question.k or 0, question.size))
        case = self._keep(first, question) if random else self._smallest(a, b, first, question, least)
        return Pair(a.name, b.name, compared, largest, case, self._choices(a, b, case), random)

    def _gaps(self, a: BlackBox, b: BlackBox, questions: Sequence[Question]) -> dict[Question, float]:
        """The difference of the numbers, for each question to which both gave one."""
        gaps = {question: gap(self._answer(a, question), self._answer(b, question)) for question in questions}
        return {question: size for question, size in gaps.items() if size is not None}

    def _is_random(self, box: BlackBox, question: Question) -> bool:
        """Whether a black box gives different numbers when a question is repeated."""
        key = (box.name, question)
        if key not in self._random:
            first = self._answer(box, question)
            self._random[key] = any(gap(first, box.ask(question)) for _ in range(_REPETITIONS))
        return self._random[key]

    def _smallest(self, a: BlackBox, b: BlackBox, kind: str, first: Question, least: float) -> SmallestCase:
        """The smallest question to which two black boxes give different numbers; that of another pair, if it fits."""
        both_numbers = math.isfinite(gap(self._answer(a, first), self._answer(b, first)) or 0.0)
        # A difference for known items must not become one for unknown items, if the black boxes see training rows.
        must_be_known = "unknown-items" in a.possible | b.possible and _has_known_items_only(first)

        def is_kept(question: Question) -> bool:
            if must_be_known and not _has_known_items_only(question):
                return False
            size = gap(self._answer(a, question), self._answer(b, question)) or 0.0
            return size > least and math.isfinite(size) == both_numbers

        fitting = (case for case in self._cases if case.kind == kind and is_kept(case.question))
        return next(fitting, None) or self._keep(kind, shrink(first, is_kept, _SHRINKING_STEPS))

    def _keep(self, kind: str, question: Question) -> SmallestCase:
        """A case with the answers of all black boxes that can be asked questions of its kind."""
        answers = {box.name: self._answer(box, question) for box in self._fitting(self._kinds[kind])}
        self._cases.append(SmallestCase(kind, question, answers))
        return self._cases[-1]

    def _choices(self, a: BlackBox, b: BlackBox, case: SmallestCase) -> tuple[Choice, ...]:
        """The decisions that explain a case, where the policies of both are known."""
        first, second = self._policies.get(a.name), self._policies.get(b.name)
        if first is None or second is None:
            return ()
        return explaining(self._metric, case.question, (case.answers[a.name], case.answers[b.name]), first, second)

    def _refusals(self) -> Iterator[Refusal]:
        for box in self._boxes.values():
            for kind in self._kinds.values():
                if kind.fits(box):
                    messages = [self._answer(box, question).refusal for question in self._questions(kind, FIRST)]
                    refused = list(filter(None, messages))
                    if refused:
                        yield Refusal(box.name, kind.name, len(refused), len(messages), brief(refused[0]))


def gap(a: Answer, b: Answer) -> float | None:
    """The difference of two answers: 0 where they agree to :data:`DIGITS` digits, infinite where one is not a number.

    None where they cannot be compared: one is a refusal, or one is a number for all users and one for each.
    """
    if a.refusal or b.refusal:
        return None
    if a.value is not None and b.value is not None:
        return _distance(a.value, b.value)
    if a.per_user is None or b.per_user is None:
        return None
    first, second = values_by_user(a), values_by_user(b)
    if first.keys() != second.keys():
        return math.inf
    return max((_distance(first[user], second[user]) for user in first), default=0.0)


def explaining(
    metric: Metric, question: Question, answers: tuple[Answer, Answer], first: Protocol, second: Protocol
) -> tuple[Choice, ...]:
    """The decisions in which two policies differ and each of which explains two answers; all of them, if none does.

    Empty where a policy does not predict its answer.
    """
    space = Space(metric)
    simulation = Simulation(question, space)
    of_first, of_second = hypothesis_of(first, space), hypothesis_of(second, space)

    def predicts(hypothesis: Hypothesis, answer: Answer) -> bool:
        return agree(answer, simulation.outcome(hypothesis), ROUNDING / 2)

    if not (predicts(of_first, answers[0]) and predicts(of_second, answers[1])):
        return ()
    mine, theirs = of_first.values, of_second.values
    differing = [key for key in space.decisions if mine.get(key) != theirs.get(key)]
    sufficient = [
        key
        for key in differing
        if key in theirs
        and any(predicts(changed, answers[1]) for changed in space.with_changes(of_first, {key: theirs[key]}))
    ]
    return tuple(Choice(key, mine.get(key), theirs.get(key)) for key in sufficient or differing)


def _distance(a: float, b: float) -> float:
    if close(a, b, 10.0**-DIGITS):
        return 0.0
    return abs(a - b) if math.isfinite(a) and math.isfinite(b) else math.inf


def _has_known_items_only(question: Question) -> bool:
    """Whether all items have training rows."""
    return set(question.items) <= {item for user in question.users for item, _ in user.train}


def _common_cutoffs(boxes: Sequence[BlackBox]) -> tuple[int, ...]:
    common = tuple(k for k in boxes[0].cutoffs if all(k in box.cutoffs for box in boxes))
    if not common and any(box.cutoffs for box in boxes):
        named = ", ".join(f"{box.name} ({', '.join(map(str, box.cutoffs)) or 'none'})" for box in boxes)
        raise ProtocolError(f"these black boxes have no cut-off in common and cannot be compared: {named}")
    return common


def _label(box: BlackBox) -> str:
    return f"{box.metric.name}@k" if box.cutoffs else box.metric.name
