"""Questions: what an evaluator gets to see, and how they are made smaller."""

import json
import math

import numpy as np

from repro.audits.questions.generator import QuestionGenerator
from repro.audits.questions.question import Question, User, shrink
from repro.plugin import FALLBACK

ANN = User(7, {10: 0.5, 2: math.nan}, test=((2, 5.0),), train=((33, 1.0),), fallback=frozenset({10}))
CROWD = User(3, train=((2, 4.0), (10, 2.0)))
QUESTION = Question((ANN, CROWD), (33, 2, 10), k=2)


def test_a_question_as_an_evaluator_takes_it():
    case = QUESTION.case
    assert case.test.user_ids.tolist() == [3, 7]
    assert case.test.item_ids.tolist() == [2, 10, 33]
    np.testing.assert_array_equal(case.scores.values[1], [math.nan, 0.5, math.nan])
    assert case.scores.state.tolist() == [[0, 0, 0], [0, FALLBACK, 0]]
    assert case.listed.tolist() == [[True, True, True], [True, True, False]]
    assert case.order.tolist() == [2, 0, 1]
    assert case.list_of(1).tolist() == [0, 1]
    assert case.tested.tolist() == [1]
    assert case.train.to_frame().to_numpy().tolist() == [[7, 33, 1.0], [3, 2, 4.0], [3, 10, 2.0]]


def test_a_question_as_a_person_reads_it():
    assert QUESTION.to_text() == (
        "k = 2\n"
        "user 7: scores {2: nan, 10: 0.5 (fallback)}; held out {2: 5}; trained on {33: 1}\n"
        "user 3: trained on {2: 4, 10: 2}"
    )


def test_a_question_is_made_as_small_as_it_can_be():
    drawn = QuestionGenerator((3,)).question({"training", "graded"}, np.random.default_rng(0))
    wanted = drawn.tested[0].test[0][0]
    smallest = shrink(drawn, lambda question: any(item == wanted for user in question.tested for item, _ in user.test))
    [user] = smallest.tested
    assert [item for item, _ in user.test] == [wanted]
    assert not user.train
    # Lists that had k items keep as many, and what is not known from training is in none.
    assert smallest.k == 1
    assert len(smallest.items) == 1


def test_questions_have_what_they_are_drawn_with_and_nothing_else():
    rng = np.random.default_rng(1)
    for _ in range(50):
        plain = QuestionGenerator((1, 2, 3, 5)).question((), rng)
        user = plain.tested[0]
        assert {rating for _, rating in user.test} == {5.0}
        assert len(set(user.scores.values())) == len(plain.items) > plain.k
        assert min(user.scores.values()) > 0
        assert not user.train
        short = QuestionGenerator((1, 2, 3, 5)).question({"short-lists"}, rng)
        assert len(short.items) <= short.k
        missing = QuestionGenerator((3,)).question({"missing"}, rng).tested[0].scores.values()
        assert sum(map(math.isnan, missing)) <= 1  # two would be tied
        graded = QuestionGenerator((3,)).question({"graded", "training"}, rng).tested[0]
        assert max(rating for _, rating in graded.test) == 5.0
        assert sum(rating for _, rating in graded.train) / len(graded.train) < 5.0
        assert not {item for item, _ in graded.test} & {item for item, _ in graded.train}


def test_plain_data_gives_the_question_back():
    users = (
        User(7, {4: 2.5, 10: math.nan, 11: -math.inf}, ((4, 5.0), (4, 3.0)), ((10, 1.0),), frozenset({4})),
        User(9, {}, (), ((11, 2.5),)),
    )
    question = Question(users, (11, 4, 10), 3, (0.5, 4.5))
    stored = json.loads(json.dumps(question.to_dict(), allow_nan=False))
    again = Question.from_dict(stored)
    assert again.to_dict() == question.to_dict()
    assert (again.to_text(), again.scale, again.users[0].fallback) == (question.to_text(), (0.5, 4.5), {4})
