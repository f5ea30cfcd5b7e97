"""A data set in figures."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import Interactions

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Description:
    """The figures of a data set; users and items are those that occur in its rows.

    ``density`` is the share of user-item pairs that have a rating, ``gini`` the inequality of the ratings per
    item (:func:`gini`), ``duplicates`` the rows beyond the first of their user and item.
    """

    users: int
    items: int
    ratings: int
    density: float
    gini: float
    explicit: bool
    histogram: dict[float, int]
    mean_rating: float
    duplicates: int
    per_user: tuple[int, float, int]
    per_item: tuple[int, float, int]
    first_time: int | None
    last_time: int | None
    digest: str

    def to_dict(self) -> dict[str, Any]:
        """The figures in a form that JSON can hold."""
        figures = asdict(self)
        figures["histogram"] = {f"{value:g}": count for value, count in self.histogram.items()}
        for name in ("per_user", "per_item"):
            figures[name] = dict(zip(("min", "median", "max"), figures[name], strict=True))
        return figures

    def to_frame(self) -> pd.DataFrame:
        """The formatted figures, a row for each."""
        import pandas as pd

        return pd.DataFrame(self.lines(), columns=["figure", "value"]).set_index("figure")

    def lines(self) -> list[tuple[str, str]]:
        """The name and the formatted value of each figure."""
        lines = [
            ("users", f"{self.users:,}"),
            ("items", f"{self.items:,}"),
            ("ratings" if self.explicit else "interactions (no ratings)", f"{self.ratings:,}"),
            ("density", f"{self.density:.3%}"),
            ("Gini of ratings per item", f"{self.gini:.3f}"),
            ("ratings per user (min, median, max)", _spread(self.per_user)),
            ("ratings per item (min, median, max)", _spread(self.per_item)),
            ("duplicate user-item rows", f"{self.duplicates:,}"),
            ("time span", self.time_span),
        ]
        if self.explicit:
            lines.append(("mean rating", f"{self.mean_rating:.4f}"))
        return [*lines, ("content digest", self.digest)]

    @property
    def time_span(self) -> str:
        """From the first to the last timestamp; as dates where they look like seconds since 1970."""
        if self.first_time is None or self.last_time is None:
            return "no timestamps"
        return f"{_moment(self.first_time)} to {_moment(self.last_time)}"


def describe(interactions: Interactions) -> Description:
    """The figures of ``interactions``."""
    per_user, per_item = interactions.user_counts(), interactions.item_counts()
    per_user, per_item = per_user[per_user > 0], per_item[per_item > 0]
    values, counts = np.unique(interactions.ratings, return_counts=True)
    times, rows = interactions.timestamps, len(interactions)
    pairs = len(per_user) * len(per_item)
    return Description(
        users=len(per_user),
        items=len(per_item),
        ratings=rows,
        density=rows / pairs if pairs else 0.0,
        gini=gini(per_item),
        explicit=interactions.explicit,
        histogram=dict(zip(values.tolist(), counts.tolist(), strict=True)),
        mean_rating=float(values @ counts / rows) if rows else float("nan"),
        duplicates=rows - len(np.unique(pair_codes(interactions))),
        per_user=_min_median_max(per_user),
        per_item=_min_median_max(per_item),
        first_time=int(times.min()) if times is not None and rows else None,
        last_time=int(times.max()) if times is not None and rows else None,
        digest=interactions.digest,
    )


def gini(counts: npt.NDArray[np.int64]) -> float:
    """The Gini coefficient of ``counts``: 0 when all are equal, near 1 when a single one has everything.

    Half the relative mean absolute difference, G = sum_i sum_j |x_i - x_j| / (2 n^2 mean(x)), here through
    the sorted values: G = sum_i (2i - n - 1) x_(i) / (n sum x).
    """
    n, total = len(counts), int(counts.sum())
    if not total:
        return 0.0
    weights = 2 * np.arange(1, n + 1, dtype=np.int64) - n - 1
    return float(int((weights * np.sort(counts)).sum()) / (n * total))


def pair_codes(interactions: Interactions) -> npt.NDArray[np.int64]:
    """One number for the user and item of each row; equal numbers are the same pair."""
    return interactions.users.astype(np.int64) * interactions.n_items + interactions.items


def _min_median_max(counts: npt.NDArray[np.int64]) -> tuple[int, float, int]:
    if not len(counts):
        return 0, 0.0, 0
    return int(counts.min()), float(np.median(counts)), int(counts.max())


def _spread(spread: tuple[int, float, int]) -> str:
    low, median, high = spread
    return f"{low:,}, {median:,g}, {high:,}"


def _moment(timestamp: int) -> str:
    if not 0 <= timestamp < 2**33:
        return f"{timestamp}"
    return datetime.fromtimestamp(timestamp, tz=UTC).strftime("%Y-%m-%d")
