"""Scoring all of MovieLens 100K, compared with Surprise's own `algo.test`: python benchmarks/surprise_scoring.py

Both have the same fitted parameters and score the same pairs, all users by all items. `algo.test` takes minutes for all
of them, so it is timed on a random sample, and its time is scaled to all pairs; first, the estimates of the sample must
agree to 1e-9. The plug-in scores all pairs, in one call and in chunks of 64 users as studies request them,
on one thread.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np
import surprise
from threadpoolctl import threadpool_limits

import repro
from repro.data.interactions import Interactions
from repro.evaluation.measure_lists import CHUNK_USERS
from repro.plugin import CheckedRecommender, plugins

SEED = 1
KNN: dict[str, Any] = {"verbose": False}
CONTESTANTS: dict[str, tuple[str, dict[str, Any], Any]] = {
    "SVD": ("surprise/SVD", {}, lambda: surprise.SVD(random_state=SEED)),
    "KNNBasic, users": ("surprise/KNNBasic", {}, lambda: surprise.KNNBasic(sim_options={}, **KNN)),
    "KNNBasic, items": (
        "surprise/KNNBasic",
        {"sim_user_based": False},
        lambda: surprise.KNNBasic(sim_options={"user_based": False}, **KNN),
    ),
    "KNNWithMeans, items, pearson": (
        "surprise/KNNWithMeans",
        {"sim_user_based": False, "sim_name": "pearson"},
        lambda: surprise.KNNWithMeans(sim_options={"user_based": False, "name": "pearson"}, **KNN),
    ),
    "KNNBaseline, users": ("surprise/KNNBaseline", {}, lambda: surprise.KNNBaseline(sim_options={}, **KNN)),
    "NMF": ("surprise/NMF", {}, lambda: surprise.NMF(random_state=SEED)),
    "SlopeOne": ("surprise/SlopeOne", {}, surprise.SlopeOne),
    "CoClustering": ("surprise/CoClustering", {}, lambda: surprise.CoClustering(random_state=SEED)),
}


def own(make: Any, rows: Interactions) -> Any:
    """Surprise's algorithm, fitted; codes are its raw ids."""
    frame = rows.to_frame().assign(user=rows.users, item=rows.items)[["user", "item", "rating"]]
    scale = (float(rows.ratings.min()), float(rows.ratings.max()))
    return make().fit(surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=scale)).build_full_trainset())


def timed_test(algorithm: Any, pairs: list[tuple[int, int, float]]) -> float:
    began = time.perf_counter()
    algorithm.test(pairs)
    return time.perf_counter() - began


def timed_scores(recommender: CheckedRecommender, rows: Interactions, chunk: int) -> float:
    users, items = np.arange(rows.n_users, dtype=np.int32), np.arange(rows.n_items, dtype=np.int32)
    began = time.perf_counter()
    for start in range(0, len(users), chunk):
        recommender.score_users(users[start : start + chunk], items)
    return time.perf_counter() - began


def compare(name: str, rows: Interactions, sample: int, rounds: int) -> None:
    reference, parameters, make = CONTESTANTS[name]
    algorithm = own(make, rows)
    recommender = plugins().recommender(reference, parameters)
    recommender.fit(rows, seed=SEED)
    chosen = np.random.default_rng(SEED).choice(rows.n_users * rows.n_items, sample, replace=False)
    users, items = (chosen // rows.n_items).astype(np.int32), (chosen % rows.n_items).astype(np.int32)
    sampled = list(zip(users.tolist(), items.tolist(), strict=True))
    estimates = np.array([algorithm.predict(user, item, clip=False).est for user, item in sampled])
    assert np.abs(recommender.predict_pairs(users, items).values - estimates).max() < 1e-9
    pairs = [(user, item, 0.0) for user, item in sampled]
    everything = rows.n_users * rows.n_items / sample
    times = [  # side by side, so that whatever else the machine does meets both
        (
            timed_test(algorithm, pairs) * everything,
            timed_scores(recommender, rows, rows.n_users),
            timed_scores(recommender, rows, CHUNK_USERS),
        )
        for _ in range(rounds)
    ]
    test, at_once, chunks = (statistics.median(column) for column in zip(*times, strict=True))
    print(
        f"| {name} | {test:,.1f} | {at_once:.3f} | {test / at_once:,.0f}x | {chunks:.3f} | {test / chunks:,.0f}x |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(CONTESTANTS), help="which algorithms; all by default")
    parser.add_argument("--sample", type=int, default=10_000, help="pairs that algo.test is timed on")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rows = repro.load_dataset("ml-100k")
    print(f"scikit-surprise {surprise.__version__}; {rows.n_users:,} users by {rows.n_items:,} items;", end=" ")
    print(f"algo.test measured on {options.sample:,} random pairs and scaled to all {rows.n_users * rows.n_items:,}\n")
    print(f"| algorithm | algo.test, s | one call, s | ratio | {CHUNK_USERS} users at a time, s | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    with threadpool_limits(1):
        for name in options.names:
            compare(name, rows, options.sample, options.rounds)


if __name__ == "__main__":
    main()
