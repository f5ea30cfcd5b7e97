"""Claims that come with their own files, and so run in seconds."""

from __future__ import annotations

import shutil
from pathlib import Path

from work import Task, Work

import repro

CLAIMS = ("lecture-worked-errors", "lecture-worked-example", "tutorial-nan-table")
REPORTS = Path(str(repro.__file__)).parents[1] / "reports" / "replications"
MADE = ("journal.jsonl", "report.html", "results.csv", "verdicts.csv", "verdicts.json")


def tasks() -> list[Task]:
    return [Task("claims", name, claim, (name,)) for name in CLAIMS]


def claim(work: Work, name: str) -> None:
    """A copy of the claim, without the results of earlier times."""
    shutil.copytree(REPORTS / name, name, ignore=shutil.ignore_patterns(*MADE, "run", "README.md"))
    with work.result() as result:
        result.json("json", work.repro("replicate", f"{name}/claim.toml", "--quiet", "--workers", 1, "--json"))
        result.output("table", work.repro("replicate", f"{name}/claim.toml", "--quiet", "--workers", 1))
        result.files(Path(name))
