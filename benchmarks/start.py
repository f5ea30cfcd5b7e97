"""The time until a second process has evaluated: python benchmarks/start.py

Compiled code is stored on disk. A new process imports repro, loads the code and evaluates two small frames. For
comparison, a new process imports Numba and runs the smallest compiled function, also from disk, as other programs with
such compiled loops must; repro calls stored machine code without Numba where it can. The import of pandas, which users
of frames need anyway, is reported separately.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

OURS = """
import time; began = time.perf_counter()
import pandas as pd
imported = time.perf_counter()
import repro
lists = pd.DataFrame({"user": ["a", "a", "b"], "item": ["x", "y", "x"], "score": [2.0, 1.0, 3.0]})
truth = pd.DataFrame({"user": ["a", "b"], "item": ["x", "y"], "rating": [1, 1]})
repro.evaluate(lists, truth, metrics=["ndcg@10", "precision@10", "recall@10", "ap@100", "rr"])
print(imported - began, time.perf_counter() - imported)
"""
SMALLEST = """
import time; began = time.perf_counter()
import pandas as pd
imported = time.perf_counter()
import numpy as np
from numba import njit

@njit(cache=True)
def total(values):
    found = 0.0
    for value in values:
        found += value
    return found

total(np.ones(3))
print(imported - began, time.perf_counter() - imported)
"""


def least(code: str, script: Path, processes: int = 7) -> tuple[float, float]:
    """The least seconds of several processes, of importing pandas and of the rest; the first fills the cache."""
    script.write_text(code)
    times = []
    for _ in range(processes + 1):
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
        times.append(tuple(map(float, done.stdout.split())))
    return min(t[0] for t in times[1:]), min(t[1] for t in times[1:])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        print("| a second process | pandas, s | then, s |")
        print("| --- | ---: | ---: |")
        for title, code in (("repro: import to numbers", OURS), ("the smallest compiled function", SMALLEST)):
            pandas, rest = least(code, Path(folder) / f"process_{len(code)}.py")
            print(f"| {title} | {pandas:.2f} | {rest:.2f} |")


if __name__ == "__main__":
    main()
