"""Questions made as small as they can be, so that a person can read them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from repro.audit.questions.question import Question

MOST_TRIES = 400


def shrunk(
    question: Question,
    still: Callable[[Question], bool],
    tries: int = MOST_TRIES,
    *,
    known_users: bool = False,
    takes: Callable[[int | None], bool] = lambda k: True,
) -> Question:
    """The smallest question that can be reached by taking things away, one at a time, while ``still`` holds.

    ``still`` is asked at most ``tries`` times. Nothing becomes odd that is not: short lists, unknown items and, where
    ``known_users`` says so, unknown users are other matters. ``takes`` tells which cut-offs may be asked about.
    """
    left, odd = tries, question.oddities | (set() if known_users else {"unknown users"})
    passed, found = 0, False  # what cannot be taken away is passed by, until something else was
    while left > 0:
        for smaller in islice(question.smaller(), passed, None):
            if smaller.oddities <= odd and (smaller.k == question.k or takes(smaller.k)):
                left -= 1
                if still(smaller):
                    question, found = smaller, True
                    break
            passed += 1
            if left <= 0:
                break
        else:
            if not found:
                break
            passed, found = 0, False
    for at in range(len(question.users)):
        for plain in (Question.with_plain_scores, Question.with_plain_ratings):
            plainer = plain(question, at)
            question = plainer if still(plainer) else question
    return question
