"""A claim file to begin with: from a printed table, or from what is asked, with notes on what is left to fill in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from repro.errors import ReproError, nearest
from repro.metrics import metrics, parse_measure
from repro.plugin import plugins
from repro.protocol import Protocol, toml_value
from repro.replicate.tables import PrintedTable

FILL_IN = "# fill in: "
BASE, UNKNOWN = "random-5fold", "reference/random"
# What tables call metrics that go by another name here; the cut-off follows.
_CALLED = {
    **dict.fromkeys(("p", "prec"), "precision"),
    **dict.fromkeys(("r", "rec"), "recall"),
    **dict.fromkeys(("hr", "hitrate", "hitratio", "hits", "success"), "hit"),
    **dict.fromkeys(("mrr", "reciprank"), "rr"),
    "f": "f1",
}


@dataclass
class Draft:
    """What is known of a claim that is being written."""

    title: str = ""
    source: str = ""
    data: str = ""
    protocol: str = ""
    algorithms: dict[str, str] = field(default_factory=dict)
    table: PrintedTable | None = None
    metrics: tuple[str, ...] = ()


def metric_of(column: str) -> str:
    """The metric that a column of a table is about, as it is called here; empty where none is known."""
    text = re.sub(r"[\s_]+", "", column).replace("↑", "").replace("↓", "").lower()
    called = re.fullmatch(r"([a-z][a-z-]*?\d?)(?:@|\(|-)?(\d+)?\)?", text)
    if not called:
        return ""
    name, cut = called[1], f"@{called[2]}" if called[2] else ""
    for given in (name, _CALLED.get(name, ""), _CALLED.get(name.replace("-", ""), "")):
        try:
            return f"{given}{cut}" if given and parse_measure(f"{given}{cut}", Protocol.load(BASE), metrics()) else ""
        except ReproError:
            continue
    return ""


def algorithm_of(label: str) -> str:
    """The one algorithm of the frameworks here that goes by a label; empty where there is none, or several."""
    wanted = re.sub(r"[^a-z0-9+]", "", label.lower())
    found = [
        f"{framework.name}/{one.name}"
        for framework in plugins().frameworks.values()
        for one in framework.algorithms
        if re.sub(r"[^a-z0-9+]", "", one.name.lower()) == wanted
    ]
    own = [use for use in found if use.startswith("reference/")]
    return found[0] if len(found) == 1 else (own or [""])[0]


def claim_text(draft: Draft) -> str:
    """The claim as a file that reads back; what has to be filled in is said in comments."""
    lines = [
        _line("title", draft.title, "A published table", "what is claimed, in a few words"),
        _line("source", draft.source, "Where it was printed", "paper, table and page, or page and version"),
        f'cite = ""  {FILL_IN}the reference',
        'url = ""',
        "seeds = [0]  # the first is the claim's own; more of them show how far seeds move the numbers",
        "",
        "[data]",
        _line("name", draft.data, "ml-100k", "the data set (`repro data list`), or a file beside this one"),
        f'# digest = ""  {FILL_IN}the content digest that `repro data describe` prints',
        "",
        f"# [frameworks]  {FILL_IN}the versions that the source used, if it says so",
        '# surprise = ["scikit-surprise==1.1.4"]',
        "",
        "[protocol]",
        _line("base", draft.protocol, BASE, "the protocol nearest to the source (`repro protocol list`)"),
        f'open = []  {FILL_IN}what the source does not say, such as "ties.break" or "relevance.threshold=3|4|5"',
        "",
        "[tolerance]",
        'kind = "rounding"  # or "seeds", or "interval" with width = 0.01',
        "",
        *_numbers(draft),
        *_algorithms(draft),
    ]
    return "\n".join(lines) + "\n"


def _line(key: str, given: str, otherwise: str, told: str) -> str:
    return f"{key} = {toml_value(given)}" if given else f"{key} = {toml_value(otherwise)}  {FILL_IN}{told}"


def _numbers(draft: Draft) -> list[str]:
    table = draft.table
    if table is None:
        asked = draft.metrics or ("rmse",)
        rows = [
            f"{_key(label)} = {_list(['0.0'] * len(asked))}  {FILL_IN}its numbers, as printed"
            for label in draft.algorithms
        ]
        return ["[table]", f"metrics = {_list(asked)}", *rows, ""]
    names = [metric_of(column) for column in table.columns]
    kept = [place for place, name in enumerate(names) if name and names.index(name) == place]
    left = [column for place, column in enumerate(table.columns) if place not in kept]
    told = [f"# the column '{column}' is no metric that is known here{nearest(column, metrics())}" for column in left]
    told += [f"# {note}" for note in table.notes]
    rows = [f"{_key(label)} = {_list([values[place] for place in kept])}" for label, values in table.rows]
    return [*told, "[table]", f"metrics = {_list([names[place] for place in kept])}", *rows, ""]


def _algorithms(draft: Draft) -> list[str]:
    labels = draft.algorithms or {label: "" for label, _ in (draft.table.rows if draft.table else ())}
    lines: list[str] = []
    for label, use in labels.items():
        known = use or algorithm_of(label)
        told = "" if known else f"  {FILL_IN}which algorithm it is (`repro algorithms`)"
        lines += [
            "[[algorithms]]",
            f"use = {toml_value(known or UNKNOWN)}{told}",
            f"label = {toml_value(label)}",
            f"parameters = {{}}  {FILL_IN}those that the source states",
            "",
        ]
    return lines[:-1]


def _list(values: Sequence[str]) -> str:
    return "[" + ", ".join(toml_value(value) for value in values) + "]"


def _key(label: str) -> str:
    return label if re.fullmatch(r"[A-Za-z0-9_-]+", label) else toml_value(label)
