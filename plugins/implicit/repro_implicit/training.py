"""Training rows as implicit takes them, and the way back from its inner ids to codes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import SCORED, UNSCORED, Scores

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Training:
    """Known users by known items, and the row and column of each code (-1 for those without training rows).

    Those without rows are left out of the matrix because they would count: TF-IDF and BM25 take the number of
    items into account, and the factors that ALS draws depend on the shape.
    """

    matrix: Any
    rows: CodeArray
    columns: CodeArray

    @classmethod
    def of(cls, train: Interactions, weigh: Callable[[FloatArray], FloatArray]) -> Training:
        """The matrix of these rows with ``weigh(ratings)`` as values."""
        from scipy.sparse import csr_matrix

        known = train.compact()
        table = known.matrix()
        # implicit's compiled code takes the older matrix class, and indices of 32 bits.
        matrix = csr_matrix(
            (weigh(table.data), table.indices.astype(np.int32), table.indptr.astype(np.int32)), shape=table.shape
        )
        return cls(matrix, _positions(train.user_counts() > 0), _positions(train.item_counts() > 0))

    def block(
        self,
        users: CodeArray,
        items: CodeArray,
        score: Callable[[CodeArray, CodeArray], FloatArray],
        *,
        of_all: bool = False,
    ) -> Scores:
        """``score(rows, columns)`` of the known users and items, NaN where it has none; all others are unscored.

        ``of_all`` says that it has one for all of them.
        """
        rows, columns = self.rows[users], self.columns[items]
        known_rows, known_columns = rows >= 0, columns >= 0
        if known_rows.all() and known_columns.all():
            values = score(rows, columns)
            return Scores(values) if of_all else marked(values)
        values = np.full((len(users), len(items)), np.nan)
        values[np.ix_(known_rows, known_columns)] = score(rows[known_rows], columns[known_columns])
        return marked(values)


def marked(values: FloatArray) -> Scores:
    """Scores in which NaN is unscored."""
    missing = np.isnan(values)
    if not missing.any():
        return Scores(values)
    return Scores(values, np.where(missing, UNSCORED, SCORED).astype(np.uint8))


def _positions(known: Mask) -> CodeArray:
    return np.where(known, np.cumsum(known) - 1, -1).astype(np.int32)
