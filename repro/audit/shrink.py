"""Questions made as small as they can be, so that a person can read them."""

from __future__ import annotations

from collections.abc import Callable

from repro.audit.question import Question

MOST_TRIES = 400


def shrunk(question: Question, still: Callable[[Question], bool], tries: int = MOST_TRIES) -> Question:
    """The smallest question that can be reached by taking things away, one at a time, while ``still`` holds.

    ``still`` is asked at most ``tries`` times. Lists stay longer than k where they are: short ones are another matter.
    """
    left, long = tries, not question.short
    found = True
    while found:
        found = False
        for smaller in question.smaller():
            if left <= 0:
                break
            if long and smaller.short:
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
