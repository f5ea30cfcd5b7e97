"""Shrinking: questions made as small as possible, so that a person can read them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from repro.audit.questions.question import Question

MAX_TRIES = 400


def shrink(
    question: Question,
    is_kept: Callable[[Question], bool],
    max_tries: int = MAX_TRIES,
    *,
    known_users: bool = False,
    takes: Callable[[int | None], bool] = lambda k: True,
) -> Question:
    """The smallest question that is reached by removing parts, one at a time, as long as ``is_kept`` accepts it.

    ``is_kept`` is called at most ``max_tries`` times. A smaller question gets no oddity that the question does not
    have: short lists, unknown items and, with ``known_users``, unknown users. ``takes`` says which cut-offs the
    black box accepts.
    """
    tries_left = max_tries
    allowed = question.oddities | (set() if known_users else {"unknown users"})
    # Candidates that were rejected are not tried again until all others were tried.
    n_rejected, is_smaller = 0, False
    while tries_left > 0:
        for smaller in islice(question.smaller(), n_rejected, None):
            if smaller.oddities <= allowed and (smaller.k == question.k or takes(smaller.k)):
                tries_left -= 1
                if is_kept(smaller):
                    question, is_smaller = smaller, True
                    break
            n_rejected += 1
            if tries_left <= 0:
                break
        else:
            if not is_smaller:
                break
            n_rejected, is_smaller = 0, False
    for at in range(len(question.users)):
        for simplify in (Question.with_plain_scores, Question.with_plain_ratings):
            simpler = simplify(question, at)
            question = simpler if is_kept(simpler) else question
    return question
