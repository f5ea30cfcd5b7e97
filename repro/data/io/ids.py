"""Codes for the ids of users and items, whatever their type and whichever library holds them.

Ids are compared as text: 7, 7.0 and "7" are one id, and any other object is its text. Of millions of rows, only the
distinct ids become Python objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from repro.data.interactions import CodeArray, IdArray
from repro.data.io.short_texts import short_text_codes
from repro.errors import DataError

# A column of a table: of NumPy, of pandas' categories, or of Arrow.
Values: TypeAlias = npt.NDArray[Any] | pd.Categorical | pa.ChunkedArray
Where = Callable[[int], str]  # the place of a row in its source, in words
ID_DIGITS = 18  # an id with more digits is text
_SPARSEST = 4  # a lookup table may have this many entries for each row
_SAMPLE = 1024


class _Coded(NamedTuple):
    """The distinct ids of a column in any order, and the position of each row's id among them: -1 for an empty one."""

    codes: npt.NDArray[np.signedinteger[Any]]
    distinct: npt.NDArray[Any]


def data_row(position: int) -> str:
    """The place of a row, counted from 1."""
    return f"row {position + 1:,}"


def encode_ids(values: Values, role: str, label: str, where: Where = data_row) -> tuple[CodeArray, IdArray]:
    """Codes and the ascending ids: numbers where every id is a whole number, text otherwise."""
    if isinstance(values, pd.Categorical) and _are_codes(values):
        return np.asarray(values.codes, dtype=np.int32), values.categories.to_numpy()
    codes, ids = _joined({label: _checked(values, role, f"{label}: ", where)})
    return codes[label], ids


def encode_together(columns: Mapping[str, Values], role: str) -> tuple[dict[str, CodeArray], IdArray]:
    """The codes of each column, and the ids that they stand for, as in :func:`encode_ids`.

    ``columns`` has a column for each table, by its name. 7 in one table and "7" in another are the same id.
    """

    def place(label: str) -> Where:
        return lambda row: f"{data_row(row)} of {label}"

    return _joined({label: _checked(values, role, "", place(label)) for label, values in columns.items()})


def _joined(parts: Mapping[str, _Coded]) -> tuple[dict[str, CodeArray], IdArray]:
    """One coding for the ids of several columns."""
    ids: IdArray
    numbers = {label: _whole_numbers(part.distinct) for label, part in parts.items()}
    if any(whole is None for whole in numbers.values()):
        texts = {label: _texts(part.distinct) for label, part in parts.items()}
        distinct = set().union(*texts.values())
        if not all(map(_is_plain_number, distinct)):
            ids = np.array(sorted(distinct), dtype=object)
            position = {text: code for code, text in enumerate(ids.tolist())}
            new = {label: np.array([position[text] for text in of], dtype=np.int32) for label, of in texts.items()}
            return {label: _taken(new[label], part.codes) for label, part in parts.items()}, ids
        numbers = {label: np.array(list(map(int, of)), dtype=np.int64) for label, of in texts.items()}
    whole_numbers = {label: whole for label, whole in numbers.items() if whole is not None}
    ids = np.unique(np.concatenate(list(whole_numbers.values())))
    return {
        label: _taken(np.searchsorted(ids, whole_numbers[label]).astype(np.int32), part.codes)
        for label, part in parts.items()
    }, ids


def _taken(new: CodeArray, codes: npt.NDArray[Any]) -> CodeArray:
    return new[codes] if len(codes) else np.empty(0, dtype=np.int32)


def _texts(distinct: npt.NDArray[Any]) -> list[str]:
    values = distinct.tolist()
    return values if set(map(type, values)) == {str} else [id_text(value) for value in values]


def _whole_numbers(distinct: npt.NDArray[Any]) -> npt.NDArray[np.int64] | None:
    """The ids as int64, where the column has whole numbers; None for text and objects."""
    if not len(distinct):
        return np.empty(0, dtype=np.int64)
    kind = distinct.dtype.kind
    if kind == "i" or (kind == "u" and bool((distinct <= np.iinfo(np.int64).max).all())):
        return distinct.astype(np.int64)
    if kind == "f" and bool((distinct == np.floor(distinct)).all()):
        return distinct.astype(np.int64)
    return None


# --- the distinct ids of a column -------------------------------------------------------------------------------


def _checked(values: Values, role: str, label: str, where: Where) -> _Coded:
    """The distinct ids of a column, none of which is empty or inexact."""
    coded = _coded(values, role, where)
    bad = np.zeros(len(coded.distinct) + 1, dtype=np.bool_)
    bad[-1] = True  # for the code -1
    if coded.distinct.dtype == object and not all(map(str.strip, map(str, coded.distinct))):
        bad[:-1] = [not str(value).strip() for value in coded.distinct]
    if bad[:-1].any() or coded.codes.min(initial=0) < 0:
        row = int(bad[coded.codes].argmax())
        raise DataError(f"{label}{role} is empty in {where(row)}; every row needs one")
    if (at := _inexact(coded.distinct)) is not None:
        place = where(int(np.argmax(coded.codes == at)))
        raise DataError(f"{label}{role} is {_inexact_id(coded.distinct[at])} in {place}; {_READ_AS_TEXT}")
    return coded


def _coded(values: Values, role: str, where: Where) -> _Coded:
    if isinstance(values, pa.ChunkedArray):
        has_categories = pa.types.is_dictionary(values.type)
        values = _from_arrow(values)
        if isinstance(values, _Coded):
            return _used(values) if has_categories else values
    if isinstance(values, pd.Categorical):
        return _used(_Coded(values.codes, values.categories.to_numpy()))
    if not len(values):
        return _Coded(np.empty(0, dtype=np.int32), np.empty(0, dtype=object))
    if values.dtype.kind in "iu":
        return _coded_numbers(values)
    if values.dtype.kind in "US":
        values = values.astype(object)
    try:
        return _coded_objects(values) if values.dtype == object else _factorized(values)
    except TypeError:
        row = next(row for row, value in enumerate(values) if getattr(value, "__hash__", None) is None)
        raise DataError(
            f"{role} is a {type(values[row]).__name__} in {where(row)}, and an id is a number or text; a table has a "
            "row for each item of a user, and explode(...) of pandas or Polars makes such rows of lists"
        ) from None


def _used(coded: _Coded) -> _Coded:
    """The same without ids that no row has, as categories may."""
    occur = np.bincount(coded.codes[coded.codes >= 0], minlength=len(coded.distinct)) > 0
    if occur.all():
        return coded
    new = np.append(np.cumsum(occur) - 1, -1).astype(np.int32)
    return _Coded(new[coded.codes], coded.distinct[occur])


def _from_arrow(column: pa.ChunkedArray) -> _Coded | npt.NDArray[Any]:
    """The codes of text, as Arrow finds them, or the values of other columns."""
    kind = column.type
    if pa.types.is_integer(kind) and not column.null_count:
        return column.to_numpy()
    if is_text(kind):
        views = not (pa.types.is_string(kind) or pa.types.is_large_string(kind))  # few functions of Arrow take these
        if views and (short := short_text_codes(column)) is not None:
            return _Coded(short[0], np.array(short[1], dtype=object))
        column = (column.cast(pa.large_string()) if views and column.num_chunks != 1 else column).dictionary_encode()
    elif not pa.types.is_dictionary(kind):
        return np.asarray(column.to_pandas().to_numpy())
    if not column.num_chunks:
        return np.empty(0, dtype=object)
    combined = column.unify_dictionaries().combine_chunks() if column.num_chunks > 1 else column
    array = combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined
    names = array.dictionary
    distinct = np.array([*names.to_pylist()], dtype=object) if is_text(names.type) else names.to_pandas().to_numpy()
    codes = array.indices.cast(pa.int64() if array.indices.type.bit_width > 32 else pa.int32(), safe=False)
    return _Coded((codes.fill_null(-1) if codes.null_count else codes).to_numpy(), distinct)


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of Arrow has text."""
    views = getattr(pa.types, "is_string_view", lambda _: False)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or views(kind))


def _factorized(values: npt.NDArray[Any]) -> _Coded:
    codes, distinct = pd.factorize(values, sort=False)
    return _Coded(codes, np.asarray(distinct))


def _coded_numbers(values: npt.NDArray[Any]) -> _Coded:
    """Whole numbers; a lookup table is faster than hashing where they lie close together."""
    low, high = int(values.min()), int(values.max())
    if high - low >= _SPARSEST * len(values) or high > np.iinfo(np.int64).max:
        return _factorized(values)
    shifted = values.astype(np.int64) - low if low else values
    occur = np.zeros(high - low + 1, dtype=np.bool_)
    occur[shifted] = True
    ranks = np.cumsum(occur, dtype=np.int32) - np.int32(1)
    return _Coded(ranks[shifted], np.flatnonzero(occur) + low)


def _coded_objects(values: npt.NDArray[Any]) -> _Coded:
    """Objects. Rows often share them: whoever made the table looked ids up, and then an address stands for an id."""
    values = np.ascontiguousarray(values)
    # An array of objects holds their addresses: the buffer is read as such, and no address is ever followed.
    addresses = np.ndarray(values.shape, np.intp, buffer=values)
    starts = np.flatnonzero(np.concatenate([[True], addresses[1:] != addresses[:-1]]))
    if 2 * len(starts) <= len(values):  # runs of rows, as of the users of lists
        runs = _coded_objects(values[starts])
        return _Coded(np.repeat(runs.codes, np.diff(starts, append=len(values))), runs.distinct)
    sample = addresses[:: max(1, len(values) // _SAMPLE)]
    if len(values) > _SAMPLE and 4 * len(np.unique(sample)) <= 3 * len(sample):
        shared = _factorized(addresses)
        first = np.empty(len(shared.distinct), dtype=np.int64)
        first[shared.codes[::-1]] = np.arange(len(values))[::-1]
        distinct = _hashed(values[first])
        return _Coded(distinct.codes[shared.codes], distinct.distinct)
    return _hashed(values)


def _hashed(values: npt.NDArray[Any]) -> _Coded:
    """Objects by their values: text by Arrow, which is faster, and all else by pandas."""
    if len(values) > _SAMPLE and isinstance(values[0], str):
        try:
            text = pa.array(values, type=pa.large_string(), from_pandas=True)
        except (pa.ArrowException, UnicodeError, TypeError):  # not all of it is text
            return _factorized(values)
        coded = _from_arrow(pa.chunked_array([text]))
        assert isinstance(coded, _Coded)
        return coded
    return _factorized(values)


def _are_codes(values: pd.Categorical) -> bool:
    """Whether a reader has coded the ids already: ascending numbers, all of which occur, and one in every row."""
    if values.categories.dtype != np.int64 or not len(values) or values.codes.min() < 0:
        return False
    occur = np.bincount(values.codes, minlength=len(values.categories)) > 0
    return bool(occur.all()) and bool(values.categories.is_monotonic_increasing)


# --- the text of an id ------------------------------------------------------------------------------------------

_READ_AS_TEXT = 'keep ids as whole numbers or as text, such as pandas.read_csv(..., dtype={"item": str})'


def id_text(value: object) -> str:
    """An id as text: a whole number without decimals."""
    if isinstance(value, float | np.floating):
        if _is_inexact(value):
            raise DataError(f"an id is {_inexact_id(value)}; {_READ_AS_TEXT}")
        if float(value).is_integer():
            return str(int(value))
    return str(value)


def _inexact(distinct: npt.NDArray[Any]) -> int | None:
    """The position of a float so large that it stands for several whole numbers: such an id would match others too."""
    if distinct.dtype.kind == "f":
        inexact = np.abs(distinct) >= exact_below(distinct.dtype)
    elif distinct.dtype == object:
        if not any(issubclass(kind, float | np.floating) for kind in set(map(type, distinct))):
            return None
        inexact = np.array([isinstance(id_, float | np.floating) and _is_inexact(id_) for id_ in distinct], np.bool_)
    else:
        return None
    return int(inexact.argmax()) if inexact.any() else None


def exact_below(dtype: np.dtype[Any]) -> float:
    """The lowest whole number above which floats of this type skip some."""
    return float(2.0 ** (np.finfo(dtype).nmant + 1))


def _is_inexact(value: float | np.floating[Any]) -> bool:
    return abs(float(value)) >= exact_below(np.asarray(value).dtype)


def _inexact_id(value: float | np.floating[Any]) -> str:
    bits = np.finfo(np.asarray(value).dtype).nmant + 1
    return f"{value!s}, a {np.asarray(value).dtype} of at least 2^{bits}, which stands for several whole numbers"


def _is_plain_number(text: str) -> bool:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= ID_DIGITS):
        return False
    return text == "0" or digits[0] != "0"  # "007" and "-0" would not read back as they were written
