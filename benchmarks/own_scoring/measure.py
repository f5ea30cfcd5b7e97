"""Runs in a framework's environment: its plug-in beside the framework's own batch scoring of the same fitted model.

`measure.py FRAMEWORK ROWS ROUNDS` prints a line of JSON for each case of `of_FRAMEWORK.py`. The scores must agree
before they are timed. A round asks the framework, the plug-in for everything in one call, and the plug-in in chunks of
as many users as a study asks for, one after the other, so that whatever else the machine does meets all of them.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from batch import SEED, Batch, Case

from repro.data.interactions import Interactions
from repro.plugin import Framework, make_recommender, parameters_of

CHUNK = 64
# Seconds after which three rounds are enough.
LONG = 2.0


def seconds(ask: Callable[[], Any]) -> float:
    began = time.perf_counter()
    ask()
    return time.perf_counter() - began


def check(case: Case, batch: Batch, values: np.ndarray) -> None:
    """The plug-in's scores are the framework's own, where these are numbers: equal to 1e-5, or to 1e-5 of them."""
    theirs = batch.dense(batch.ask())
    has_score = np.isfinite(theirs)
    assert has_score.mean() > 0.05, f"{case.algorithm}: hardly any scores"
    np.testing.assert_allclose(values[has_score], theirs[has_score], rtol=case.tolerance, atol=case.tolerance)


def measure(framework: Framework, case: Case, train: Interactions, rounds: int) -> dict[str, Any]:
    algorithm = next(declared for declared in framework.algorithms if declared.name == case.algorithm)
    recommender = make_recommender(algorithm, parameters_of(algorithm, case.parameters), case.algorithm)
    recommender.fit(train, seed=SEED)
    batch = case.own(train, recommender._recommender)
    users, items = np.arange(train.n_users, dtype=np.int32), np.arange(train.n_items, dtype=np.int32)

    def in_chunks() -> None:
        for start in range(0, len(users), CHUNK):
            recommender.score_users(users[start : start + CHUNK], items)

    def all_scores() -> np.ndarray:
        return recommender.score_users(users, items).values

    check(case, batch, all_scores())
    rounds = rounds if seconds(batch.ask) < LONG else 3
    times = [[seconds(ask) for ask in (batch.ask, all_scores, in_chunks)] for _ in range(rounds)]
    own, one_call, chunks = (statistics.median(column) for column in zip(*times, strict=True))
    return {"algorithm": case.algorithm, "way": case.way, "own": own, "one call": one_call, "chunks": chunks}


def main() -> None:
    name, rows, rounds = sys.argv[1:]
    with np.load(rows) as stored:
        users, items, ratings = stored["users"], stored["items"], stored["ratings"]
    ids = [np.arange(codes.max() + 1) for codes in (users, items)]
    train = Interactions(users, items, ratings, None, *ids)
    framework = importlib.import_module(f"repro_{name}.plugin").repro_framework()
    for case in importlib.import_module(f"of_{name}").CASES:
        with contextlib.redirect_stdout(io.StringIO()):
            result = measure(framework, case, train, int(rounds))
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
