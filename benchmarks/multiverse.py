"""The cost of 1,000 protocols compared with one: python benchmarks/multiverse.py

Five algorithms on MovieLens 100K, five folds, whose scores are stored. One protocol is evaluated: the run is opened,
scores are read, candidates chosen, lists ranked and measured. Then 1,000 are, in the same way: ties, missing scores,
candidates, the relevance threshold and the variants of nDCG are varied, in the designed sample of `repro multiverse`.
Both run in alternating rounds, in one process. The table has the least seconds of each, and their ratio.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import repro
from repro.explanations import ScoredRun, multiverse
from repro.explanations.variants import measure_variants

ALGORITHMS = ["popularity", "item-knn", "user-knn", "ease", "puresvd"]
VARIED = ["ties", "missing", "candidates", "relevance.threshold", "metric.ndcg"]


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variants", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = repro.Study("ml-100k", "random-5fold", [f"reference/{name}" for name in ALGORITHMS], ["ndcg@10"])
        run = study.run(Path(folder) / "run", keep_scores=True, workers=2).folder

        def single_protocol() -> object:
            scored = ScoredRun.open(run)
            return measure_variants(scored, [scored.protocol], ["ndcg@10"])

        def many() -> object:
            return multiverse(ScoredRun.open(run), VARIED, budget=options.variants)

        single_protocol()  # what is compiled is compiled once
        single, several = [], []
        for _ in range(options.rounds):
            single.append(timed(single_protocol))
            several.append(timed(many))
    print("| protocols | s | times one |\n| ---: | ---: | ---: |")
    ratio = min(several) / min(single)
    print(f"| 1 | {min(single):.2f} | 1 |\n| {options.variants:,} | {min(several):.1f} | {ratio:.1f} |")


if __name__ == "__main__":
    main()
