"""Ties: when two scores are equal, and the order of items with equal scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, IdArray, Interactions
from repro.errors import ProtocolError
from repro.evaluation.ranking.ranked import Ties
from repro.protocol import Protocol, Value, registry
from repro.rng import KeyArray, stream

OrderArray = npt.NDArray[np.int64]

BREAK = "ties.break"
_BY_DATA = ("data", "data-desc")


@dataclass(frozen=True, eq=False)
class TieRule:
    """The decisions ``ties.*``, and the keys that they need.

    ``order`` is an ascending key for each item code, if the order is not that of the codes. With ``by_rows``, equal
    scores stay in the order of the given lists, or in its reverse. Rules without an order ("expected", "best", "worst",
    shared ranks) show equal scores by ascending item id.
    """

    rule: str
    precision: str
    decimals: int
    order: OrderArray | None
    by_rows: bool
    stream: np.uint64
    user_keys: KeyArray
    item_keys: KeyArray

    @classmethod
    def from_protocol(
        cls, protocol: Protocol, vocabulary: Interactions, data_items: CodeArray | None, seed: int
    ) -> TieRule:
        """The rule for codes of ``vocabulary``; ``data_items`` are the items of the rows of the data set, in order."""
        rule = protocol.text(BREAK)
        precision = protocol.text("ties.precision")
        none = np.empty(0, dtype=np.uint64)
        return cls(
            rule,
            precision,
            protocol.count("ties.decimals") if precision == "decimals" else 0,
            _order(rule, protocol, vocabulary.item_ids, data_items),
            needs_rows(rule),
            stream(seed, "ties"),
            vocabulary.user_keys if rule == "random" else none,
            vocabulary.item_keys if rule == "random" else none,
        )

    @property
    def ties(self) -> Ties:
        """How metrics treat equal scores."""
        return "definite" if gives_order({BREAK: self.rule}) else cast(Ties, self.rule)


def gives_order(decisions: Mapping[str, Value]) -> bool:
    """Whether ``ties.break`` puts items with equal scores in one order; otherwise each metric has its own rule."""
    option = registry()[BREAK].option(decisions[BREAK])
    return option is None or option.gives_order


def needs_rows(rule: str) -> bool:
    """Whether a value of ``ties.break`` needs the rows of given recommendations."""
    option = registry()[BREAK].option(rule)
    return option is not None and option.needs == "rows"


def refuse_rows(protocol: Protocol) -> None:
    """Raise a ProtocolError where ties are in the order of rows that the lists of a study do not have."""
    if needs_rows(rule := protocol.text(BREAK)):
        raise ProtocolError(
            f'ties.break = "{rule}" is the order of the rows of given recommendations, and lists that are made of '
            'scores have no rows; use "data" for the order of the data set, or "item-asc", or give recommendations to '
            "repro.evaluate"
        )


def _order(rule: str, protocol: Protocol, item_ids: IdArray, data_items: CodeArray | None) -> OrderArray | None:
    if rule in _BY_DATA:
        if data_items is None:
            raise ProtocolError(
                f'ties.break = "{rule}" is the order of items in the data set, and it is not known here; give the '
                'training rows as train=, or use "rows" for the order of the recommendations'
            )
        first = first_appearance(data_items, len(item_ids))
        return first if rule == "data" else -first
    if rule not in ("item-asc", "item-desc"):
        return None
    codes = np.arange(len(item_ids), dtype=np.int64)
    order = text_order(item_ids) if protocol.text("ties.id_order") == "text" else codes
    if rule == "item-desc":
        return -order
    return None if np.array_equal(order, codes) else order


def text_order(ids: IdArray) -> OrderArray:
    """The rank of each id when ids are sorted as text: 10 before 9."""
    order = np.argsort(np.array([str(i) for i in ids], dtype=object), kind="stable")
    ranks = np.empty(len(ids), dtype=np.int64)
    ranks[order] = np.arange(len(ids))
    return ranks


def first_appearance(items: npt.NDArray[Any], n_items: int) -> OrderArray:
    """The row in which each item first appears; items that never appear come last, by code."""
    distinct, rows = np.unique(items, return_index=True)
    first = len(items) + np.arange(n_items, dtype=np.int64)
    first[distinct] = rows
    return first
