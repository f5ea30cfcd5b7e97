"""Tables of protocols: a row for each, with the decisions in which it differs from the base of the table.

``protocols/tables/inferred.toml`` has the policies of evaluators, each as the protocol ``inferred/NAME``::

    base = "random-5fold"
    title = "What {source} computes, as inferred from its answers"
    open = ["data.duplicates", "split.strategy"]

    [protocols]
    surprise-accuracy-rmse = {source = "surprise/accuracy rmse", open = ["predict.clip"], predict.average = "users"}
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from repro.errors import ProtocolError
from repro.protocol.model import Protocol
from repro.protocol.toml import Inline, parse_toml, write_toml

ROWS = "protocols"
ABOUT = ("source", "open")


class ProtocolTable(Mapping[str, Protocol]):
    """The protocols of a table by name; each is made when it is first asked for.

    ``label`` names the table in messages and in the origins of decisions; ``read_base`` reads a protocol by its name.
    """

    def __init__(self, text: str, label: str, read_base: Callable[[str], Protocol]) -> None:
        self._label = label
        self._read_base = read_base
        try:
            self._document = parse_toml(text)
        except tomllib.TOMLDecodeError as error:
            raise ProtocolError(f"{label} is not valid TOML: {error}") from None
        base, rows = self._document.get("base"), self._document.get(ROWS)
        if not isinstance(base, str) or "/" in base:
            raise ProtocolError(f"{label} is not a table of protocols: base must be the name of a protocol of no table")
        if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
            raise ProtocolError(f"{label} is not a table of protocols: it has no [{ROWS}] with a row for each")
        if not all(isinstance(entry.get("open", []), list) for entry in (self._document, *rows.values())):
            raise ProtocolError(f'{label}: open must be a list of decisions, such as ["ties.break"]')
        self._rows: dict[str, dict[str, Any]] = rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def _base(self) -> Protocol:
        return self._read_base(self._document["base"])

    def __getitem__(self, name: str) -> Protocol:
        from repro.protocol.reader import flatten

        row = self._rows[name]
        label = f"{self._label}, {name}"
        source, title = str(row.get("source", "")), str(self._document.get("title", ""))
        stated = flatten({key: value for key, value in row.items() if key not in ABOUT})
        protocol = self._base.replace(stated, label)
        undecided = {*self._document.get("open", ()), *row.get("open", ())}
        return replace(
            protocol,
            name="",
            title=title.replace("{source}", source),
            source=source,
            notes="",
            open=tuple(key for key in protocol if key in undecided),
        )


def table_text(protocols: Mapping[str, Protocol], base: str, title: str) -> str:
    """The text of a table with these protocols, which all build on the protocol ``base``."""
    own = Protocol.load(base)
    of_all = [key for key in own if protocols and all(key in protocol.open for protocol in protocols.values())]
    rows: dict[str, Inline] = {}
    for name, protocol in protocols.items():
        undecided = [key for key in protocol.open if key not in of_all]
        row = Inline({"source": protocol.source, **({"open": undecided} if undecided else {})})
        for key, value in protocol.items():
            if value != own.get(key):
                *tables, leaf = key.split(".")
                place: dict[str, Any] = row
                for table in tables:
                    place = place.setdefault(table, Inline())
                place[leaf] = value
        rows[name] = row
    return write_toml({"base": base, "title": title, "open": of_all or None, ROWS: rows})
