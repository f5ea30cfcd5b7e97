"""The splitter of RecBole, written anew: the rows that it holds out for a seed, without RecBole and PyTorch.

RecBole shuffles all rows with ``torch.randperm``, which draws from the Mersenne Twister of NumPy's RandomState. It then
takes a part of the rows of every user in that order. It sets its seed at the start, and the shuffle is its first draw.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from repro.data.interactions import Interactions, RowArray
from repro.errors import PluginError
from repro.plugin import Parameter, Splitter


def shuffled(size: int, seed: int) -> RowArray:
    """The permutation of ``torch.randperm(size)`` after ``torch.manual_seed(seed)``."""
    order = list(range(size))
    draws = np.frombuffer(np.random.RandomState(seed).bytes(4 * max(size - 1, 0)), dtype="<u4").tolist()
    for place, drawn in enumerate(draws):
        other = place + drawn % (size - place)
        order[place], order[other] = order[other], order[place]
    return np.array(order, dtype=np.int64)


def ratio_split(
    rows: Interactions, seed: int, *, train: float, valid: float, test: float, group_by: str
) -> list[tuple[RowArray, RowArray]]:
    """``RS`` with the order ``RO``: shares of the shuffled rows of every user, or of all rows.

    Rows of the validation part are in no part of the fold, as RecBole does not fit on them.
    """
    if min(train, valid, test) < 0 or train <= 0 or test <= 0:
        raise PluginError(
            f"train = {train:g}, valid = {valid:g} and test = {test:g} must be shares above 0 (valid may be 0)"
        )
    order = shuffled(len(rows), seed)
    codes = rows.users[order] if group_by == "user" else np.zeros(len(rows), dtype=np.int32)
    by_group = order[np.argsort(codes, kind="stable")]
    sizes = np.bincount(codes)
    parts: tuple[list[RowArray], list[RowArray]] = ([], [])
    start = 0
    for size in sizes.tolist():
        own, start = by_group[start : start + size], start + size
        ends = [0, *np.cumsum(_sizes(size, np.array([train, valid, test])))]
        pieces = [own[first:last] for first, last in pairwise(ends)]
        parts[0].append(pieces[0])
        parts[1].append(pieces[2])
    return [(np.concatenate(parts[0]), np.concatenate(parts[1]))]


def _sizes(total: int, ratios: npt.NDArray[np.float64]) -> list[int]:
    """The number of rows of each part: rounded down but for the first; from the last on, at least one row."""
    shares = [float(ratio) / float(sum(ratios.tolist())) for ratio in ratios]
    sizes = [int(share * total) for share in shares]
    sizes[0] = total - sum(sizes[1:])
    for part in range(1, len(sizes)):
        if sizes[0] <= 1:
            break
        if 0 < shares[-part] * total < 1:
            sizes[-part] += 1
            sizes[0] -= 1
    return sizes


SPLITTERS = (
    Splitter(
        "recbole-data/ratio",
        "the split RS in the order RO of RecBole: shares of every user's rows in random order",
        ratio_split,
        (
            Parameter("train", 0.8, "which share is in training"),
            Parameter("valid", 0.1, "which share is for validation, and in no part here"),
            Parameter("test", 0.1, "which share is the test"),
            Parameter("group_by", "user", "of what the shares are taken", ("user", "all")),
        ),
        "Zhao et al. (2021), CIKM, doi:10.1145/3459637.3482016",
    ),
)
