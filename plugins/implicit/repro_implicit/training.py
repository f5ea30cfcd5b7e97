"""Training rows as implicit takes them, and the way back from its inner ids to codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from repro.data.interactions import CodeArray, Interactions
from repro.plugin import ParameterValue
from repro.plugin.api.adapting import Weigh, known_positions


@dataclass(frozen=True)
class Training:
    """Known users by known items, and the row and column of each code (-1 for those without training rows).

    Users and items without rows are left out of the matrix because they would count: TF-IDF and BM25 depend on the
    number of items, and the factors that ALS draws depend on the shape.
    """

    matrix: Any
    rows: CodeArray
    columns: CodeArray

    @classmethod
    def of(cls, train: Interactions, weigh: Weigh) -> Training:
        """The matrix of these rows with ``weigh(ratings)`` as values."""
        from scipy.sparse import csr_matrix

        known = train.compact()
        table = known.matrix()
        # implicit's compiled code takes the older matrix class, and indices of 32 bits.
        matrix = csr_matrix(
            (weigh(table.data), table.indices.astype(np.int32), table.indptr.astype(np.int32)), shape=table.shape
        )
        return cls(matrix, known_positions(train.user_counts()), known_positions(train.item_counts()))


class ImplicitRecommender:
    """A class of implicit (``module:name``), its parameters, and the weights of training rows."""

    def __init__(self, own: str, parameters: Mapping[str, ParameterValue], weigh: Weigh) -> None:
        self.own = own
        self.parameters = dict(parameters)
        self.weigh = weigh
