"""The data sets of an artefact: files that belong together, with their users and items as codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.identification import Sizes
from repro.data.interactions import CodeArray, IdArray
from repro.data.io.ids import Where, encode_together
from repro.reviews.artefact.names import TEST, TRAIN, VALIDATION
from repro.reviews.artefact.rows import FileRows

Bits = npt.NDArray[np.bool_]
RowNumbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of one role, as codes that all parts of a data set share.

    targets  of negatives, the code of the item of the pair; -1 where the line names none
    lines    of lists, the line that each row comes from
    """

    role: str
    file: str
    users: CodeArray
    items: CodeArray
    where: Where
    ratings: npt.NDArray[np.float64] | None = None
    times: npt.NDArray[np.int64] | None = None
    targets: CodeArray | None = None
    lines: RowNumbers | None = None
    in_order: bool = False
    negatives_of: str = TEST

    def __len__(self) -> int:
        return len(self.users)

    def select(self, rows: npt.NDArray[Any]) -> Part:
        """Some rows, in that order."""
        numbers = np.arange(len(self))[rows]

        def of(values: Any) -> Any:
            return None if values is None else values[numbers]

        return replace(
            self,
            users=self.users[numbers],
            items=self.items[numbers],
            ratings=of(self.ratings),
            times=of(self.times),
            targets=of(self.targets),
            lines=of(self.lines),
            where=lambda row: self.where(int(numbers[row])),
        )


@dataclass(frozen=True, eq=False)
class DataSet:
    """Files of one split: the part of each role, and lists of negatives."""

    name: str
    parts: Mapping[str, Part]
    negatives: Sequence[Part]
    user_ids: IdArray
    item_ids: IdArray
    runs: Sequence[tuple[str, Path]] = ()

    def part(self, role: str) -> Part | None:
        """The part of a role, if there is one."""
        return self.parts.get(role)

    @property
    def split_parts(self) -> list[Part]:
        """The training, validation and test part, without those that are not there."""
        return [self.parts[role] for role in (TRAIN, VALIDATION, TEST) if role in self.parts]

    def pairs(self, part: Part, items: CodeArray | None = None) -> RowNumbers:
        """A number for the user and item of each row: equal for equal pairs of all parts."""
        codes = part.items if items is None else items
        return part.users.astype(np.int64) * len(self.item_ids) + codes

    def sizes(self, parts: Iterable[Part]) -> Sizes:
        """The numbers of distinct users, distinct items and rows of parts together."""
        parts = list(parts)
        if not parts:
            return Sizes(0, 0, 0)
        users = np.unique(np.concatenate([part.users for part in parts]))
        items = np.unique(np.concatenate([part.items for part in parts]))
        return Sizes(len(users), len(items), sum(map(len, parts)))

    @cached_property
    def alike_ids(self) -> list[tuple[str, str, str]]:
        """Ids that are the same number in different spellings, such as 7 and 007: the noun and two of them."""
        alike = []
        for noun, ids in (("user", self.user_ids), ("item", self.item_ids)):
            if ids.dtype.kind != "O":
                continue
            seen: dict[int, str] = {}
            for text in ids.tolist():
                if isinstance(text, str) and text.isascii() and text.isdigit():
                    if (number := int(text)) in seen:
                        alike.append((noun, seen[number], text))
                    seen[number] = text
        return alike


@dataclass(frozen=True, eq=False)
class NamedRows:
    """The rows of a file with its role."""

    role: str
    file: str
    rows: FileRows
    negatives_of: str = TEST


def make_data_set(name: str, files: Sequence[NamedRows], runs: Sequence[tuple[str, Path]] = ()) -> DataSet:
    """The data set of these files; ids are compared as text, so that 7 in one file and "7" in another are the same."""
    users, user_ids = encode_together({file.file: file.rows.users for file in files}, "user")
    columns = {file.file: file.rows.items for file in files}
    columns |= {f"\0{file.file}": file.rows.targets for file in files if file.rows.targets is not None}
    items, item_ids = encode_together(columns, "item")
    parts = [
        Part(
            file.role,
            file.file,
            users[file.file],
            items[file.file],
            file.rows.where,
            file.rows.ratings,
            file.rows.times,
            items.get(f"\0{file.file}"),
            file.rows.lines,
            file.rows.is_lists,
            file.negatives_of,
        )
        for file in files
    ]
    return DataSet(
        name,
        {part.role: part for part in parts if part.role != "negatives"},
        [part for part in parts if part.role == "negatives"],
        user_ids,
        item_ids,
        runs,
    )


def folds_of(data_set: DataSet, part: Part, folds: npt.NDArray[Any]) -> list[DataSet]:
    """A data set for each fold of a table with a column of folds, or a single one where the column names parts."""
    names = np.array([str(value).strip().lower() for value in folds.tolist()], dtype=object)
    roles = {name: _PART_NAMES[name] for name in np.unique(names).tolist() if name in _PART_NAMES}
    if set(roles) == set(np.unique(names).tolist()) and len(set(roles.values())) == len(roles):
        parts = {role: replace(part.select(names == name), role=role) for name, role in roles.items()}
        return [replace(data_set, parts=parts)]
    return [
        replace(
            data_set,
            name=f"{data_set.name}, fold {name}",
            parts={
                TRAIN: replace(part.select(names != name), role=TRAIN),
                TEST: replace(part.select(names == name), role=TEST),
            },
        )
        for name in sorted(np.unique(names).tolist(), key=lambda text: (len(text), text))
    ]


_PART_NAMES = {
    **dict.fromkeys(("train", "training", "tr"), TRAIN),
    **dict.fromkeys(("valid", "validation", "val", "dev"), VALIDATION),
    **dict.fromkeys(("test", "testing", "te"), TEST),
}
