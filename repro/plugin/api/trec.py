"""A case as tools of information retrieval take it: a run and judgements, with ids as text."""

from __future__ import annotations

from typing import Any

from repro.plugin.api.evaluator import Case

# For ``Evaluator.cannot``: what a run and judgements cannot express, where judgements are whole numbers.
CANNOT = {
    "training": "a run has no training rows",
    "unknown-items": "a run has no training rows",
    "fractional": "judgements are whole numbers",
    "fallback": "the scores of a run have no marks",
    "duplicates": "judgements are given by item",
}


def run_of(case: Case) -> dict[str, dict[str, float]]:
    """The scores of each tested user's list, in the order of presentation; users without a list are not in it."""
    users, items = case.test.user_ids, case.test.item_ids
    run = {}
    for user in case.tested.tolist():
        listed = case.list_of(user)
        if len(listed):
            names = map(str, items[listed].tolist())
            run[str(users[user])] = dict(zip(names, case.scores.values[user, listed].tolist(), strict=True))
    return run


def judgements_of(case: Case) -> dict[str, dict[str, Any]]:
    """The held-out ratings of each user, whole numbers as such. If a pair occurs twice, the last row counts."""
    users, items = case.test.user_ids.tolist(), case.test.item_ids.tolist()
    judgements: dict[str, dict[str, Any]] = {}
    rows = zip(case.test.users.tolist(), case.test.items.tolist(), case.test.ratings.tolist(), strict=True)
    for user, item, rating in rows:
        grade = int(rating) if rating.is_integer() else rating
        judgements.setdefault(str(users[user]), {})[str(items[item])] = grade
    return judgements


def by_code(case: Case, values: dict[str, float]) -> dict[int, float]:
    """Values by user code, from values by user id."""
    codes = {str(case.test.user_ids[user]): user for user in case.tested.tolist()}
    return {codes[user]: value for user, value in values.items()}
