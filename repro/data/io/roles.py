"""The meaning of the columns of a table: kinds of tables, the roles of their columns, and common column names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repro.data.io.values import ROLES
from repro.errors import DataError, nearest

# Common names of columns, the likeliest first; compared as `plain_name` writes them.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "user": (
        *("user", "userid", "uid", "users", "usercode", "customer", "customerid", "reviewerid", "visitorid"),
        *("useridx", "userindex", "userno", "username", "member", "memberid", "reviewer", "accountid", "profileid"),
    ),
    "item": (
        *("item", "itemid", "iid", "items", "movie", "movieid", "artist", "artistid", "product", "productid"),
        *("book", "bookid", "isbn", "asin", "song", "songid", "track", "trackid", "businessid", "articleid"),
        *("sid", "itemidx", "itemindex", "itemno", "mid", "parentasin", "business", "article", "game", "gameid"),
        *("anime", "animeid", "joke", "jokeid", "recipe", "recipeid", "video", "videoid", "news", "newsid"),
        *("venue", "venueid", "locationid", "placeid", "restaurantid", "contentid"),
    ),
    "rating": (
        *("rating", "ratings", "score", "stars", "bookrating", "overall", "grade", "weight", "plays", "count"),
        *("rate", "preference", "playcount"),
    ),
    "timestamp": (
        *("timestamp", "time", "ts", "timestamps", "datetime", "date", "unixreviewtime"),
        *("unixtime", "unixtimestamp", "reviewtime", "eventtime", "eventdate", "eventtimestamp", "createdat"),
    ),
}
# In files of negatives: the test item that they go with, and the column that is 0 for a negative.
TARGETS = ("target", "targetitem", "targetid", "positive", "positem", "pos", "testitem", "groundtruth", "gt", "truth")
LABELS = ("label", "labels", "relevance", "rating")

# Predictions of Surprise are named tuples with these fields. Where ``details["was_impossible"]`` is true, the algorithm
# could not predict, and the estimate is a fallback.
SURPRISE_FIELDS = ("uid", "iid", "r_ui", "est", "details")

_USER = (*ALIASES["user"], "query", "queryid", "qid", "topic", "topicid")
_ITEM = (*ALIASES["item"], "doc", "docid", "docno", "document", "documentid")
_TRUE_RATING = ("rui", "rating", "ratings", "truerating", "actual")

Columns = Mapping[str, str] | Sequence[str]


class UnknownColumns(DataError):
    """Nothing shows which column of a file is the user, or the item."""


@dataclass(frozen=True)
class TableKind:
    """A kind of table.

    aliases   common names of the column of each role
    text      roles whose values are read as text; the others are numbers
    in_order  roles of the columns of a table without a header
    widths    how many columns a table without a header may have
    formats   formats of files, by their names in :mod:`repro.data.io.formats`
    """

    name: str
    aliases: Mapping[str, Sequence[str]]
    text: tuple[str, ...]
    in_order: tuple[str, ...]
    widths: tuple[int, ...]
    formats: tuple[str, ...]

    def choose(self, names: Sequence[str], columns: Columns | None, label: str) -> dict[str, str]:
        """The name of the column for each role: as stated in ``columns``, or by a common name."""
        stated = dict(columns) if isinstance(columns, Mapping) else {}
        if self is not RECOMMENDATIONS:
            return choose_columns(names, stated, label, self.aliases)
        # The name of the rating may be stated for the truth, and few recommendations have one.
        stated = {role: name for role, name in stated.items() if role != "rating" or name in names}
        chosen = choose_columns(names, stated, label, self.aliases)
        if "score" not in chosen and "rank" not in chosen:
            raise DataError(
                f"{label} has neither a column 'score' nor 'rank'; it has {', '.join(names)}. State which one it is, "
                f'such as {{"score": "{names[-1]}"}} (on the command line, --columns score={names[-1]})'
            )
        if chosen.get("rating") in (chosen.get("score"), chosen.get("rank")):
            chosen.pop("rating", None)
        return chosen

    def choose_by_position(self, width: int, columns: Columns | None, label: str) -> dict[str, str]:
        """The same for a table without a header, whose columns are called "1", "2", ..."""
        positions = [str(position) for position in range(1, width + 1)]
        if isinstance(columns, Mapping) and columns:
            return self.choose(positions, {"user": "1", "item": "2", **columns}, label)
        if width in self.widths:
            return dict(zip(self.in_order, positions, strict=False))
        expected, example = "user, item, rating and timestamp", "rating"
        if self is RECOMMENDATIONS:
            expected, example = "user, item and score (or rank)", "score"
        raise DataError(
            f"{label} has no header and {width} columns; expected are {expected}, in this order. State the position of "
            f'each column, such as {{"{example}": "3"}} (on the command line, --columns {example}=3)'
        )


INTERACTIONS = TableKind(
    "interactions",
    ALIASES,
    ("user", "item"),
    ROLES,
    (2, 3, 4),
    ("text", "lists", "json", "parquet", "recbole", "trec"),
)
RECOMMENDATIONS = TableKind(
    "recommendations",
    {
        "user": _USER,
        "item": _ITEM,
        "score": (
            *("score", "scores", "prediction", "predictions", "predicted", "pred", "est", "estimate", "estimated"),
            *("predictedrating", "predictedscore", "predictedvalue", "yhat"),
        ),
        "rank": ("rank", "ranks", "ranking", "position", "pos"),
        "state": ("state",),
        "details": ("details",),
        "was_impossible": ("wasimpossible",),
        "rating": _TRUE_RATING,
    },
    ("user", "item", "state", "details", "was_impossible"),
    ("user", "item", "score", "rank"),
    (3, 4),
    ("text", "parquet", "json", "recbole", "trec", "surprise"),
)
FOLDS = TableKind(
    "folds",
    {
        "user": ALIASES["user"],
        "item": ALIASES["item"],
        "fold": ("fold", "folds", "foldid", "cv", "cvfold", "splitid"),
        "part": ("part", "split", "set", "subset", "partition", "phase", "splitset"),
    },
    ("user", "item", "fold", "part"),
    ("user", "item", "fold", "part"),
    (3, 4),
    ("text", "parquet", "json"),
)
TRUTH = TableKind(
    "truth",
    {
        "user": _USER,
        "item": _ITEM,
        "rating": (*_TRUE_RATING, "rel", "relevance", "label", *ALIASES["rating"]),
        "timestamp": ALIASES["timestamp"],
    },
    ("user", "item"),
    ROLES,
    (2, 3, 4),
    RECOMMENDATIONS.formats,
)


def choose_columns(
    names: Sequence[str], stated: Mapping[str, str], label: str, aliases: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """The name of the column for each role: as stated (an empty name: none), or the likeliest alias among ``names``."""
    for role in stated:
        if role not in aliases:
            raise DataError(f"columns: there is no '{role}'{nearest(role, aliases)} There are {', '.join(aliases)}")
    chosen: dict[str, str] = {}
    for role in aliases:
        if role in stated:
            if stated[role] in names:
                chosen[role] = stated[role]
            elif stated[role]:
                raise DataError(
                    f"{label} has no column '{stated[role]}' for {role}; "
                    f"it has {listed(names)}{nearest(stated[role], names)}"
                )
        elif name := find_alias(names, aliases[role]):
            chosen[role] = name
            if len(alike := {other: None for other in names if plain_name(other) == plain_name(name)}) > 1:
                raise DataError(
                    f"{label} has the columns {' and '.join(map(repr, alike))}, and each may be the {role}; state "
                    f'which one is with `columns`, such as {{"{role}": "{name}"}}'
                )
    for role in ("user", "item"):
        if role not in chosen:
            raise UnknownColumns(
                f"{label} has no column '{role}'; it has {listed(names)}{nearest(role, names)} "
                "State which column is which with `columns`"
            )
    for role, name in chosen.items():
        if list(names).count(name) > 1:
            raise DataError(f"{label} has several columns called '{name}' for {role}; keep one of them")
    return chosen


def find_alias(names: Sequence[str], aliases: Sequence[str]) -> str | None:
    """The first of the names that the likeliest of the aliases stands for."""
    plain = {plain_name(name): name for name in reversed(names)}
    return next((plain[alias] for alias in aliases if alias in plain), None)


def plain_name(name: str) -> str:
    """A name as names are compared: without case, blanks and punctuation."""
    return "".join(character for character in name.lower() if character.isalnum())


def listed(names: Sequence[str]) -> str:
    """Names of columns for a message; only the first 40 of a very wide table."""
    if not names:
        return "no columns"
    shown = ", ".join(name[:60] for name in names[:40])
    return shown if len(names) <= 40 else f"{shown} and {len(names) - 40:,} more"
