"""Missing scores: which scores count as missing, and the scores that replace them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.data.rating_means import RatingMeans
from repro.errors import StudyError
from repro.plugin import FALLBACK, UNSCORED
from repro.protocol import Protocol

_NOT_RANKED = {"last": -np.inf, "first": np.inf, "drop": np.nan, "fail": -np.inf}
_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class MissingRule:
    """The decisions ``missing.*``, and the mean ratings that they may need.

    A score is missing if it is unscored (or NaN), a fallback that counts as missing, infinite, or zero, in this order.
    Missing scores are ranked by ``rank``: not at all, last, first, or by a replacement score.
    """

    rank: str
    constant: float
    fallback: str
    zero: str
    infinite: str
    means: RatingMeans | None

    @classmethod
    def from_protocol(cls, protocol: Protocol, train: Interactions | None) -> MissingRule:
        rank = protocol.text("missing.rank")
        means = None
        if rank.endswith("-mean"):
            if train is None:
                raise StudyError(
                    f'missing.rank = "{rank}" needs training rows, and there are none here; '
                    'give them, or choose "last", "first", "drop" or "constant"'
                )
            means = RatingMeans.of(train)
        return cls(
            rank,
            protocol.number("missing.constant") if rank == "constant" else 0.0,
            protocol.text("missing.fallback"),
            protocol.text("missing.zero"),
            protocol.text("missing.infinite"),
            means,
        )

    @property
    def by_item(self) -> bool:
        return self.rank == "item-mean"

    def fills_of_users(self, users: CodeArray) -> FloatArray:
        """The replacement of a missing score for each of these users; infinite or NaN if there is none."""
        if self.rank == "user-mean":
            assert self.means is not None
            return self.means.users[users]
        if self.rank in _NOT_RANKED:
            return np.full(len(users), _NOT_RANKED[self.rank])
        fill = self.means.overall if self.means is not None else self.constant
        return np.full(len(users), min(max(fill, -_LARGEST), _LARGEST))

    def fills_of_items(self) -> FloatArray:
        """The replacement of a missing score for each item of the vocabulary; used if ``by_item``."""
        return self.means.items if self.by_item and self.means is not None else np.empty(0)

    def missing(self, values: FloatArray, state: npt.NDArray[np.uint8] | None) -> npt.NDArray[np.bool_]:
        """A mask of the scores that are missing."""
        missing = np.isnan(values)
        if state is not None:
            missing |= state == UNSCORED
            if self.fallback == "missing":
                missing |= state == FALLBACK
        if self.infinite == "missing":
            missing |= np.isinf(values)
        if self.zero != "scored":
            missing |= (values <= 0) if self.zero == "missing-or-below" else (values == 0)
        return missing
