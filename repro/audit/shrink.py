"""Questions made as small as they can be, so that a person can read them."""

from __future__ import annotations

from collections.abc import Callable

from repro.audit.question import Question

MOST_TRIES = 400


def shrunk(
    question: Question, still: Callable[[Question], bool], tries: int = MOST_TRIES, *, known_users: bool = False
) -> Question:
    """The smallest question that can be reached by taking things away, one at a time, while ``still`` holds.

    ``still`` is asked at most ``tries`` times. Nothing becomes odd that is not: short lists, unknown items and, where
    ``known_users`` says so, unknown users are other matters.
    """
    left, odd = tries, question.oddities | (set() if known_users else {"unknown users"})
    found = True
    while found:
        found = False
        for smaller in question.smaller():
            if left <= 0:
                break
            if not smaller.oddities <= odd:
                continue
            left -= 1
            if still(smaller):
                question, found = smaller, True
                break
    for plainer in question.plainer():
        if still(plainer):
            question = plainer
            break
    return question
