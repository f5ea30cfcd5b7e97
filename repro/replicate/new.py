"""A claim file to begin with: from a printed table, or from what is asked, with notes on what is left to fill in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from repro.errors import ReproError, nearest
from repro.evaluation.metrics import metrics, parse_measure
from repro.plugin import plugins
from repro.protocol import Protocol
from repro.protocol.toml import Inline, Place, write_toml
from repro.replicate.tables import PrintedTable

FILL_IN = "fill in: "
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
    """The claim as a file that reads back; comments say what has to be filled in."""
    known = {
        "title": (draft.title, "A published table", "what is claimed, in a few words"),
        "source": (draft.source, "Where it was printed", "paper, table and page, or page and version"),
        "data": (draft.data, "ml-100k", "the data set (`repro data list`), or a file beside this one"),
        "protocol": (draft.protocol, BASE, "the protocol nearest to the source (`repro protocol list`)"),
    }
    title, source, data, protocol = (given or otherwise for given, otherwise, _ in known.values())
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
        places.get(key, (key,)): f"{FILL_IN}{what}" for key, (given, _, what) in known.items() if not given
    }
    comments |= {
        ("cite",): f"{FILL_IN}the reference",
        ("seeds",): "the first is the claim's own; more of them show how far seeds move the numbers",
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
    """The printed numbers of each label, below the metrics that they are of."""
    table = draft.table
    if table is None:
        asked = draft.metrics or ("rmse",)
        comments |= {("table", label): f"{FILL_IN}its numbers, as printed" for label in draft.algorithms}
        return {"metrics": list(asked)} | {label: ["0.0"] * len(asked) for label in draft.algorithms}
    names = [metric_of(column) for column in table.columns]
    kept = [place for place, name in enumerate(names) if name and names.index(name) == place]
    left = [column for place, column in enumerate(table.columns) if place not in kept]
    remarks["table",] = [
        *(f"the column '{column}' is no metric that is known here{nearest(column, metrics())}" for column in left),
        *table.notes,
    ]
    rows = {label: [values[place] for place in kept] for label, values in table.rows}
    return {"metrics": [names[place] for place in kept]} | rows


def _algorithms(draft: Draft, comments: dict[Place, str]) -> list[dict[str, Any]]:
    labels = draft.algorithms or {label: "" for label, _ in (draft.table.rows if draft.table else ())}
    entries: list[dict[str, Any]] = []
    for number, (label, use) in enumerate(labels.items()):
        known = use or algorithm_of(label)
        if not known:
            comments["algorithms", number, "use"] = f"{FILL_IN}which algorithm it is (`repro algorithms`)"
        comments["algorithms", number, "parameters"] = f"{FILL_IN}those that the source states"
        entries.append({"use": known or UNKNOWN, "label": label, "parameters": Inline()})
    return entries
