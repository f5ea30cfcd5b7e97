"""Drafts of claim files, from a printed table or from answers; what is not known is marked, and never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repro.errors import StudyError, nearest
from repro.evaluation.metrics import metrics
from repro.grouping import grouped
from repro.plugin import plugins
from repro.protocol.toml import Inline, Place, write_toml
from repro.replications.claims.claim import FILE
from repro.replications.claims.keys import NUMBERS
from repro.replications.claims.unfilled import unfilled
from repro.replications.drafts.layout import Entry, Layout, dataset_of, layout_of
from repro.replications.drafts.raw import RawTable
from repro.replications.drafts.sources import printed_tables


@dataclass
class Draft:
    """The known parts of a claim that is being written."""

    title: str = ""
    source: str = ""
    data: str = ""
    protocol: str = ""
    algorithms: dict[str, str] = field(default_factory=dict)
    table: RawTable | None = None
    metrics: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)

    def write(self, file: Path) -> str:
        """Write the claim to a file that does not exist yet; its text, in which "?" marks what is to be filled in."""
        if file.exists():
            raise StudyError(f"{file} is there already; choose another folder with --into")
        text = claim_text(self)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return text


def draft_claim(
    table: str | Path,
    into: str | Path = ".",
    *,
    number: int = 1,
    title: str = "",
    source: str = "",
    data: str = "",
    protocol: str = "",
) -> Path:
    """Write a claim file from a table of printed numbers; what is not known is marked with "?", and is to be filled in.

    table     LaTeX, an archive of LaTeX sources (.tar.gz, .zip) as arXiv gives it, Markdown, or CSV
    into      the folder of the claim
    number    which of the tables of the file: 1 is the first (:func:`repro.replications.drafts.sources.printed_tables`)
    title     what is claimed
    source    where it was printed
    data      the name of a data set, or a file
    protocol  the protocol that is nearest to the source

    >>> repro.replications.draft_claim("table.tex", "their-paper", title="Two algorithms")
    PosixPath('their-paper/claim.toml')
    """
    file = Path(into) / FILE
    Draft(title, source, data, protocol, table=table_numbered(printed_tables(table), number)).write(file)
    return file


def table_numbered(tables: Sequence[RawTable], number: int) -> RawTable:
    """The table of that number; raises an error that lists all tables if there is none."""
    if not 1 <= number <= len(tables):
        listed = "\n".join(f"  {place}  {table.summary}" for place, table in enumerate(tables, 1))
        raise StudyError(f"there is no table {number}; there are:\n{listed}")
    return tables[number - 1]


def algorithm_of(label: str) -> str:
    """The algorithm of an installed framework that a label means; empty if there is none, or if there are several."""

    def normalised(name: str) -> str:
        return re.sub(r"[^a-z0-9+]", "", name.lower())

    uses = [
        f"{framework.name}/{algorithm.name}"
        for framework in plugins().frameworks.values()
        for algorithm in framework.algorithms
        if normalised(algorithm.name) == normalised(label)
    ]
    reference_uses = [use for use in uses if use.startswith("reference/")]
    return uses[0] if len(uses) == 1 else (reference_uses or [""])[0]


def claim_text(draft: Draft) -> str:
    """The text of a claim file, in which a value that begins with "?" is to be filled in."""
    caption = draft.table.caption if draft.table else ""
    layout = layout_of(draft.table) if draft.table else _asked(draft)
    draft.notes += layout.notes
    groups = grouped(layout.entries, lambda entry: entry.group)
    document: dict[str, Any] = {
        "title": draft.title or caption or unfilled("what is claimed, in a few words"),
        "source": draft.source or unfilled("where it was printed: paper, table and page"),
        "cite": "",
        "url": "",
        "seeds": [0],
    }
    if len(groups) <= 1 or draft.data:
        document["data"] = {"name": draft.data or _data_hint(caption)}
    document["protocol"] = {
        "base": draft.protocol or unfilled("the protocol nearest to the source (repro protocol list)"),
        "open": [],
    }
    document["tolerance"] = {"kind": "rounding"}
    names = _names(groups) if len(groups) > 1 else {}
    if names:
        document["datasets"] = {
            name: {"name": dataset_of(group) or unfilled(f"{group}: the data set, or remove this if it is none")}
            for group, name in names.items()
        }
    labels = _labels(layout.entries, draft)
    tables = [_numbers(entries, labels, names.get(group, "")) for group, entries in groups.items()]
    document["table"] = tables if len(tables) > 1 else tables[0]
    document["algorithms"] = [
        {
            "use": use or unfilled(f"{label}: the algorithm (repro algorithms list)"),
            "label": label,
            "parameters": Inline(),
        }
        for label, use in _algorithms(labels.values(), draft).items()
    ]
    return write_toml(document, _comments(document, bool(names)), _remarks(draft, layout))


def _comments(document: dict[str, Any], several: bool) -> dict[Place, str]:
    comments: dict[Place, str] = {
        ("cite",): "the reference",
        ("seeds",): "the first is that of the source; further ones show how far seeds move the numbers",
        ("protocol", "open"): 'what the source leaves open, such as "ties.break" or "relevance.threshold=3|4|5"',
        ("tolerance", "kind"): 'or "seeds", or "interval" with width = 0.01',
    }
    comments |= {
        ("algorithms", number, "parameters"): "the parameters that the source states"
        for number in range(len(document["algorithms"]))
    }
    return comments


def _remarks(draft: Draft, layout: Layout) -> dict[Place, list[str]]:
    unknown = dict.fromkeys(entry.metric for entry in layout.entries if not entry.known)
    place = [f"from {draft.table.place}"] if draft.table else []
    notes = [f"'{name}' is not a known metric{nearest(name, metrics())}" for name in unknown]
    return {
        ("protocol",): [
            'digest = ""  # of [data]: the content digest that `repro data describe` prints',
            "[frameworks]  # the versions that the source used, if it says so",
            'surprise = ["scikit-surprise==1.1.4"]',
        ],
        ("table",): [*place, *notes, *layout.notes],
    }


def _data_hint(caption: str) -> str:
    """The place of the data set, with those of the registry that the caption names."""
    words = re.findall(r"[A-Za-z][\w.-]*(?: \d+[KM]\b)?", caption)
    named = dict.fromkeys(name for word in words if (name := dataset_of(word)))
    hint = f"; the caption names {', '.join(named)}" if named else ""
    return unfilled(f"the data set (repro data list), or a file next to this one{hint}")


def _asked(draft: Draft) -> Layout:
    """The places of the numbers of a claim that is written by asking."""
    entries = [
        Entry(label, metric, True, "", unfilled("the number, as printed"))
        for label in draft.algorithms
        for metric in draft.metrics
    ]
    return Layout(entries)


def _names(groups: Iterable[str]) -> dict[str, str]:
    """A name for each group, as a key of [datasets]."""
    names: dict[str, str] = {}
    for group in groups:
        base = re.sub(r"[^a-z0-9]+", "-", group.lower()).strip("-") or "other"
        name, number = base, 2
        while name in names.values():
            name, number = f"{base}-{number}", number + 1
        names[group] = name
    return names


def _labels(entries: Sequence[Entry], draft: Draft) -> dict[str, str]:
    """For each algorithm of the table a label that a claim allows."""
    labels: dict[str, str] = {}
    for entry in entries:
        if entry.algorithm in labels:
            continue
        name, number = entry.algorithm, 2
        while name in NUMBERS.keys or name in labels.values():
            name, number = f"{entry.algorithm} ({number})", number + 1
        labels[entry.algorithm] = name
        if name != entry.algorithm:
            draft.notes.append(f"the row '{entry.algorithm}' is renamed to '{name}'")
    return labels


def _numbers(entries: Sequence[Entry], labels: dict[str, str], data: str) -> dict[str, Any]:
    """A table of a claim: the numbers of each label, below their metrics."""
    names = list(dict.fromkeys((entry.metric, entry.known) for entry in entries))
    rows: dict[str, list[str]] = {}
    for entry in entries:
        row = rows.setdefault(labels[entry.algorithm], ["-"] * len(names))
        row[names.index((entry.metric, entry.known))] = entry.number
    heads = [metric if known else unfilled(f"{metric}: the metric, or remove the column") for metric, known in names]
    return {"metrics": heads, **({"data": data} if data else {}), **rows}


def _algorithms(labels: Iterable[str], draft: Draft) -> dict[str, str]:
    return {label: draft.algorithms.get(label) or algorithm_of(label) for label in labels}
