"""A small data set with all that makes evaluation difficult: ties, equal times, users with one row, unrated items.

The generator is a linear congruential one of its own, so that no library can change the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

USERS, ITEMS = 36, 40


def numbers(seed: int) -> Iterator[int]:
    """Endless whole numbers from 0 to 2^31 - 1 (the multiplier and increment of Knuth's MMIX, upper bits)."""
    state = seed
    while True:
        state = (6364136223846793005 * state + 1442695040888963407) % 2**64
        yield state >> 33


def ratings(seed: int = 1) -> pd.DataFrame:
    """Rows of user, item, rating, timestamp: popular items are rated more and better; each day has several rows."""
    draw = numbers(seed)
    rows = []
    for user in range(1, USERS + 1):
        size = 1 + next(draw) % 24 if user % 12 == 0 else 6 + next(draw) % 19
        items: list[int] = []
        while len(items) < size:
            item = 100 + min(next(draw) % ITEMS, next(draw) % ITEMS)
            if item not in items:
                items.append(item)
        for item in items:
            rating = 1 + (next(draw) % 5 + (user + item) % 3 + (140 - item) // 14) % 5
            rows.append((user, item, rating, 86400 * (next(draw) % 60)))
    return pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])


def features() -> pd.DataFrame:
    """Two features of each item: genres in words, and a number."""
    draw = numbers(2)
    genres = ["drama", "comedy", "war", "crime", "music"]
    rows = []
    for item in range(100, 100 + ITEMS):
        chosen = sorted({genres[next(draw) % 5], genres[next(draw) % 5]})
        rows.append((item, "|".join(chosen)))
    return pd.DataFrame(rows, columns=["item", "genres"])


def recommendations(seed: int = 3, length: int = 15) -> pd.DataFrame:
    """Lists with tied, missing and made-up scores; two test users have no list, one user has a list and no test row."""
    draw = numbers(seed)
    rows = []
    for user in [*range(3, USERS + 1), 99]:
        items: list[int] = []
        while len(items) < length:
            item = 100 + next(draw) % (ITEMS + 3)
            if item not in items:
                items.append(item)
        for item in items:
            score = None if next(draw) % 17 == 0 else (next(draw) % 40) / 8
            state = "unscored" if score is None else "fallback" if next(draw) % 13 == 0 else "scored"
            rows.append((user, item, score, state))
    return pd.DataFrame(rows, columns=["user", "item", "score", "state"])


def parts(data: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and test rows: every fourth row is a test row."""
    held_out = [row % 4 == 3 for row in range(len(data))]
    test = data[held_out].reset_index(drop=True)
    return data[[not out for out in held_out]].reset_index(drop=True), test


def negatives(data: pd.DataFrame) -> pd.DataFrame:
    """Ten items for each user that the user has not rated."""
    draw = numbers(5)
    rows = []
    for user in range(1, USERS + 1):
        rated = set(data.item[data.user == user])
        free = [item for item in range(100, 100 + ITEMS) if item not in rated]
        start = next(draw) % len(free)
        rows += [(user, item) for item in (free + free)[start : start + min(10, len(free))]]
    return pd.DataFrame(rows, columns=["user", "item"])


def write_files(folder: Path) -> None:
    """Every file that a study reads."""
    data = ratings()
    data.to_csv(folder / "ratings.csv", index=False)
    again = data[data.index % 9 == 0].assign(rating=lambda rows: 6 - rows.rating)
    pd.concat([data, again]).to_csv(folder / "repeated.csv", index=False)
    train, test = parts(data)
    train[train.index % 8 != 7].to_csv(folder / "train.csv", index=False)
    train[train.index % 8 == 7].to_csv(folder / "validation.csv", index=False)
    test.to_csv(folder / "test.csv", index=False)
    features().to_csv(folder / "features.csv", index=False)
    negatives(data).to_csv(folder / "negatives.csv", index=False)
