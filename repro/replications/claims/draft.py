"""Drafts of claim files, from a printed table or from answers, with comments on what to fill in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repro.errors import ReproError, StudyError, nearest
from repro.evaluation.metrics import metrics, own_name, parse_measure
from repro.plugin import plugins
from repro.protocol import Protocol
from repro.protocol.toml import Inline, Place, write_toml
from repro.replications.claims.claim import FILE
from repro.replications.claims.printed_table import PrintedTable, read_table

FILL_IN = "fill in: "
BASE, UNKNOWN = "random-5fold", "reference/random"
# Names of metrics in tables that differ from those used here; the cut-off follows.
# Headings that are no names of metrics elsewhere, because they may mean something else.
_ALIASES = {"hits": "hit", "f": "f1"}


@dataclass
class Draft:
    """The known parts of a claim that is being written."""

    title: str = ""
    source: str = ""
    data: str = ""
    protocol: str = ""
    algorithms: dict[str, str] = field(default_factory=dict)
    table: PrintedTable | None = None
    metrics: tuple[str, ...] = ()

    def write(self, file: Path) -> str:
        """Write the claim to a file that does not exist yet; its text, in which comments say what to fill in."""
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
    title: str = "",
    source: str = "",
    data: str = "",
    protocol: str = "",
) -> Path:
    """Write a claim file from a table of printed numbers; comments in it say what to fill in.

    table     a CSV file or LaTeX
    into      the folder of the claim
    title     what is claimed
    source    where it was printed
    data      the name of a data set, or a file
    protocol  the protocol that is nearest to the source

    >>> repro.replications.draft_claim("table.tex", "their-paper", title="Two algorithms")
    PosixPath('their-paper/claim.toml')
    """
    file = Path(into) / FILE
    Draft(title, source, data, protocol, table=read_table(Path(table))).write(file)
    return file


def metric_of(column: str) -> str:
    """The metric that a column header means, by its name here; empty if none is known."""
    text = re.sub(r"[\s_]+", "", column).replace("↑", "").replace("↓", "").lower()
    match = re.fullmatch(r"([a-z][a-z-]*?\d?)(?:@|\(|-)?(\d+)?\)?", text)
    if not match:
        return ""
    name, cutoff = match[1], f"@{match[2]}" if match[2] else ""
    metric = f"{_ALIASES.get(name, name)}{cutoff}"
    try:
        parse_measure(metric, Protocol.load(BASE), metrics())
        return own_name(metric)
    except ReproError:
        return ""


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
    """The text of a valid claim file; comments state what to fill in."""
    fields = {
        "title": (draft.title, "A published table", "what is claimed, in a few words"),
        "source": (draft.source, "Where it was printed", "paper, table and page, or page and version"),
        "data": (draft.data, "ml-100k", "the data set (`repro data list`), or a file next to this one"),
        "protocol": (draft.protocol, BASE, "the protocol nearest to the source (`repro protocol list`)"),
    }
    title, source, data, protocol = (value or otherwise for value, otherwise, _ in fields.values())
    document: dict[str, Any] = {
        "title": title,
        "source": source,
        "cite": "",
        "url": "",
        "seeds": [0],
        "data": {"name": data},
        "protocol": {"base": protocol, "open": []},
        "tolerance": {"kind": "rounding"},
    }
    places: dict[str, Place] = {"data": ("data", "name"), "protocol": ("protocol", "base")}
    comments: dict[Place, str] = {
        places.get(key, (key,)): f"{FILL_IN}{hint}" for key, (value, _, hint) in fields.items() if not value
    }
    comments |= {
        ("cite",): f"{FILL_IN}the reference",
        ("seeds",): "the first is that of the source; further ones show how far seeds move the numbers",
        ("protocol", "open"): f'{FILL_IN}what the source leaves open, such as "ties.break" or '
        '"relevance.threshold=3|4|5"',
        ("tolerance", "kind"): 'or "seeds", or "interval" with width = 0.01',
    }
    remarks: dict[Place, list[str]] = {
        ("data", "name"): [f'digest = ""  # {FILL_IN}the content digest that `repro data describe` prints'],
        ("protocol",): [
            f"[frameworks]  # {FILL_IN}the versions that the source used, if it says so",
            'surprise = ["scikit-surprise==1.1.4"]',
        ],
        ("table",): [],
    }
    document["table"] = _numbers(draft, comments, remarks)
    document["algorithms"] = _algorithms(draft, comments)
    return write_toml(document, comments, remarks)


def _numbers(draft: Draft, comments: dict[Place, str], remarks: dict[Place, list[str]]) -> dict[str, list[str]]:
    """The printed numbers of each label, below their metrics."""
    table = draft.table
    if table is None:
        requested = draft.metrics or ("rmse",)
        comments |= {("table", label): f"{FILL_IN}its numbers, as printed" for label in draft.algorithms}
        return {"metrics": list(requested)} | {label: ["0.0"] * len(requested) for label in draft.algorithms}
    names = [metric_of(column) for column in table.columns]
    used = [position for position, name in enumerate(names) if name and names.index(name) == position]
    unused = [column for position, column in enumerate(table.columns) if position not in used]
    remarks["table",] = [
        *(f"the column '{column}' is not a known metric{nearest(column, metrics())}" for column in unused),
        *table.notes,
    ]
    rows = {label: [values[position] for position in used] for label, values in table.rows}
    return {"metrics": [names[position] for position in used]} | rows


def _algorithms(draft: Draft, comments: dict[Place, str]) -> list[dict[str, Any]]:
    labels = draft.algorithms or {label: "" for label, _ in (draft.table.rows if draft.table else ())}
    entries: list[dict[str, Any]] = []
    for number, (label, use) in enumerate(labels.items()):
        algorithm = use or algorithm_of(label)
        if not algorithm:
            comments["algorithms", number, "use"] = f"{FILL_IN}the algorithm (`repro algorithms list`)"
        comments["algorithms", number, "parameters"] = f"{FILL_IN}the parameters that the source states"
        entries.append({"use": algorithm or UNKNOWN, "label": label, "parameters": Inline()})
    return entries
