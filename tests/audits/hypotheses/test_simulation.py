"""The core's answers to a question under many hypotheses, with the work that they share done once."""

import math

import numpy as np
import pytest

from repro.audits.hypotheses.simulation import Simulation
from repro.audits.hypotheses.space import Space
from repro.audits.questions.question import Question, User
from repro.evaluation.metrics import metric_named

GRADED = Question((User(5, {3: 1.0, 58: 2.0}, ((3, 5.0), (58, 4.0))), User(9, train=((3, 1.0), (58, 1.0)))), (3, 58), 2)


@pytest.mark.parametrize("thresholds", [(1.0, 3.0), (3.0, 1.0)])
def test_gains_that_start_from_a_threshold_are_told_apart_by_it(thresholds):
    space = Space(metric_named("ndcg"))
    simulation = Simulation(GRADED, space)
    for threshold in thresholds:
        decided = {"relevance.threshold": threshold, "metric.ndcg.gain": "exp2-threshold"}
        [hypothesis] = space.with_changes(space.start, decided)
        lower, higher = 2 ** (4 - threshold + 1) - 1, 2 ** (5 - threshold + 1) - 1  # item 58 is listed first
        second = 1 / math.log2(3)
        wanted = (lower + higher * second) / (higher + lower * second)
        assert simulation.outcome(hypothesis).value == pytest.approx(wanted, abs=1e-12)


SCORES = (math.nan, -math.inf, -1.0, 0.0, 0.3, 0.3 + 1e-9, 1.0, 2.0, math.inf)


def random_question(rng):
    """Four users with ties, missing, infinite and negative scores, lists of any length, and any judgements."""
    items = tuple(range(10, 17))
    users = []
    for number in range(4):
        listed = rng.permutation(items)[: rng.integers(0, len(items) + 1)].tolist()
        scores = {item: float(rng.choice(SCORES)) for item in listed}
        held_out = rng.permutation(items)[: rng.integers(1, 4)].tolist()
        train = tuple(
            (item, float(rng.integers(1, 6))) for item in items if item not in held_out and rng.random() < 0.3
        )
        fallback = frozenset(item for item in listed if rng.random() < 0.1)
        test = tuple((item, float(rng.integers(0, 6))) for item in held_out)
        users.append(User(number, scores, test, train=train, fallback=fallback))
    return Question(tuple(users), items, int(rng.integers(1, 5)))


@pytest.mark.parametrize("name", ["ndcg", "ap", "auc", "catalogue-coverage", "f1", "rmse"])
def test_an_outcome_is_the_same_whatever_was_simulated_before(name):
    rng = np.random.default_rng(7)
    space = Space(metric_named(name))
    different = set()
    for _ in range(6):
        question = random_question(rng)
        shared = Simulation(question, space)
        for _ in range(30):
            options = {key: space.tried(key) for key in space.decisions}
            decided = {key: values[rng.integers(len(values))] for key, values in options.items() if values}
            for hypothesis in space.with_changes(space.start, decided)[:2]:
                outcome = shared.outcome(hypothesis)
                alone = Simulation(question, space).outcome(hypothesis)
                assert same(outcome, alone), (hypothesis.values, question)
                different.add((outcome.value, outcome.refusal))
    assert len(different) > 10


def same(a, b):
    """Whether two outcomes are equal, where not a number equals itself."""
    users = (a.per_user or {}).keys() | (b.per_user or {}).keys()
    pairs = [(a.value, b.value), *(((a.per_user or {}).get(u), (b.per_user or {}).get(u)) for u in users)]
    return a.refusal == b.refusal and all(x == y or (x != x and y != y) for x, y in pairs)
