"""The statements of a paper about its data and split: sizes, cores, the way of splitting, negatives."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from repro.data.identification import Sizes
from repro.errors import StudyError, nearest

SPLITS = {
    "leave-one-out": "one test row for each user",
    "user-ratio": "a share of the rows of each user",
    "ratio": "a share of all rows",
}
ORDERS = {"time": "the latest rows are held out", "random": "rows are held out at random"}


@dataclass(frozen=True)
class Stated:
    """Statements of a paper; None or empty where it has none.

    users, items, rows                      of all parts together
    train_rows, validation_rows, test_rows  of each part
    test_users                              users of the test part
    user_core, item_core                    the least rows of each user and item, in all parts together
    min_rating                              the lowest rating
    split                                   a name of :data:`SPLITS`
    order                                   a name of :data:`ORDERS`
    test_share                              the share of rows in the test part
    test_per_user                           the test rows of each test user
    negatives                               the items of each list of negatives
    """

    users: int | None = None
    items: int | None = None
    rows: int | None = None
    train_rows: int | None = None
    validation_rows: int | None = None
    test_rows: int | None = None
    test_users: int | None = None
    user_core: int | None = None
    item_core: int | None = None
    min_rating: float | None = None
    split: str | None = None
    order: str | None = None
    test_share: float | None = None
    test_per_user: int | None = None
    negatives: int | None = None

    def __post_init__(self) -> None:
        for name, known in (("split", SPLITS), ("order", ORDERS)):
            value = getattr(self, name)
            if value is not None and value not in known:
                raise StudyError(f"{name} is '{value}'{nearest(value, known)} It may be {', '.join(known)}")
        if self.test_share is not None and not 0 < self.test_share < 1:
            raise StudyError(f"test_share is {self.test_share}; a share between 0 and 1 was expected, such as 0.2")
        if self.split in ("ratio", "user-ratio") and self.test_share is None:
            raise StudyError(f"the split '{self.split}' needs the share of the test part, such as test_share = 0.2")

    @property
    def sizes(self) -> Sizes:
        """The stated sizes of all parts together."""
        return Sizes(self.users, self.items, self.rows)

    @property
    def lists(self) -> list[tuple[str, object]]:
        """The statements, by name."""
        return [(field.name, value) for field in fields(self) if (value := getattr(self, field.name)) is not None]


@dataclass(frozen=True)
class Paper:
    """The statements of a paper about all its data sets, and about some of them by name or pattern."""

    general: Stated = Stated()
    of_data: Mapping[str, Mapping[str, Any]] = None  # type: ignore[assignment]

    def about(self, data: str) -> Stated:
        """The statements about a data set; those about it alone come first."""
        own = next((of for pattern, of in (self.of_data or {}).items() if _names(pattern, data)), {})
        return replace(self.general, **own)

    def unknown(self, names: list[str]) -> list[str]:
        """The names of data sets that are stated and not in the folder."""
        return [pattern for pattern in self.of_data or {} if not any(_names(pattern, name) for name in names)]


def _names(pattern: str, name: str) -> bool:
    return fnmatch(name, pattern) or fnmatch(name.rpartition("/")[2], pattern)


def read_paper(path: str | Path) -> Paper:
    """The statements in a TOML file: keys for all data sets, and tables ``[data.NAME]`` for single ones.

    >>> from pathlib import Path
    >>> from repro.reviews.stated import read_paper
    >>> _ = Path("paper.toml").write_text("[data.ml-1m]\\nusers = 6040")
    >>> read_paper("paper.toml").about("ml-1m").users
    6040
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise StudyError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    data = table.pop("data", {})
    if not isinstance(data, dict) or not all(isinstance(of, dict) for of in data.values()):
        raise StudyError(f"{path}: [data] must have a table for each data set, such as [data.ml-1m]")
    general = Stated(**_checked(table, str(path)))
    of_data = {name: _checked(of, f"{path}, [data.{name}]") for name, of in data.items()}
    for of in of_data.values():
        replace(general, **of)
    return Paper(general, of_data)


def _checked(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The values of a table, with an error for unknown names and values of another type."""
    kinds = {field.name: str(field.type) for field in fields(Stated)}
    for name, value in table.items():
        if name not in kinds:
            raise StudyError(f"{where}: there is no '{name}'{nearest(name, kinds)} It may be {', '.join(kinds)}")
        expected = str if "str" in kinds[name] else (int, float) if "float" in kinds[name] else int
        if isinstance(value, bool) or not isinstance(value, expected):
            noun = "text" if expected is str else "a number" if "float" in kinds[name] else "a whole number"
            raise StudyError(f"{where}: {name} is {value!r}; {noun} was expected")
        if not isinstance(value, str) and value < 0:
            raise StudyError(f"{where}: {name} is {value!r}; a number from 0 was expected")
    return dict(table)
