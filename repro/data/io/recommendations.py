"""Files of recommendations, of what was held out and of training rows, in the forms that toolkits write them."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from pyarrow.csv import ConvertOptions

from repro.data import Interactions, read_interactions
from repro.data.interactions import FloatArray
from repro.data.io.delimited import column_values, line_number, read_columns
from repro.data.io.formats import FORMATS, format_of, readable
from repro.data.io.json_tables import read_json_table
from repro.data.io.parquet import read_parquet
from repro.data.io.readers import Where, existing_file
from repro.data.io.sniff import ALIASES, SKIPPED, Columns, Layout, guess_layout, lines_of, roles
from repro.data.io.surprise import states_of_details, states_of_flags
from repro.data.io.values import ROLES, Values, data_row, encode_ids, interactions_from_columns
from repro.errors import DataError

__all__ = ["FORMATS", "read_recommendations", "read_train", "read_truth"]

# What people call the columns, beside what a file of interactions calls them; without case and punctuation.
_USER = (*ALIASES["user"], "query", "queryid", "qid", "topic", "topicid")
_ITEM = (*ALIASES["item"], "doc", "docid", "docno", "document", "documentid")
_RATING = ("rui", "rating", "ratings", "truerating", "actual")
RECOMMENDED: Mapping[str, Sequence[str]] = {
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
    "rating": _RATING,
}
HELD_OUT: Mapping[str, Sequence[str]] = {
    "user": _USER,
    "item": _ITEM,
    "rating": (*_RATING, "rel", "relevance", "label", *ALIASES["rating"]),
    "timestamp": ALIASES["timestamp"],
}
_IN_WORDS = ("user", "item", "state", "details", "was_impossible")
_RUN = ("user", "Q0", "item", "rank", "score", "tag")
_FROM_RUN = ("user", "item", "score")
_INSTEAD = {4: "four columns are qrels, which are the truth"}

Stated = Mapping[str, str] | None
# What stands for no score: as pyarrow has it in columns of numbers, and as Python and pandas write it.
_MISSING = frozenset(ConvertOptions().null_values)


def read_recommendations(
    path: str | os.PathLike[str], columns: Stated = None, format: str | None = None
) -> pd.DataFrame:
    """Recommendations from a file: ``user``, ``item``, and ``score`` or ``rank`` or both.

    ``format`` is one of ``FORMATS``, and is recognised by suffix and content where it is not stated. ``columns`` says
    what the columns are called, such as ``{"user": "userId"}``; common names are known, and a column of a table
    without a header is called by its place (``{"rank": "3"}``). Where the file says so, there is a column ``state``
    ("fallback" is a score that the framework made up), and ``rating``, the real rating beside a prediction. Ids are
    whole numbers where all of them are, and text otherwise.

    Of a TREC run the score counts and its rank is not read, as trec_eval has it.
    """
    file = existing_file(path)
    where: Where = data_row
    kind = format_of(file, format, "recommendations")
    with readable(file):
        match kind:
            case "parquet":
                values = _parquet_values(file, columns)
            case "json":
                values = _frame_values(read_json_table(file), columns, str(file))
            case "trec":
                values, where = _read_run(file)
            case _:
                values, where = _read_table(file, kind, columns)
    return _recommendation_frame(values, str(file), where)


def read_truth(path: str | os.PathLike[str], columns: Stated = None, format: str | None = None) -> pd.DataFrame:
    """The held-out rows of a file: ``user``, ``item`` and, where there are any, ``rating`` and ``timestamp``.

    As :func:`read_recommendations`; "trec" are qrels, and the rating of a prediction of Surprise is its ``r_ui``.
    """
    file = existing_file(path)
    kind = format_of(file, format, "truth")
    with readable(file):
        match kind:
            case "json":
                return _held_out_json(file, columns)
            case "trec":
                return _interaction_frame(read_interactions(file, "qrels"))
            case "parquet":
                names: Sequence[str] = pq.read_schema(file).names
                stated: Columns = roles(names, columns, str(file), HELD_OUT)
            case _:
                layout = _layout(file, kind, columns)
                stated = _held_out_columns(layout, columns, str(file))
    return _interaction_frame(read_interactions(file, kind, stated))


def read_train(path: str | os.PathLike[str], columns: Stated = None, format: str | None = None) -> pd.DataFrame:
    """The training rows of a file, in its order; as :func:`read_truth`."""
    return read_truth(path, columns, format)


def recommendations_from_frame(frame: pd.DataFrame, label: str) -> pd.DataFrame:
    """A frame with names that people use, such as Surprise's, as :func:`read_recommendations` gives it."""
    return _recommendation_frame(_frame_values(frame, None, label), label, data_row)


def truth_of_recommendations(recommendations: pd.DataFrame) -> pd.DataFrame:
    """The held-out rows that come with predictions: those whose rating is known."""
    held_out = recommendations[recommendations["rating"].notna().to_numpy()]
    if not len(held_out):
        raise DataError("no prediction has a rating beside it to be compared with; give the truth")
    return held_out[["user", "item", "rating"]]


def _recommended_roles(names: Sequence[str], columns: Stated, label: str) -> dict[str, str]:
    # What the rating is called is said of the truth, too, and few recommendations have one beside them.
    stated = {role: name for role, name in (columns or {}).items() if role != "rating" or name in names}
    chosen = roles(names, stated, label, RECOMMENDED)
    if "score" not in chosen and "rank" not in chosen:
        raise DataError(
            f"{label} has neither a column 'score' nor 'rank'; it has {', '.join(names)}. State which one it is, such "
            f'as {{"score": "{names[-1]}"}} (on the command line, --columns score={names[-1]})'
        )
    if "rating" in chosen and chosen["rating"] in (chosen.get("score"), chosen.get("rank")):
        del chosen["rating"]
    return chosen


def _recommendation_frame(values: Mapping[str, Values], label: str, where: Where) -> pd.DataFrame:
    """The columns as they are called everywhere; what cannot be one is named with its place."""
    table: dict[str, Values] = {}
    for role in ("user", "item"):
        codes, ids = encode_ids(values[role], role, label, where)
        table[role] = ids[codes]
    for role in ("score", "rank", "rating"):
        if role in values:
            table[role] = numbers_or_missing(values[role], role, label, where)
    if "state" in values:
        table["state"] = np.asarray(values["state"])
    elif "details" in values:
        table["state"] = states_of_details(values["details"])
    elif "was_impossible" in values:
        table["state"] = states_of_flags(values["was_impossible"])
    return pd.DataFrame(table)


def numbers_or_missing(values: Values | pd.Series, role: str, label: str, where: Where = data_row) -> FloatArray:
    """Numbers, NaN where there is nothing. Text is read to the last bit, which pandas does not promise."""
    given = pd.Series(values).astype(object) if isinstance(values, pd.Categorical) else pd.Series(values)
    try:
        return given.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        return np.array([_number(value, row, role, label, where) for row, value in enumerate(given)])


def _number(value: object, row: int, role: str, label: str, where: Where) -> float:
    text = str(value).strip()
    if text in _MISSING or text.lower() in ("nan", "none", "<na>", "null"):
        return math.nan
    try:
        return float(text)
    except ValueError:
        raise DataError(
            f"{label}: {role} is {str(value)!r}, not a number, in {where(row)}; leave it empty where there is none "
            "(missing.rank says what that means)"
        ) from None


def _interaction_frame(rows: Interactions) -> pd.DataFrame:
    table: dict[str, Values] = {"user": rows.user_ids[rows.users], "item": rows.item_ids[rows.items]}
    if rows.explicit:
        table["rating"] = rows.ratings
    if rows.timestamps is not None:
        table["timestamp"] = rows.timestamps
    return pd.DataFrame(table)


def _frame_values(frame: pd.DataFrame, columns: Stated, label: str) -> dict[str, Values]:
    named = frame.set_axis([str(name) for name in frame.columns], axis=1)
    chosen = _recommended_roles(list(named.columns), columns, label)
    return {role: named[name].to_numpy() for role, name in chosen.items()}


def _held_out_json(file: Path, columns: Stated) -> pd.DataFrame:
    table = read_json_table(file)
    chosen = roles([str(name) for name in table.columns], columns, str(file), HELD_OUT)
    values = {role: table[name].to_numpy() for role, name in chosen.items()}
    return _interaction_frame(interactions_from_columns(values, str(file)))


def _parquet_values(file: Path, columns: Stated) -> dict[str, Values]:
    chosen = _recommended_roles(pq.read_schema(file).names, columns, str(file))
    table = read_parquet(file, list(chosen.values()))
    return {role: column_values(table.column(name)) for role, name in chosen.items()}


def _layout(file: Path, kind: str, columns: Stated) -> Layout:
    """How a table of text is written; the columns of one without a header are called by their places."""
    if kind == "recbole":
        layout = guess_layout(file, "\t", True, None, "utf-8", "", "")
        return replace(layout, names=tuple(name.partition(":")[0] for name in layout.names))
    layout = guess_layout(file, None, None, columns, "utf-8", '"', "")
    if layout.header:
        return layout
    places = tuple(str(place) for place in range(1, len(layout.names) + 1))
    return replace(layout, names=places)


def _held_out_columns(layout: Layout, columns: Stated, label: str) -> Columns:
    """The columns as :func:`read_interactions` takes them."""
    if layout.header:
        return roles(layout.names, columns, label, HELD_OUT)
    chosen = dict(zip(ROLES, layout.names, strict=False)) if len(layout.names) <= len(ROLES) else {}
    if columns:
        chosen = roles(layout.names, {**dict(zip(("user", "item"), "12", strict=True)), **columns}, label, HELD_OUT)
    if not chosen:
        raise _unknown_places(label, len(layout.names), "user, item, rating and timestamp", "rating")
    by_place = {place: role for role, place in chosen.items()}
    return [by_place.get(place, SKIPPED) for place in layout.names]


def _unknown_places(label: str, count: int, expected: str, example: str) -> DataError:
    return DataError(
        f"{label} has no header and {count} columns; expected are {expected}, in this order. State which is which by "
        f'its place, such as {{"{example}": "3"}} (on the command line, --columns {example}=3)'
    )


def _read_table(file: Path, kind: str, columns: Stated) -> tuple[dict[str, Values], Where]:
    """A table of text, with a header or without."""
    layout = _layout(file, kind, columns)
    where = partial(line_number, file, layout)
    if layout.header:
        chosen = _recommended_roles(layout.names, columns, str(file))
        return read_columns(file, layout, chosen, _IN_WORDS), where
    if columns:
        first = dict(zip(("user", "item"), layout.names, strict=False))
        chosen = _recommended_roles(layout.names, {**first, **columns}, str(file))
        return read_columns(file, layout, chosen, _IN_WORDS), where
    if len(layout.names) not in (3, 4):
        raise _unknown_places(str(file), len(layout.names), "user, item and score (or rank)", "score")
    chosen = dict(zip(("user", "item", "score", "rank"), layout.names, strict=False))
    return _told_apart(read_columns(file, layout, chosen, _IN_WORDS), str(file)), where


def _told_apart(values: dict[str, Values], label: str) -> dict[str, Values]:
    """Scores and ranks without a header: a rank is what counts 1, 2, 3, ... for each user, and a score is not."""
    third = _order_of_counting(values["user"], values["score"])
    if "rank" not in values:
        if third in ("up", "mixed"):
            raise DataError(
                f"{label} has no header, and its third column counts 1, 2, 3, ... for each user: are these ranks (1 is "
                'best) or scores (1 is worst)? State {"rank": "3"} or {"score": "3"} (on the command line, '
                "--columns rank=3 or --columns score=3)"
            )
        return values
    fourth = _order_of_counting(values["user"], values["rank"])
    if (third == "up") == (fourth == "up"):
        raise DataError(
            f"{label} has no header, and of its third and fourth columns it cannot be told which is the score and "
            'which the rank; state {"score": "3"} or {"rank": "3"} (on the command line, --columns score=3)'
        )
    if third == "up":
        values["score"], values["rank"] = values["rank"], values["score"]
    return values


def _order_of_counting(users: Values, values: Values) -> str:
    """How the values of each user are 1, 2, 3, ...: "up" or "down" the rows, "mixed", or "" where they are not."""
    table = pd.DataFrame({"user": pd.factorize(users)[0], "value": pd.to_numeric(np.asarray(values), errors="coerce")})
    row = table.groupby("user", sort=False).cumcount().to_numpy() + 1
    size = table.groupby("user", sort=False)["user"].transform("size").to_numpy()
    if size.max(initial=0) < 2:
        return ""
    if (table["value"] == row).all():
        return "up"
    if (table["value"] == size + 1 - row).all():
        return "down"
    ordered = table.sort_values(["user", "value"])
    counted = ordered.groupby("user", sort=False).cumcount() + 1
    return "mixed" if (ordered["value"] == counted).all() else ""


def _read_run(file: Path) -> tuple[dict[str, Values], Where]:
    """A TREC run: six columns, nearly always with one blank between them; others are split line by line."""
    line = next(line for _, line in lines_of(file, "utf-8"))
    delimiter = next((mark for mark in ("\t", " ") if len(line.split(mark)) == len(_RUN)), "")
    if delimiter:
        layout = Layout(delimiter, _RUN, False, quote="")
        try:
            return read_columns(file, layout, {role: role for role in _FROM_RUN}), partial(line_number, file, layout)
        except DataError:  # somewhere there are more blanks, or it is no run
            pass
    numbers, rows = [], []
    for number, line in lines_of(file, "utf-8"):
        cells = line.split()
        if cells and len(cells) != len(_RUN):
            raise DataError(
                f"{file}: line {number:,} has {len(cells)} columns where {len(_RUN)} were expected (topic Q0 document "
                f"rank score tag): {line[:80]!r}; " + _INSTEAD.get(len(cells), "correct the line, or state the format")
            )
        if cells:
            numbers.append(number)
            rows.append(cells)
    if not rows:
        raise DataError(f"{file} is empty: a run has lines such as 'topic Q0 document rank score tag'")
    table = dict(zip(_RUN, (np.array(column, dtype=object) for column in zip(*rows, strict=True)), strict=True))
    return {role: table[role] for role in _FROM_RUN}, lambda row: f"line {numbers[row]:,}"
