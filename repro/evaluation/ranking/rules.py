"""The rules of a ranking: missing scores and their replacements, ties and the order of items with equal scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray, IdArray, Interactions
from repro.data.rating_means import RatingMeans
from repro.errors import ProtocolError, StudyError
from repro.evaluation.candidates.lists import UNLISTED, Places
from repro.evaluation.ranking.ranked import Ties
from repro.plugin import FALLBACK, UNSCORED
from repro.protocol import Protocol, Value, registry
from repro.rng import KeyArray, stream

Range = tuple[float, float]
OrderArray = npt.NDArray[np.int64]

BREAK = "ties.break"
LARGEST = float(np.finfo(np.float64).max)
_BY_DATA = ("data", "data-desc")
_NOT_RANKED = {"last": -np.inf, "first": np.inf, "drop": np.nan, "fail": -np.inf}


@dataclass(frozen=True, eq=False)
class MissingRule:
    """The decisions ``missing.*``, and the mean ratings that they may need.

    A score is missing if it is unscored (or NaN), a fallback that counts as missing, infinite, or zero, in this order.
    Missing scores are ranked by ``rank``: not at all, last, first, or by a replacement score.
    """

    rank: str
    constant: float
    fallback: str
    zero: str
    infinite: str
    means: RatingMeans | None

    @classmethod
    def from_protocol(cls, protocol: Protocol, train: Interactions | None) -> MissingRule:
        rank = protocol.text("missing.rank")
        means = None
        if rank.endswith("-mean"):
            if train is None:
                raise StudyError(
                    f'missing.rank = "{rank}" needs training rows, and there are none here; '
                    'give them, or choose "last", "first", "drop" or "constant"'
                )
            means = RatingMeans.of(train)
        return cls(
            rank,
            protocol.number("missing.constant") if rank == "constant" else 0.0,
            protocol.text("missing.fallback"),
            protocol.text("missing.zero"),
            protocol.text("missing.infinite"),
            means,
        )

    @property
    def by_item(self) -> bool:
        return self.rank == "item-mean"

    def fills_of_users(self, users: CodeArray) -> FloatArray:
        """The replacement of a missing score for each of these users; infinite or NaN if there is none."""
        if self.rank == "user-mean":
            assert self.means is not None
            return self.means.users[users]
        if self.rank in _NOT_RANKED:
            return np.full(len(users), _NOT_RANKED[self.rank])
        fill = self.means.overall if self.means is not None else self.constant
        return np.full(len(users), min(max(fill, -LARGEST), LARGEST))

    def fills_of_items(self) -> FloatArray:
        """The replacement of a missing score for each item of the vocabulary; used if ``by_item``."""
        return self.means.items if self.by_item and self.means is not None else np.empty(0)

    def missing(self, values: FloatArray, state: npt.NDArray[np.uint8] | None) -> npt.NDArray[np.bool_]:
        """A mask of the scores that are missing."""
        missing = np.isnan(values)
        if state is not None:
            missing |= state == UNSCORED
            if self.fallback == "missing":
                missing |= state == FALLBACK
        if self.infinite == "missing":
            missing |= np.isinf(values)
        if self.zero != "scored":
            missing |= (values <= 0) if self.zero == "missing-or-below" else (values == 0)
        return missing


@dataclass(frozen=True, eq=False)
class TieRule:
    """The decisions ``ties.*``, and the keys that they need.

    ``order`` is an ascending key for each item code, if the order is not that of the codes. With ``by_rows``, equal
    scores stay in the order of the given lists, or in its reverse. With ``by_file``, they have the order that the file
    of candidates gives to each list, or its reverse, relevant items that it does not list first or last. Rules without
    an order ("expected", "best", "worst", shared ranks) show equal scores by ascending item id.
    """

    rule: str
    precision: str
    decimals: int
    order: OrderArray | None
    by_rows: bool
    stream: np.uint64
    user_keys: KeyArray
    item_keys: KeyArray
    by_file: Literal["", "first", "last"] = ""

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
            cast(Literal["", "first", "last"], protocol.get("ties.file_relevant", "")),
        )

    @property
    def ties(self) -> Ties:
        """The treatment of equal scores by metrics."""
        return "definite" if gives_order({BREAK: self.rule}) else cast(Ties, self.rule)

    def places(self, of_file: Places) -> Places:
        """Ascending keys of the candidates of lists from a file; ``of_file`` are their places in the file."""
        places = np.where(of_file >= UNLISTED, of_file - 2 * UNLISTED, of_file) if self.by_file == "first" else of_file
        return -places if self.rule == "file-desc" else places


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
            "repro.lists"
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


def _clip_range(protocol: Protocol, train: Interactions | None, scale: Range | None) -> Range | None:
    """The range to which ``scores.clip`` clips scores; None where it does not, or where an audit leaves it out."""
    match protocol.get("scores.clip"):
        case "scale":
            if scale is None:
                raise ProtocolError(
                    'scores.clip = "scale" needs the rating scale, and it is not known here; state data.scale = '
                    '"stated" with data.scale_min and data.scale_max'
                )
            return scale
        case "train":
            if train is None or not len(train):
                raise ProtocolError('scores.clip = "train" needs training rows, and there are none here; give them')
            return float(train.ratings.min()), float(train.ratings.max())
    return None


@dataclass(frozen=True, eq=False)
class RankingRules:
    """The decisions ``missing.*``, ``scores.*`` and ``ties.*`` of a protocol for the users and items of a data set.

    ``clip`` is the range to which scores are clipped, if they are.
    """

    missing: MissingRule
    ties: TieRule
    user_ids: IdArray
    item_ids: IdArray
    clip: Range | None = None

    @classmethod
    def from_protocol(
        cls,
        protocol: Protocol,
        vocabulary: Interactions,
        *,
        train: Interactions | None,
        data_items: CodeArray | None,
        seed: int,
        scale: Range | None = None,
    ) -> RankingRules:
        """The rules for codes of ``vocabulary`` (any part of the data set).

        ``train`` are the training rows, which rules that rank by mean ratings need. ``data_items`` are the items of all
        rows of the data set in their original order, which some tie rules need. ``scale`` is the rating scale, to which
        scores may be clipped.
        """
        return cls(
            MissingRule.from_protocol(protocol, train),
            TieRule.from_protocol(protocol, vocabulary, data_items, seed),
            vocabulary.user_ids,
            vocabulary.item_ids,
            _clip_range(protocol, train, scale),
        )
