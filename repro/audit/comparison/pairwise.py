"""Compare black boxes that are taken for the same metric: the same questions to all of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from repro.audit.aspects import aspects_of
from repro.audit.black_boxes.black_box import BlackBox, agree, box_of_evaluator, close, values_by_user
from repro.audit.comparison.agreement import Agreement, Choice, Pair, Refusal, SmallestCase
from repro.audit.examination.inference import brief
from repro.audit.policies import Policies, hypothesis_of, protocol_of
from repro.audit.questions.generator import QuestionGenerator
from repro.audit.questions.question import Question
from repro.audit.questions.shrinking import shrink
from repro.audit.simulation import Outcome, Simulation
from repro.audit.space import Hypothesis, Space
from repro.errors import ProtocolError
from repro.evaluation.metrics import Metric
from repro.plugin import Evaluator
from repro.protocol import Protocol
from repro.rng import stream

DIGITS = 12
FIRST = 6  # questions of each kind to everybody
QUESTIONS = 60  # of each kind to those who agreed so far
# Numbers of four decimals, the fewest that anybody prints, differ by no more from those that are not rounded.
ROUNDING = 1e-4
_AGAIN = 4  # times that a question is asked again where numbers differ, to tell chance from policy
_FRACTIONAL = ("graded", "fractional")
_TRIES = 120  # to make a case smaller; others' cases are tried first

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Kind:
    """A kind of questions: what they have in them, whether ratings can only be 1, and whether one user is tested."""

    name: str
    features: frozenset[str]
    binary: bool = False
    alone: bool = False

    def fits(self, box: BlackBox) -> bool:
        """Whether the black box can be asked."""
        return self.features <= box.possible and (self.binary or "graded" not in box.cannot)

    def question(self, drawing: QuestionGenerator, rng: np.random.Generator) -> Question:
        drawn = drawing.question(self.features, rng)
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
    tell: Tell | None = None,
) -> list[Agreement]:
    """For each metric that several measures of evaluators are taken for: who agrees with whom.

    ``metrics`` are those that are asked about, all by default; for the rest see :func:`compare_boxes`.
    """
    groups = by_metric(evaluators)
    return [
        compare_boxes(boxes, seed=seed, questions=questions, policies=policies, tell=tell)
        for label, boxes in groups.items()
        if len(boxes) > 1 and (not metrics or boxes[0].metric.name in metrics or label in metrics)
    ]


def by_metric(evaluators: Collection[Evaluator]) -> dict[str, list[BlackBox]]:
    """The measures of evaluators as black boxes, by the metric that they are taken for: ``ndcg@k``, ``ndcg``."""
    found: dict[str, list[BlackBox]] = {}
    for evaluator in evaluators:
        for measure in evaluator.measures:
            box = box_of_evaluator(evaluator, measure)
            found.setdefault(_label(box), []).append(box)
    return dict(sorted(found.items()))


def compare_boxes(
    boxes: Sequence[BlackBox],
    *,
    seed: int = 0,
    questions: int = QUESTIONS,
    policies: Policies | None = None,
    tell: Tell | None = None,
) -> Agreement:
    """Who agrees with whom, of black boxes that are taken for the same metric.

    Questions are of kinds: the plain ones first, then each with one thing more in it. All are asked the same
    questions, but for what they cannot be given; two of them are compared on what both gave a number to, and those that
    agree are asked more, up to so many ``questions`` of each kind. ``policies`` are those of black boxes by name, where
    they are known: they explain differences. ``tell`` is called with the metric, and how much of the work is done.
    """
    return _Comparison(boxes, seed, questions, policies or {}, tell or (lambda *_: None)).agreement()


def kinds_of(metric: Metric, boxes: Sequence[BlackBox]) -> list[Kind]:
    """The kinds of questions that two or more of the black boxes can be asked.

    Each comes with training rows of the users who are tested, too: some evaluators know no users without. Where a
    black box only takes ratings of 1, questions with nothing else come on top.
    """
    named = [*((one.name, one.needs) for one in aspects_of(metric)), ("ratings that are not whole", _FRACTIONAL)]
    kinds = [Kind("one user", frozenset(), alone=True), *(Kind(name, frozenset(needs)) for name, needs in named)]
    untrained = [kind for kind in kinds if "training" not in kind.features]
    trained = [kind for kind in kinds if "training" in kind.features]
    known = {kind.features for kind in trained}
    trained += [
        replace(kind, name=f"{kind.name}, and training rows", features=kind.features | {"training"})
        for kind in untrained
        if kind.alone or kind.features | {"training"} not in known
    ]
    kinds = [*untrained, *trained]
    if any("graded" in box.cannot for box in boxes):
        ones = [
            replace(kind, name=f"{kind.name}, ratings of 1", binary=True)
            for kind in kinds
            if "graded" not in kind.features
        ]
        kinds = [kind for pair in itertools.zip_longest(kinds, ones) for kind in pair if kind is not None]
    return [kind for kind in kinds if sum(map(kind.fits, boxes)) > 1]


class _Comparison:
    def __init__(self, boxes: Sequence[BlackBox], seed: int, questions: int, policies: Policies, tell: Tell) -> None:
        self._boxes = {box.name: box for box in boxes}
        self._metric = boxes[0].metric
        self._label = _label(boxes[0])
        self._policies = {name: protocol_of(policy) for name, policy in policies.items()}
        self._tell = tell
        self._kinds = {kind.name: kind for kind in kinds_of(self._metric, boxes)}
        self._cutoffs = _common_cutoffs(boxes)
        self._most = max(questions, FIRST)
        self._draws = {name: self._draw(kind, seed) for name, kind in self._kinds.items()}
        self._drawn: dict[str, list[Question]] = {name: [] for name in self._kinds}
        self._answers: dict[tuple[str, Question], Outcome] = {}
        self._random: dict[tuple[str, Question], bool] = {}
        self._cases: list[SmallestCase] = []

    def _draw(self, kind: Kind, seed: int) -> Iterator[Question]:
        rng = np.random.default_rng(int(stream(seed, "agreement", self._label, kind.name)))
        drawing = QuestionGenerator(self._cutoffs, self._metric.kind == "prediction", kind.binary)
        while True:
            yield kind.question(drawing, rng)

    def _questions(self, kind: Kind, number: int) -> list[Question]:
        """The first questions of a kind, drawn when they are wanted."""
        drawn = self._drawn[kind.name]
        drawn += itertools.islice(self._draws[kind.name], max(0, number - len(drawn)))
        return drawn[:number]

    def agreement(self) -> Agreement:
        pairs = list(itertools.combinations(self._boxes.values(), 2))
        total = len(self._kinds) + len(pairs)
        for done, kind in enumerate(self._kinds.values()):
            self._tell(self._label, done, total)
            for box, question in itertools.product(self._fitting(kind), self._questions(kind, FIRST)):
                self._answer(box, question)
        found = []
        for done, (a, b) in enumerate(pairs, start=len(self._kinds)):
            self._tell(self._label, done, total)
            found.append(self._pair(a, b))
        self._tell(self._label, total, total)
        names, kinds = tuple(self._boxes), tuple(self._kinds)
        return Agreement(self._label, names, kinds, tuple(found), tuple(self._refusals()), DIGITS)

    def _fitting(self, kind: Kind) -> list[BlackBox]:
        return [box for box in self._boxes.values() if kind.fits(box)]

    def _answer(self, box: BlackBox, question: Question) -> Outcome:
        asked = (box.name, question)
        if asked not in self._answers:
            self._answers[asked] = box.ask(question)
        return self._answers[asked]

    def _pair(self, a: BlackBox, b: BlackBox) -> Pair:
        kinds = [kind for kind in self._kinds.values() if kind.fits(a) and kind.fits(b)]
        gaps = {kind.name: self._gaps(a, b, self._questions(kind, FIRST)) for kind in kinds}
        if not any(gap > ROUNDING for found in gaps.values() for gap in found.values()):
            gaps = {kind.name: self._gaps(a, b, self._questions(kind, self._most)) for kind in kinds}
        compared = {name: len(found) for name, found in gaps.items()}
        largest = {name: max(found.values()) for name, found in gaps.items() if any(found.values())}
        if not largest:
            return Pair(a.name, b.name, compared)
        first = next((name for name, most in largest.items() if most > ROUNDING), next(iter(largest)))
        least = ROUNDING if largest[first] > ROUNDING else 0.0
        apart = {question: gap for question, gap in gaps[first].items() if gap > least}
        random = tuple(box.name for box in (a, b) if any(self._is_random(box, question) for question in apart))
        question = min(apart, key=lambda one: (one.k or 0, one.size))
        case = self._keep(first, question) if random else self._smallest(a, b, first, question, least)
        return Pair(a.name, b.name, compared, largest, case, self._choices(a, b, case), random)

    def _gaps(self, a: BlackBox, b: BlackBox, questions: Sequence[Question]) -> dict[Question, float]:
        """How far apart the numbers are, for each question to which there are two."""
        found = {question: gap(self._answer(a, question), self._answer(b, question)) for question in questions}
        return {question: one for question, one in found.items() if one is not None}

    def _is_random(self, box: BlackBox, question: Question) -> bool:
        """Whether a black box gives other numbers when it is asked the same again."""
        asked = (box.name, question)
        if asked not in self._random:
            first = self._answer(box, question)
            self._random[asked] = any(gap(first, box.ask(question)) for _ in range(_AGAIN))
        return self._random[asked]

    def _smallest(self, a: BlackBox, b: BlackBox, kind: str, first: Question, least: float) -> SmallestCase:
        """The smallest question that tells two black boxes apart: one that is known already, or a new one."""
        both_numbers = math.isfinite(gap(self._answer(a, first), self._answer(b, first)) or 0.0)
        # Items without training rows are another matter, for those who see such rows.
        all_known = "unknown-items" in a.possible | b.possible and _all_known(first)

        def still(question: Question) -> bool:
            if all_known and not _all_known(question):
                return False
            off = gap(self._answer(a, question), self._answer(b, question)) or 0.0
            return off > least and math.isfinite(off) == both_numbers

        known = (case for case in self._cases if case.kind == kind and still(case.question))
        return next(known, None) or self._keep(kind, shrink(first, still, _TRIES))

    def _keep(self, kind: str, question: Question) -> SmallestCase:
        """A case, with what all say to it that can be asked questions of its kind."""
        answers = {box.name: self._answer(box, question) for box in self._fitting(self._kinds[kind])}
        self._cases.append(SmallestCase(kind, question, answers))
        return self._cases[-1]

    def _choices(self, a: BlackBox, b: BlackBox, case: SmallestCase) -> tuple[Choice, ...]:
        """The decisions that explain a case, where the policies of both are known."""
        mine, theirs = self._policies.get(a.name), self._policies.get(b.name)
        if mine is None or theirs is None:
            return ()
        return explaining(self._metric, case.question, (case.answers[a.name], case.answers[b.name]), mine, theirs)

    def _refusals(self) -> Iterator[Refusal]:
        for box in self._boxes.values():
            for kind in self._kinds.values():
                if kind.fits(box):
                    said = [self._answer(box, question).refusal for question in self._questions(kind, FIRST)]
                    refused = list(filter(None, said))
                    if refused:
                        yield Refusal(box.name, kind.name, len(refused), len(said), brief(refused[0]))


def gap(a: Outcome, b: Outcome) -> float | None:
    """How far two answers are apart: 0 where they agree to :data:`DIGITS` digits, infinite where one is not a number.

    None where there is nothing to compare: one of them was refused, or one is for all users and one for each.
    """
    if a.refusal or b.refusal:
        return None
    if a.value is not None and b.value is not None:
        return _distance(a.value, b.value)
    if a.per_user is None or b.per_user is None:
        return None
    mine, theirs = values_by_user(a), values_by_user(b)
    if mine.keys() != theirs.keys():
        return math.inf
    return max((_distance(mine[user], theirs[user]) for user in mine), default=0.0)


def explaining(
    metric: Metric, question: Question, said: tuple[Outcome, Outcome], first: Protocol, second: Protocol
) -> tuple[Choice, ...]:
    """The decisions in which two policies differ that explain two answers: each alone does, or, where none does, all.

    None where a policy does not give the answer: then it explains nothing here.
    """
    space = Space(metric)
    simulation = Simulation(question, space)
    mine, theirs = hypothesis_of(first, space), hypothesis_of(second, space)

    def gives(hypothesis: Hypothesis, answer: Outcome) -> bool:
        return agree(answer, simulation.outcome(hypothesis), ROUNDING / 2)

    if not (gives(mine, said[0]) and gives(theirs, said[1])):
        return ()
    apart = [key for key in space.decisions if mine.values.get(key) != theirs.values.get(key)]
    alone = [
        key
        for key in apart
        if key in theirs.values and any(gives(way, said[1]) for way in space.changed(mine, {key: theirs.values[key]}))
    ]
    return tuple(Choice(key, mine.values.get(key), theirs.values.get(key)) for key in alone or apart)


def _distance(a: float, b: float) -> float:
    if close(a, b, 10.0**-DIGITS):
        return 0.0
    return abs(a - b) if math.isfinite(a) and math.isfinite(b) else math.inf


def _all_known(question: Question) -> bool:
    """Whether all items have training rows."""
    return set(question.items) <= {item for user in question.users for item, _ in user.train}


def _common_cutoffs(boxes: Sequence[BlackBox]) -> tuple[int, ...]:
    common = tuple(k for k in boxes[0].cutoffs if all(k in box.cutoffs for box in boxes))
    if not common and any(box.cutoffs for box in boxes):
        named = ", ".join(f"{box.name} ({', '.join(map(str, box.cutoffs)) or 'none'})" for box in boxes)
        raise ProtocolError(f"these have no cut-off in common, and cannot be compared: {named}")
    return common


def _label(box: BlackBox) -> str:
    return f"{box.metric.name}@k" if box.cutoffs else box.metric.name
