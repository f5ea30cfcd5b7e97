"""Small recommendations and their truth, as data frames."""

import pandas as pd

from repro.lists import evaluate


def frame(rows, columns="user item score"):
    return pd.DataFrame(rows, columns=columns.split())


# Ann finds one of her two items, at rank 2; Bob finds his only one, at rank 1; Cem has no list; Dot has one, but
# is no test user.
RECOMMENDED = frame(
    [
        ("ann", "x", 0.9),
        ("ann", "y", 0.8),
        ("ann", "z", 0.7),
        ("bob", "y", 3.0),
        ("bob", "x", 1.0),
        ("dot", "x", 1.0),
    ]
)
HELD_OUT = frame([("ann", "y"), ("ann", "w"), ("bob", "y"), ("cem", "x")], "user item")


def values(*args, **kwargs):
    table = evaluate(*args, **kwargs)
    return dict(zip(table["metric"], table["value"], strict=True))
