"""Review an artefact: recognise its files, and check what they say against each other and against a paper."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.progress import Shown, progress_reporter
from repro.reviews.artefact.data_sets import DataSet
from repro.reviews.artefact.listing import Unread
from repro.reviews.artefact.recognition import FileReport, recognise
from repro.reviews.checks.negatives import negative_findings
from repro.reviews.checks.pairs import alike_ids, repeated_pairs, shared_pairs, shifted_ids, unseen_ids
from repro.reviews.checks.sizes import size_findings
from repro.reviews.checks.split import split_findings
from repro.reviews.checks.time_order import time_findings
from repro.reviews.findings import SEVERITIES, Finding, by_severity
from repro.reviews.numbers.printed_numbers import PrintedNumber, PrintedNumbers, read_numbers
from repro.reviews.numbers.run_search import NumberResult, errata, read_runs, run_findings, search_numbers
from repro.reviews.stated import Paper, Stated, read_paper
from repro.text import as_page, plural

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Review:
    """The review of an artefact.

    folder     the reviewed folder
    files      what each file is, and how that was recognised
    unread     the files that were not read, with the reasons
    data_sets  the names of the data sets
    findings   the findings, the most severe first
    numbers    the printed numbers, with the protocols that give them from the run files
    stated     what the paper states about each data set, by name
    """

    folder: Path
    files: tuple[FileReport, ...]
    unread: tuple[Unread, ...]
    data_sets: tuple[str, ...]
    findings: tuple[Finding, ...]
    numbers: tuple[NumberResult, ...] = ()
    stated: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings of each severity."""
        return {name: sum(finding.severity == name for finding in self.findings) for name in SEVERITIES}

    @property
    def summary(self) -> str:
        """The result as a sentence."""
        counts = self.counts
        words = [plural(counts[name], name) for name in ("error", "warning") if counts[name]] or [
            "no errors or warnings"
        ]
        if counts["undetermined"]:
            words.append(f"{counts['undetermined']:,} undetermined")
        read = sum(report.rows is not None for report in self.files)
        return f"{plural(len(self.data_sets), 'data set')} in {plural(read, 'file')}: {', '.join(words)}"

    def about(self, data: str) -> list[Finding]:
        """The findings about a data set."""
        return [finding for finding in self.findings if finding.data == data]

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON-compatible data."""
        return {
            "folder": str(self.folder),
            "summary": self.summary,
            "counts": self.counts,
            "files": [report.to_dict() for report in self.files],
            "unread": [file.to_dict() for file in self.unread],
            "data_sets": list(self.data_sets),
            "findings": [finding.to_dict() for finding in self.findings],
            "numbers": [number.to_dict() for number in self.numbers],
            "stated": {name: dict(of) for name, of in self.stated.items()},
        }

    def to_frame(self) -> pd.DataFrame:
        """The findings, a row for each."""
        import pandas as pd

        columns = ["severity", "data", "check", "count", "total", "text"]
        return pd.DataFrame(
            [[getattr(finding, name) for name in columns] for finding in self.findings], columns=columns
        )

    def __str__(self) -> str:
        lines = [self.summary, *(f"{finding.severity}: {finding.text}" for finding in self.findings)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return as_page(str(self))


def review(
    folder: str | os.PathLike[str],
    *,
    paper: str | os.PathLike[str] | Paper | Stated | None = None,
    roles: Mapping[str, str] | None = None,
    numbers: str | os.PathLike[str] | None = None,
    progress: Shown = True,
) -> Review:
    """Review the files of a split, and what is stated about them.

    folder    the folder with the files
    paper     what is stated: a TOML file (:func:`repro.reviews.read_paper`), or a :class:`repro.reviews.Stated`
    roles     the roles of files whose names do not tell them, by name or pattern: ``{"data1.txt": "train"}``
    numbers   printed numbers of the runs in the folder: a table in CSV, Markdown or LaTeX, JSON or a claim file; the
              protocols that give them are searched
    progress  whether to show the progress, or a function that receives it (:mod:`repro.progress`)

    Nothing in the folder is executed: pickles are refused, and links out of the folder are not followed.

    >>> from pathlib import Path
    >>> Path("artefact").mkdir()
    >>> _ = Path("artefact/train.txt").write_text("1 10\\n1 11\\n2 10\\n")
    >>> _ = Path("artefact/test.txt").write_text("1 11\\n2 12\\n")
    >>> print(repro.review("artefact").findings[0].text)
    1 of 2 rows of the test part (50.0%) have a user and item that the training part has too
    """
    folder = Path(folder)
    stated = _paper(paper)
    printed = read_numbers(Path(numbers)) if numbers is not None else PrintedNumbers(())
    findings = [Finding("printed-numbers", "undetermined", note, "") for note in printed.notes]
    findings += errata(printed.numbers)
    results: list[NumberResult] = []
    with progress_reporter(progress) as report_progress:
        recognised = recognise(folder, roles or {}, lambda done, total: report_progress("reading", done, total))
        names = [data_set.name for data_set in recognised.data_sets]
        for done, data_set in enumerate(recognised.data_sets):
            found = check(data_set, stated.about(data_set.name))
            runs, unread = read_runs(data_set)
            searched, of_numbers = search_numbers(data_set, runs, printed.numbers, report_progress)
            found += [*unread, *run_findings(data_set, runs), *of_numbers]
            findings += [finding.about(data_set.name) for finding in found]
            results += searched
            report_progress("checking", done + 1, len(names))
    findings += _unmatched(printed.numbers, results)
    findings += [
        Finding("stated-data", "undetermined", f"the paper states sizes of '{name}', and no such data set is here", "")
        for name in stated.unknown(names)
    ]
    findings = by_severity(findings)
    about = {name: dict(stated.about(name).lists) for name in names}
    return Review(folder, recognised.files, recognised.unread, tuple(names), tuple(findings), tuple(results), about)


def _unmatched(numbers: Sequence[PrintedNumber], results: Sequence[NumberResult]) -> list[Finding]:
    """A finding about systems whose run file is not here, or is not told by its name."""
    found = {result.system for result in results}
    without = [system for system in dict.fromkeys(number.system for number in numbers) if system not in found]
    if not without:
        return []
    text = f"no run file of the folder is named after {', '.join(without)}: these numbers were not recomputed"
    return [Finding("printed-numbers", "undetermined", text, "a run file whose name contains that of the system")]


def _paper(paper: str | os.PathLike[str] | Paper | Stated | None) -> Paper:
    if isinstance(paper, Paper):
        return paper
    if isinstance(paper, Stated):
        return Paper(paper)
    return Paper() if paper is None else read_paper(Path(paper))


def check(data_set: DataSet, stated: Stated) -> list[Finding]:
    """All findings about a data set."""
    findings: Sequence[Finding] = [
        *shared_pairs(data_set),
        *negative_findings(data_set, stated),
        *repeated_pairs(data_set),
        *unseen_ids(data_set),
        *alike_ids(data_set),
        *shifted_ids(data_set),
        *time_findings(data_set, stated),
        *split_findings(data_set, stated),
        *size_findings(data_set, stated),
    ]
    return list(findings)
