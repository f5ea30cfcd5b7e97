"""Reading a CSV file of ratings, compared with Polars and pyarrow: python benchmarks/reading.py [RATINGS]

The file has users, items, ratings and times, in the shape of MovieLens 25M or smaller. The peers read its four columns
into a frame; repro returns interactions: ids numbered in ascending order, every value checked, every guess noted.
All are run in alternating rounds; the least seconds of each count.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv

from repro.data import read_interactions, synthetic_interactions

ROUNDS = 5
PEERS: dict[str, Callable[[Path], object]] = {
    "repro": read_interactions,
    f"polars {pl.__version__}": pl.read_csv,
    f"pyarrow {pa.__version__}": pacsv.read_csv,
    f"pandas {pd.__version__}": pd.read_csv,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ratings", nargs="?", type=int, default=25_000_000)
    ratings = parser.parse_args().ratings
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ratings.csv"
        if not (child := os.fork()):  # so that its memory is given back
            write(file, ratings)
            os._exit(0)
        os.waitpid(child, 0)
        seconds: dict[str, list[float]] = {name: [] for name in PEERS}
        for _ in range(ROUNDS):
            for name, read in PEERS.items():
                began = time.perf_counter()
                read(file)
                seconds[name].append(time.perf_counter() - began)
        megabytes = file.stat().st_size / 1e6
    print(f"{ratings:,} ratings, {megabytes:,.0f} MB", file=sys.stderr)
    print("| reader | s | times repro |\n| --- | ---: | ---: |")
    for name, times in seconds.items():
        print(f"| {name} | {min(times):.2f} | {min(times) / min(seconds['repro']):.2f} |")


def write(file: Path, ratings: int) -> None:
    rows = synthetic_interactions(
        users=max(1, ratings * 162 // 25_000), items=max(1, ratings * 62 // 25_000), ratings=ratings, seed=1
    )
    table = {
        "userId": rows.user_ids[rows.users],
        "movieId": rows.item_ids[rows.items],
        "rating": rows.ratings,
        "timestamp": rows.timestamps,
    }
    pacsv.write_csv(pa.table(table), file)


if __name__ == "__main__":
    main()
