"""Time and memory of a study as its data grows: python benchmarks/scale.py [SIZE ...]

Synthetic ratings in the shape of MovieLens 100K (1x), 1M (10x), 10M (100x) and 25M (250x) are written as a CSV file,
and `repro run` reads them, holds out a fifth of each user's ratings, and evaluates popularity, item-knn and
implicit-als on all test users and all items, one cell after the other. Writing the file is not part of the time. Lists
are scored while others are ranked. The time outside of cells is reading, splitting, tables, tests and the report.

Memory is that of the run and of all processes it has started, shared pages counted once (PSS), measured ten times a
second; for the largest size it is the peak that has to stay below 8 GiB.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv

from repro.data import synthetic_interactions
from repro.runs.journal import read_journal

SIZES = {
    "1x": (943, 1_682, 100_000),
    "10x": (6_040, 3_706, 1_000_000),
    "100x": (69_878, 10_677, 10_000_000),
    "250x": (162_000, 62_000, 25_000_000),
}
ALGORITHMS = ("reference/popularity", "implicit/item-knn", "implicit/implicit-als")
STUDY = """
data = "ratings.csv"
metrics = ["ndcg@10", "recall@10", "rr@10"]
seed = 1
[protocol]
base = "random-5fold"
split.strategy = "user-ratio"
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", choices=[*SIZES, []], metavar="SIZE", help=f"any of {', '.join(SIZES)}")
    sizes = parser.parse_args().sizes or list(SIZES)
    print("| size | users | items | ratings | cell | fit, s | score, s | rank, s | cell, s | all, s | peak GiB |")
    print("| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            measure(size, Path(folder))


def measure(size: str, folder: Path) -> None:
    users, items, ratings = SIZES[size]
    subprocess.run([sys.executable, __file__, "--write", str(folder), size], check=True)
    algorithms = "".join(f'[[algorithms]]\nuse = "{name}"\n' for name in ALGORITHMS)
    (folder / "study.toml").write_text(STUDY + algorithms)
    began = time.perf_counter()
    run = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "repro",
            "run",
            str(folder / "study.toml"),
            "--into",
            str(folder / "run"),
            "--workers",
            "1",
            "--quiet",
        ],
        stdout=subprocess.DEVNULL,
    )
    peak = 0
    while run.poll() is None:
        peak = max(peak, sum(pss(pid) for pid in family(run.pid)))
        time.sleep(0.1)
    took = time.perf_counter() - began
    if run.returncode:
        raise SystemExit(f"the study of {size} ended with status {run.returncode}")
    journal = read_journal(folder / "run" / "journal.jsonl")
    at = {
        (line.event.event, getattr(line.event, "cell", "")): datetime.fromisoformat(line.time) for line in journal.lines
    }
    for number, cell in enumerate(journal.events("cell.finished")):
        lasted = (at["cell.finished", cell.cell] - at["cell.started", cell.cell]).total_seconds()
        shape = f"{size} | {users:,} | {items:,} | {ratings:,}" if not number else " | | |"
        total = f"{took:.0f} | {peak / 2**30:.2f}" if not number else " |"
        spent = [cell.seconds.fit, cell.seconds.score, cell.seconds.rank, lasted]
        seconds = " | ".join(f"{value:.1f}" for value in spent)
        print(f"| {shape} | {cell.cell.partition('/')[0]} | {seconds} | {total} |")
    sys.stdout.flush()


def family(pid: int) -> Iterator[int]:
    """A process and all that descend from it."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            pids = children.read_text().split()
        except OSError:  # it ended meanwhile
            continue
        for child in pids:
            yield from family(int(child))


def pss(pid: int) -> int:
    """The memory of a process in bytes; what it shares is divided among those who share it."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it ended meanwhile
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def write(folder: Path, size: str) -> None:
    users, items, ratings = SIZES[size]
    rows = synthetic_interactions(users=users, items=items, ratings=ratings, seed=1)
    assert rows.timestamps is not None
    table = {
        "user": rows.user_ids[rows.users],
        "item": rows.item_ids[rows.items],
        "rating": rows.ratings,
        "timestamp": rows.timestamps,
    }
    pacsv.write_csv(pa.table(table), folder / "ratings.csv")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write(Path(sys.argv[2]), sys.argv[3])
    else:
        main()
