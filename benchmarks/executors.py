"""Local processes compared with Ray, with one worker and with two: python benchmarks/executors.py

Cells: five algorithms on MovieLens 100K, five folds: 25 cells, run into a folder as `repro run` does, with processes
that are started for the run. The cluster is there before, on this machine, and connecting to it is part of the time.

Blocks: one algorithm on one fold of synthetic data, 24,160 users by 3,706 items, all lists ranked to their end, nine
metrics. On Ray with two workers, the blocks of its users are tasks of their own; the fit and the scores are one
process's work. Here, one cell has all cores, whatever the number of workers.

All are run in alternating rounds; the table has the least seconds of each. Their results must be the same bytes.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from ray.cluster_utils import Cluster

import repro
from repro.data import synthetic_interactions
from repro.protocol import parse_protocol
from repro.study import RunOptions, run_study

ALGORITHMS = ["popularity", "item-knn", "user-knn", "ease", "puresvd"]
SPLIT = '[relevance]\nrule = "any"\n[split]\nstrategy = "user-ratio"\n[candidates]\nbase = "all-items"\n'
METRICS = ["ndcg", "ap", "rr", "auc", "ndcg@10", "precision@10", "recall@10", "hit@10", "catalogue-coverage@10"]
KINDS = [("local", 1), ("local", 2), ("ray", 1), ("ray", 2)]


def studies() -> dict[str, repro.Study]:
    rows = synthetic_interactions(users=24_160, items=3706, ratings=2_000_000, seed=1)
    return {
        "cells": repro.Study("ml-100k", "random-5fold", [f"reference/{name}" for name in ALGORITHMS], ["ndcg@10"]),
        "blocks": repro.Study(rows, parse_protocol(SPLIT, "ratio"), ["reference/random"], METRICS),
    }


def seconds_of(study: repro.Study, executor: str, workers: int, address: str) -> tuple[float, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        where = {"executor": "ray", "address": address} if executor == "ray" else {}
        began = time.perf_counter()
        results = run_study(study, Path(folder) / "run", RunOptions(workers=workers, **where))
        return time.perf_counter() - began, (results.folder / "results.parquet").read_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    measured = studies()
    with tempfile.TemporaryDirectory(prefix="ray") as folder:
        cluster = Cluster(
            initialize_head=True,
            head_node_args={
                "num_cpus": 2,
                "object_store_memory": 2**30,
                "include_dashboard": False,
                "temp_dir": folder,
            },
        )
        try:
            compare(measured, cluster.address, rounds)
        finally:
            cluster.shutdown()


def compare(measured: dict[str, repro.Study], address: str, rounds: int) -> None:
    print("| what | executor | workers | s | times local | times one worker |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for label, study in measured.items():
        seconds_of(study, "local", 1, address)  # what is compiled is compiled once
        runs_of: dict[tuple[str, int], list[tuple[float, bytes]]] = {kind: [] for kind in KINDS}
        for _ in range(rounds):
            for kind in KINDS:
                runs_of[kind].append(seconds_of(study, *kind, address))
        assert len({results for runs in runs_of.values() for _, results in runs}) == 1
        least = {kind: min(took for took, _ in runs) for kind, runs in runs_of.items()}
        for executor, workers in KINDS:
            took = least[executor, workers]
            local, one_worker = took / least["local", workers], took / least[executor, 1]
            print(f"| {label} | {executor} | {workers} | {took:.2f} | {local:.2f} | {one_worker:.2f} |", flush=True)


if __name__ == "__main__":
    main()
