"""Faults survived out of faults tried: every test under tests/faults is one, and so is each moment of a kill.

    python benchmarks/faults.py

A fault is survived when the run says in a sentence what happened, nothing finished is lost, and what --resume makes of
it has the digests of a run that nobody disturbed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
TESTS = ("tests/faults", "tests/study/test_kill.py")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        options = ["-q", "-n", "0", "-p", "no:cacheprovider", f"--junit-xml={results}"]
        subprocess.run([sys.executable, "-m", "pytest", *options, *TESTS], cwd=ROOT, stdout=subprocess.DEVNULL)
        cases = list(ElementTree.parse(results).iter("testcase"))
    tried, survived = Counter[str](), Counter[str]()
    for case in cases:
        if case.find("skipped") is not None:
            print(f"not tried here: {case.get('name')}", file=sys.stderr)
            continue
        fault = str(case.get("name")).partition("[")[0].removeprefix("test_").replace("_", " ")
        tried[fault] += 1
        survived[fault] += case.find("failure") is None and case.find("error") is None
    print("| fault | tried | survived |\n| --- | ---: | ---: |")
    for fault in tried:
        print(f"| {fault} | {tried[fault]} | {survived[fault]} |")
    print(f"| all | {tried.total()} | {survived.total()} |")


if __name__ == "__main__":
    main()
