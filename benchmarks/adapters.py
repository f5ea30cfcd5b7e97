"""The time that plug-ins add to their frameworks' own batch scoring: python benchmarks/adapters.py

All users by all items of MovieLens 100K, scored by each framework in its fastest documented way and by its plug-in,
the same fitted model on one thread, in the framework's own environment (`repro plugins install all`), in alternating
rounds. A ratio of 1.10 says that the plug-in takes a tenth longer. The plug-in is asked for everything in one call and
64 users at a time, as studies do; it gives double precision and the state of each score.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import repro
from repro.plugin import plugins

INSIDE = Path(__file__).with_name("own_scoring")
FRAMEWORKS = [path.stem.removeprefix("of_") for path in sorted(INSIDE.glob("of_*.py"))]
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def compare(name: str, rows: Path, rounds: int) -> None:
    launch = plugins().launch(name)
    with tempfile.TemporaryDirectory() as border:
        for package in launch.packages:
            (Path(border) / package.name).symlink_to(package)
        command = [launch.python, INSIDE / "measure.py", name, rows, str(rounds)]
        environment = os.environ | ONE_THREAD | {"PYTHONPATH": border, "PYTHONWARNINGS": "ignore"}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                print_row(f"{name} {plugins().framework(name).version}", json.loads(line))
        if process.returncode:
            raise SystemExit(f"{name}: measuring ended with status {process.returncode}")


def print_row(framework: str, seconds: dict[str, str | float]) -> None:
    own, one_call, chunks = (float(seconds[way]) for way in ("own", "one call", "chunks"))
    times = f"{own * 1e3:,.1f} | {one_call * 1e3:,.1f} | {one_call / own:.2f}"
    times += f" | {chunks * 1e3:,.1f} | {chunks / own:.2f}"
    print(f"| {framework} | {seconds['algorithm']} | `{seconds['way']}` | {times} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("frameworks", nargs="*", default=FRAMEWORKS, help="which frameworks; all by default")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    data = repro.load_dataset("ml-100k")
    print(f"{data.n_users:,} users by {data.n_items:,} items, one thread, medians of {options.rounds} rounds\n")
    print("| framework | algorithm | own batch scoring | own, ms | one call, ms | ratio | 64 at a time, ms | ratio |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.npz"
        np.savez(rows, users=data.users, items=data.items, ratings=data.ratings)
        for name in options.frameworks:
            compare(name, rows, options.rounds)


if __name__ == "__main__":
    main()
