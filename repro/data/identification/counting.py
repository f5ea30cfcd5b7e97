"""The sizes of the data in files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from repro.data.identification.sizes import Sizes
from repro.data.io.tables import read_with_notes


def count_sizes(paths: Sequence[str | Path]) -> tuple[Sizes, list[str]]:
    """The numbers of distinct users, distinct items and rows of files together, and notes on how they were read."""
    users: set[str] = set()
    items: set[str] = set()
    rows, notes = 0, []
    for path in paths:
        result = read_with_notes(path)
        part = result.interactions
        users.update(str(part.user_ids[code]) for code in np.unique(part.users))
        items.update(str(part.item_ids[code]) for code in np.unique(part.items))
        rows += len(part)
        notes.append(f"{path} was read as {'; '.join(result.notes)}")
    return Sizes(len(users), len(items), rows), notes
