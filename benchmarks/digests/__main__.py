"""Digests of a fixed set of results, to compare two revisions.

    python benchmarks/digests write before.json [--only studies,evaluate] [--jobs 2] [--keep FOLDER]
    python benchmarks/digests compare before.json after.json

`write` makes every result with the `repro` that Python imports (its commands, its top-level names, the files that
they write), and stores two digests of each part of it. The digest of the numbers must never change. The digest of the
text leaves out dates, durations, versions, hashes and paths, and changes with the wording. With `--keep`, a folder gets
the forms that were digested, so that `diff -r` shows what differs.

`compare` names every result that differs, and ends with exit status 1 where numbers differ or a result is missing.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from work import Task, run_task

GROUPS = ("studies", "evaluate", "kept", "audits", "claims", "exports", "catalogue")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    write = commands.add_parser("write", help="make the results and write their digests")
    write.add_argument("file", type=Path)
    write.add_argument("--only", default=",".join(GROUPS), help="groups, or group/task, separated by commas")
    write.add_argument("--jobs", type=int, default=2, help="processes [default: 2]")
    write.add_argument("--keep", type=Path, help="write the digested forms into this folder")
    compare = commands.add_parser("compare", help="name the results that differ")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.command == "compare":
        return compare_files(options.before, options.after)
    return write_file(options.file, options.only.split(","), options.jobs, options.keep)


def write_file(file: Path, only: list[str], jobs: int, keep: Path | None) -> int:
    chosen = [task for task in all_tasks() if task.group in only or f"{task.group}/{task.name}" in only]
    if not chosen:
        sys.exit(f"nothing is called {', '.join(only)}; groups: {', '.join(GROUPS)}")
    start, made, failed = time.perf_counter(), {}, 0
    context = multiprocessing.get_context("spawn")
    keep = keep.resolve() if keep else None
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        running = [pool.submit(run_task, task, keep) for task in chosen]
        for done in as_completed(running):
            for name, result in done.result().items():
                failed += bool(result["problem"])
                print(f"{result['seconds']:7.1f} s  {name}  {result['problem']}".rstrip(), flush=True)
                made[name] = result
    document = {"about": about(), "results": dict(sorted(made.items()))}
    file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    parts = sum(len(result["parts"]) for result in made.values())
    seconds = time.perf_counter() - start
    print(f"{len(made)} results with {parts} parts in {seconds:.0f} s, {failed} failed: {file}")
    return 1 if failed else 0


def all_tasks() -> list[Task]:
    import audits
    import catalogue
    import claims
    import evaluations
    import kept
    import studies

    rooms = (audits, studies, evaluations, kept, claims, catalogue)  # what takes longest first
    return [task for room in rooms for task in room.tasks()]


def about() -> dict[str, str]:
    """The revision, and the versions of Python and of packages that it runs with."""
    from importlib.metadata import version

    import repro

    place = Path(str(repro.__file__)).parent
    command = ["git", "-C", str(place), "describe", "--always", "--dirty", "--abbrev=40"]
    revision = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    packages = ("numpy", "pandas", "scipy", "numba", "pyarrow")
    return {"revision": revision, "python": sys.version.split()[0], **{name: version(name) for name in packages}}


def compare_files(before: Path, after: Path) -> int:
    first, second = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    for name, value in first["about"].items():
        if name != "revision" and second["about"].get(name) != value:
            print(f"note: {name} is {value} in {before} and {second['about'].get(name)} in {after}")
    results = first["results"].keys() | second["results"].keys()
    changed, reworded = 0, 0
    for name in sorted(results):
        old, new = (document["results"].get(name) for document in (first, second))
        if old is None or new is None:
            print(f"MISSING         {name}: only in {before if new is None else after}")
            changed += 1
            continue
        numbers, text = (differing(old["parts"], new["parts"], kind) for kind in ("numbers", "text"))
        if numbers:
            print(f"NUMBERS DIFFER  {name}: {', '.join(numbers)}")
        elif text:
            print(f"text differs    {name}: {', '.join(text)}")
        changed += bool(numbers)
        reworded += bool(text and not numbers)
    print(f"{len(results)} results: {changed} with other numbers or missing, {reworded} with other text alone")
    return 1 if changed else 0


def differing(old: dict[str, dict[str, str]], new: dict[str, dict[str, str]], kind: str) -> list[str]:
    parts = old.keys() | new.keys()
    return sorted(part for part in parts if old.get(part, {}).get(kind) != new.get(part, {}).get(kind))


if __name__ == "__main__":
    sys.exit(main())
