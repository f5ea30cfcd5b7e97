"""LensKit's own splitters, with LensKit's own draws for the seed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import Interactions
from repro.errors import PluginError
from repro.plugin import Parameter, Splitter
from repro.protocol import When
from repro_lenskit.training import dataset_of

Rows = npt.NDArray[np.int64]
Folds = Sequence[tuple[Rows, Rows]]

_METHODS = ("SampleN", "SampleFrac", "LastN", "LastFrac")
_HOLDOUT = (
    Parameter(
        "holdout", "SampleN", "which rows of a test user are held out: a number or a share, drawn or last", _METHODS
    ),
    Parameter("n", 5, "how many rows SampleN and LastN hold out", when=(When("holdout", ("SampleN", "LastN")),)),
    Parameter(
        "frac",
        0.2,
        "which share of rows SampleFrac and LastFrac hold out; of LastFrac, a share of none is all",
        when=(When("holdout", ("SampleFrac", "LastFrac")),),
    ),
)
_PARTITIONS = Parameter("partitions", 5, "how many folds")
_REPEATS = (
    Parameter("repeats", 0, "how many samples; 0 for one, as LensKit draws it if repeats is left open"),
    Parameter("disjoint", True, "whether samples have nothing in common", when=(When("repeats", above=0),)),
)


def crossfold_users(rows: Interactions, seed: int, *, partitions: int, holdout: str, n: int, frac: float) -> Folds:
    """Users are dealt out to folds; a fold holds out rows of its users."""
    from lenskit import splitting

    data, rng = _data(rows, holdout), np.random.default_rng(seed)
    chosen = _holding_out(holdout, n, frac, rng)
    return _folds(rows, splitting.crossfold_users(data, partitions, chosen, test_only=True, rng=rng))


def sample_users(
    rows: Interactions, seed: int, *, size: int, holdout: str, n: int, frac: float, repeats: int, disjoint: bool
) -> Folds:
    """Users are drawn; a fold holds out rows of its users."""
    from lenskit import splitting

    data, rng = _data(rows, holdout), np.random.default_rng(seed)
    if disjoint and repeats * size >= data.user_count:
        raise PluginError(
            f"{repeats} disjoint samples of {size:,} users are all of {data.user_count:,}, where LensKit deals out the "
            "users without regard to the seed; use lenskit/crossfold_users"
        )
    chosen = _holding_out(holdout, n, frac, rng)
    made: Any = splitting.sample_users(
        data, size, chosen, repeats=repeats or None, disjoint=disjoint, test_only=True, rng=rng
    )
    return _folds(rows, made if repeats else [made])


def crossfold_records(rows: Interactions, seed: int, *, partitions: int) -> Folds:
    """Rows are dealt out to folds."""
    from lenskit import splitting

    return _folds(rows, splitting.crossfold_records(_data(rows), partitions, test_only=True, rng=seed))


def sample_records(rows: Interactions, seed: int, *, size: int, repeats: int, disjoint: bool) -> Folds:
    """Rows are drawn; if disjoint samples would need more rows than there are, LensKit makes folds of all rows."""
    from lenskit import splitting

    made: Any = splitting.sample_records(
        _data(rows), size, repeats=repeats or None, disjoint=disjoint, test_only=True, rng=seed
    )
    return _folds(rows, made if repeats else [made])


def _data(rows: Interactions, holdout: str = "") -> Any:
    """The rows as a data set of LensKit, with timestamps if the holdout method needs them."""
    timed = holdout.startswith("Last")
    if timed and rows.timestamps is None:
        raise PluginError(f"{holdout} holds out the last rows by time, and the rows have no timestamps")
    return dataset_of(rows, times=timed)


def _holding_out(holdout: str, n: int, frac: float, rng: np.random.Generator) -> Any:
    """LensKit's holdout method, which draws from the same generator as the choice of users."""
    from lenskit import splitting

    make = getattr(splitting, holdout)
    amount = n if holdout.endswith("N") else frac
    return make(amount, rng=rng) if holdout.startswith("Sample") else make(amount)


def _folds(rows: Interactions, splits: Iterable[Any]) -> Folds:
    return [positions_of(split, rows) for split in splits]


def positions_of(split: Any, rows: Interactions) -> tuple[Rows, Rows]:
    """The training rows and the test rows of a split, as positions."""
    pairs = rows.users.astype(np.int64) * rows.n_items + rows.items
    order = np.argsort(pairs)
    held_out = split.test.to_df()
    test_pairs = held_out["user_id"].to_numpy(np.int64) * rows.n_items + held_out["item_id"].to_numpy(np.int64)
    test = np.sort(order[np.searchsorted(pairs, test_pairs, sorter=order)])
    return np.setdiff1d(np.arange(len(rows)), test, assume_unique=True), test


SPLITTERS = (
    Splitter(
        "lenskit/crossfold_users",
        "LensKit's partition of users; each fold holds out rows of its users",
        crossfold_users,
        (_PARTITIONS, *_HOLDOUT),
        own_order=False,
    ),
    Splitter(
        "lenskit/crossfold_records",
        "LensKit's partition of rows",
        crossfold_records,
        (_PARTITIONS,),
        own_order=False,
    ),
    Splitter(
        "lenskit/sample_users",
        "LensKit's samples of users; each holds out rows of its users",
        sample_users,
        (Parameter("size", 100, "how many users a sample has"), *_HOLDOUT, *_REPEATS),
        own_order=False,
    ),
    Splitter(
        "lenskit/sample_records",
        "LensKit's samples of rows",
        sample_records,
        (Parameter("size", 1000, "how many rows a sample has"), *_REPEATS),
        own_order=False,
    ),
)
