"""The cost of running a framework in a process and an environment of its own: python benchmarks/isolation.py

A cell of a study on MovieLens 100K: an algorithm is made, fitted to four fifths of the rows, and scores all users and
items, 64 users at a time; where it predicts ratings, it predicts the other fifth. The same cell runs in this process
and in a worker with the same versions, in alternating rounds. The table has the least seconds of each, and what the
worker adds. A worker starts once for each process of a run, so its start has a column of its own, and so has the import
of the framework, which a process without a worker needs as well.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np
from threadpoolctl import threadpool_limits

import repro
from repro.data.interactions import Interactions
from repro.evaluation.measure_lists import CHUNK_USERS
from repro.plugin import parameters_of, plugins
from repro.plugin.host.placement import ISOLATED

CELLS = {
    "implicit": ("item-knn", {}),
    "lenskit": ("ease", {}),
    "surprise": ("bias", {}),
}


def cell(reference: str, parameters: dict[str, float], train: Interactions, test: Interactions) -> float:
    _, algorithm = plugins().algorithm(reference)
    users, items = np.arange(train.n_users, dtype=np.int32), np.arange(train.n_items, dtype=np.int32)
    began = time.perf_counter()
    recommender = plugins().recommender(reference, parameters_of(algorithm, parameters))
    recommender.fit(train, seed=1)
    for start in range(0, len(users), CHUNK_USERS):
        recommender.score_users(users[start : start + CHUNK_USERS], items)
    if recommender.predicts:
        recommender.predict_pairs(test.users, test.items)
    return time.perf_counter() - began


def started(framework: str) -> tuple[float, float]:
    """Seconds until a new worker answers, and until it has imported its framework."""
    plugins().workers.close()
    began = time.perf_counter()
    worker = plugins().workers.get(plugins().launch(framework))
    answered = time.perf_counter()
    worker.ask("import")
    return answered - began, time.perf_counter() - answered


def compare(framework: str, train: Interactions, test: Interactions, rounds: int) -> None:
    name, parameters = CELLS[framework]
    start, imported = started(framework)
    times: dict[str, list[float]] = {"": [], framework: []}
    for _ in range(rounds):
        for isolated, taken in times.items():
            os.environ[ISOLATED] = isolated
            taken.append(cell(f"{framework}/{name}", parameters, train, test))
    in_process, in_worker = map(min, times.values())
    seconds = (start, imported, in_process, in_worker, in_worker - in_process)
    print(f"| {framework}/{name} | {' | '.join(f'{value:.2f}' for value in seconds)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    rows = repro.load_dataset("ml-100k")
    held_out = np.random.default_rng(1).random(len(rows)) < 0.2
    train, test = rows.select(~held_out), rows.select(held_out)
    print("| cell | start, s | import, s | in this process, s | in a worker, s | added, s |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    with threadpool_limits(1):
        for framework in CELLS:
            compare(framework, train, test, options.rounds)
    plugins().workers.close()


if __name__ == "__main__":
    main()
