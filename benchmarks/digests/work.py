"""A task makes results in a folder of its own; each result has parts, and each part two digests."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple
from unittest import mock

import canonical
import pandas as pd


@dataclass(frozen=True)
class Task:
    """``make(work, *arguments)`` makes one or more results; tasks do not depend on each other."""

    group: str
    name: str
    make: Callable[..., None]
    arguments: tuple[Any, ...] = ()


class Output(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Result:
    seconds: float = 0.0
    problem: str = ""
    parts: dict[str, dict[str, str]] = field(default_factory=dict)
    forms: dict[str, canonical.Forms] = field(default_factory=dict)

    def add(self, part: str, forms: canonical.Forms) -> None:
        self.parts[part] = {"numbers": _digest(forms.numbers), "text": _digest(forms.text)}
        self.forms[part] = forms

    def text(self, part: str, text: str) -> None:
        self.add(part, canonical.of_text(text))

    def output(self, part: str, output: Output) -> None:
        """Add the output of a command, and its exit status."""
        self.text(part, f"{output.out}\n{output.err}\nexit status {output.status}")

    def json(self, part: str, output: Output) -> None:
        """Add the output of a command with --json, and its exit status."""
        try:
            self.add(part, canonical.of_json([output.json, output.status, _lines(output.err)]))
        except json.JSONDecodeError:  # a sentence in place of a document
            self.output(part, output)

    def table(self, part: str, table: pd.DataFrame) -> None:
        self.add(part, canonical.of_table(table))

    def file(self, part: str, path: Path) -> None:
        self.add(part, forms_of_file(path))

    def files(self, folder: Path, pattern: str = "**/*") -> None:
        """Every file below a folder, each a part; files that are named by their hashes are one part together."""
        parts: dict[str, list[canonical.Forms]] = {}
        for path in sorted(folder.glob(pattern)):
            if path.is_file() and path.name != ".lock":
                name = re.sub(r"[0-9a-f]{32,}", "HASH", str(path.relative_to(folder)))
                parts.setdefault(name, []).append(forms_of_file(path))
        for name, forms in parts.items():
            self.add(name, canonical.together(forms))

    def run(self, folder: Path) -> None:
        """Add what identifies the numbers of a run: its tables, the files that it stored, and the journal."""
        self.file("results.parquet", folder / "results.parquet")
        self.file("results.csv", folder / "results.csv")
        self.file("protocol.toml", folder / "protocol.toml")
        for kind, forms in forms_of_journal(folder / "journal.jsonl").items():
            self.add(f"journal: {kind}", forms)
        stored = sorted((folder / "artifacts").glob("*.parquet"))
        self.add("artifacts", canonical.together(map(forms_of_file, stored)))


class Work:
    """The folder of a task, which is the working folder while it runs, and its results."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.results: dict[str, Result] = {}

    @contextmanager
    def result(self, name: str = "") -> Iterator[Result]:
        """Time a result; an error ends this result, not the whole set, and is part of it."""
        made = Result()
        start = perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield made
        except Exception as error:
            made.problem = "".join(traceback.format_exception_only(error)).strip()
            made.text("problem", made.problem)
        made.seconds = perf_counter() - start
        self.results["/".join(filter(None, (self.task.group, self.task.name, name)))] = made

    def repro(self, *arguments: object) -> Output:
        """Run a command of `repro` in this process."""
        import repro.cli

        out, err, status = io.StringIO(), io.StringIO(), 0
        with redirect_stdout(out), redirect_stderr(err), mock.patch("sys.argv", ["repro", *map(str, arguments)]):
            try:
                repro.cli.main()
            except SystemExit as stop:
                status = int(stop.code or 0)
        return Output(status, out.getvalue(), err.getvalue())

    def repro_apart(self, *arguments: object) -> Output:
        """Run a command of `repro` in a process of its own."""
        command = [sys.executable, "-m", "repro", *map(str, arguments)]
        settings = os.environ | {"RAY_worker_niceness": "0"}  # Ray's workers would wait for all else on the machine
        done = subprocess.run(command, capture_output=True, text=True, env=settings, check=False)
        return Output(done.returncode, done.stdout, done.stderr)


def run_task(task: Task, keep: Path | None) -> dict[str, Any]:
    """All results of a task, made in a folder of its own."""
    work = Work(task)
    home = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="digests-") as folder:
        os.chdir(folder)
        try:
            with mock.patch("time.perf_counter", lambda: 0.0):  # durations are in reports, tables and sizes of files
                task.make(work, *task.arguments)
        finally:
            os.chdir(home)
    for name, result in work.results.items():
        if keep is not None:
            keep_forms(keep / name, result)
    return {
        name: {"seconds": round(result.seconds, 2), "problem": result.problem, "parts": result.parts}
        for name, result in work.results.items()
    }


def keep_forms(folder: Path, result: Result) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for part, forms in result.forms.items():
        name = part.replace("/", "+")
        (folder / f"{name}.numbers").write_text(forms.numbers, encoding="utf-8")
        (folder / f"{name}.text").write_text(forms.text, encoding="utf-8")


def forms_of_file(path: Path) -> canonical.Forms:
    if path.suffix == ".parquet":
        return canonical.of_table(pd.read_parquet(path))
    if path.suffix in (".csv", ".tsv"):
        separator = "\t" if path.suffix == ".tsv" else ","
        return canonical.of_table(pd.read_csv(path, sep=separator, float_precision="round_trip"))
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".json", ".jsonld"):
        return canonical.of_json(json.loads(text))
    if path.suffix == ".jsonl":
        return canonical.together(forms_of_journal(path).values())
    return canonical.of_html(text) if path.suffix in (".html", ".svg") else canonical.of_text(text)


def forms_of_journal(path: Path) -> dict[str, canonical.Forms]:
    """The events by their kind, without the chain of hashes and whatever their order, which workers may change."""
    kinds: dict[str, list[canonical.Forms]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)["event"]
        kinds.setdefault(event["event"], []).append(canonical.of_json(event))
    return {kind: canonical.together(forms) for kind, forms in sorted(kinds.items())}


def _lines(text: str) -> list[str]:
    return text.splitlines()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
