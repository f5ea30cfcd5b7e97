"""What the core says of a question under many hypotheses, with the work that they share done once."""

from __future__ import annotations

import math

import pytest

from repro.audit.questions.question import Question, User
from repro.audit.simulation import Simulation
from repro.audit.space import Space
from repro.evaluation.metrics import metric_named

GRADED = Question((User(5, {3: 1.0, 58: 2.0}, ((3, 5.0), (58, 4.0))), User(9, train=((3, 1.0), (58, 1.0)))), (3, 58), 2)


@pytest.mark.parametrize("thresholds", [(1.0, 3.0), (3.0, 1.0)])
def test_gains_that_start_from_a_threshold_are_told_apart_by_it(thresholds):
    space = Space(metric_named("ndcg"))
    simulation = Simulation(GRADED, space)
    for threshold in thresholds:
        decided = {"relevance.threshold": threshold, "metric.ndcg.gain": "exp2-threshold"}
        [hypothesis] = space.changed(space.start, decided)
        lower, higher = 2 ** (4 - threshold + 1) - 1, 2 ** (5 - threshold + 1) - 1  # item 58 is listed first
        second = 1 / math.log2(3)
        wanted = (lower + higher * second) / (higher + lower * second)
        assert simulation.outcome(hypothesis).value == pytest.approx(wanted, abs=1e-12)
