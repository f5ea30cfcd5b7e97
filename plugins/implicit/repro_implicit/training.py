"""Training rows as implicit takes them, and the way back from its inner ids to codes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Scores
from repro.plugin.api.adapting import known_positions


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
        return cls(matrix, known_positions(train.user_counts()), known_positions(train.item_counts()))

    def block(
        self,
        users: CodeArray,
        items: CodeArray,
        score: Callable[[CodeArray, CodeArray], FloatArray],
        *,
        complete: bool = False,
    ) -> Scores:
        """``score(rows, columns)`` of the known users and items, NaN where it has none; all others are unscored.

        ``complete`` says that it has a score for each of them.
        """
        rows, columns = self.rows[users], self.columns[items]
        known_rows, known_columns = rows >= 0, columns >= 0
        values = score(rows[known_rows], columns[known_columns])
        return Scores.of_known(values, known_rows, known_columns, complete=complete)
