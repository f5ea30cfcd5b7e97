"""Options for reading a file of interactions."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repro.errors import DataError


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading a file; what is None is guessed from its suffix and first lines.

    format       ``text``, ``lists`` (a line for each user: the user, then items), ``json``, ``parquet``, ``recbole`` or
                 ``trec`` (qrels)
    columns      the names in the file of ``user``, ``item``, ``rating`` and ``timestamp`` (an empty name leaves the
                 column out); or, of a text file, the roles of its columns in order, ``-`` for one to skip
    delimiter    between the columns of a text file
    header       whether the first line has the names of the columns
    encoding     of a text file
    quote        around cells, or an empty text
    escape       before a quote within a cell, or an empty text
    time_format  of dates that are not ISO 8601, such as ``%m/%d/%Y``
    empty_ids    what to do with rows without a user or item: ``error`` or ``drop``
    """

    format: str | None = None
    columns: Mapping[str, str] | Sequence[str] | None = None
    delimiter: str | None = None
    header: bool | None = None
    encoding: str = "utf-8"
    quote: str = '"'
    escape: str = ""
    time_format: str | None = None
    empty_ids: str = "error"

    def __post_init__(self) -> None:
        if self.empty_ids not in ("error", "drop"):
            raise DataError(f"empty_ids is '{self.empty_ids}'; it may be 'error' or 'drop'")
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise DataError(
                f"there is no encoding '{self.encoding}'; common ones are utf-8, latin-1 and utf-16"
            ) from None
        if self.delimiter == "" or len(self.quote) > 1 or len(self.escape) > 1:
            raise DataError(
                f"delimiter {self.delimiter!r}, quote {self.quote!r}, escape {self.escape!r}: a delimiter has at least "
                "one character, the others at most one"
            )
