"""The rows that are held out are those that LensKit holds out for the same seed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import repro
from repro.data.interactions import Interactions
from repro.errors import PluginError
from repro.plugin import plugins
from repro.protocol import registry

SEED = 17


def lenskit_data(rows: Interactions) -> Any:
    from lenskit.data import from_interactions_df

    frame = rows.to_frame().rename(columns={"user": "user_id", "item": "item_id"})
    frame["timestamp"] = pd.to_datetime(frame["timestamp"], unit="s")
    return from_interactions_df(frame)


def split(name: str, rows: Interactions, **arguments: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    splitter = plugins().splitters()[f"lenskit/{name}"]
    settings = {parameter.name: parameter.default for parameter in splitter.parameters} | arguments
    return list(plugins().split(f"lenskit/{name}", rows, SEED, settings))


def same(folds: list[tuple[np.ndarray, np.ndarray]], splits: Iterable[Any], rows: Interactions) -> None:
    """Test and training rows of each fold are, by their external ids, those of LensKit."""
    splits = list(splits)
    assert len(folds) == len(splits) > 0
    for (train, test), expected in zip(folds, splits, strict=True):
        assert len(test) > 0
        assert (np.sort(np.concatenate([train, test])) == np.arange(len(rows))).all()
        for positions, frame in ((test, expected.test_df), (train, expected.train.interactions().pandas(ids=True))):
            pairs = rows.select(positions).to_frame()[["user", "item"]].itertuples(index=False, name=None)
            assert set(pairs) == set(frame[["user_id", "item_id"]].itertuples(index=False, name=None))
            assert len(positions) == len(frame)


@pytest.fixture(scope="module")
def rows() -> Interactions:
    """The first 200 users of MovieLens 100K, in the order of the source; others keep their ids."""
    data = repro.load_dataset("ml-100k")
    return data.select(data.users < 200)


@pytest.mark.parametrize(
    ("method", "amount"),
    [("SampleN", {"n": 5}), ("SampleFrac", {"frac": 0.3}), ("LastN", {"n": 3}), ("LastFrac", {"frac": 0.2})],
)
def test_users_are_dealt_out_as_lenskit_does(method: str, amount: dict[str, Any], rows: Interactions) -> None:
    from lenskit import splitting

    rng = np.random.default_rng(SEED)
    drawn = {"rng": rng} if method.startswith("Sample") else {}
    held_out = getattr(splitting, method)(*amount.values(), **drawn)
    expected = splitting.crossfold_users(lenskit_data(rows), 4, held_out, rng=rng)
    same(split("crossfold_users", rows, partitions=4, holdout=method, **amount), expected, rows)


@pytest.mark.parametrize(("repeats", "disjoint"), [(0, True), (1, True), (3, True), (3, False)])
def test_users_are_drawn_as_lenskit_does(repeats: int, disjoint: bool, rows: Interactions) -> None:
    from lenskit.splitting import SampleN
    from lenskit.splitting import sample_users as wanted_of

    rng = np.random.default_rng(SEED)
    expected = wanted_of(lenskit_data(rows), 30, SampleN(5, rng), repeats=repeats or None, disjoint=disjoint, rng=rng)
    folds = split("sample_users", rows, size=30, repeats=repeats, disjoint=disjoint)
    same(folds, expected if repeats else [expected], rows)


def test_rows_are_dealt_out_as_lenskit_does(rows: Interactions) -> None:
    from lenskit.splitting import crossfold_records

    same(split("crossfold_records", rows, partitions=3), crossfold_records(lenskit_data(rows), 3, rng=SEED), rows)


@pytest.mark.parametrize(
    ("size", "repeats", "disjoint"), [(500, 0, True), (500, 2, True), (500, 2, False), (9000, 3, True)]
)
def test_rows_are_drawn_as_lenskit_does(size: int, repeats: int, disjoint: bool, rows: Interactions) -> None:
    from lenskit.splitting import sample_records

    expected = sample_records(lenskit_data(rows), size, repeats=repeats or None, disjoint=disjoint, rng=SEED)
    folds = split("sample_records", rows, size=size, repeats=repeats, disjoint=disjoint)
    same(folds, expected if repeats else [expected], rows)


def test_the_same_seed_holds_out_the_same_rows_in_any_order(rows: Interactions) -> None:
    order = np.random.default_rng(1).permutation(len(rows))
    for name in ("crossfold_users", "crossfold_records"):
        for (_, here), (_, there) in zip(split(name, rows), split(name, rows.select(order)), strict=True):
            assert (here == np.sort(order[there])).all()


def test_samples_that_lenskit_would_not_draw_by_the_seed_are_refused(rows: Interactions) -> None:
    with pytest.raises(PluginError, match="without regard to the seed; use lenskit/crossfold_users"):
        split("sample_users", rows, size=100, repeats=2)


def test_what_is_last_needs_timestamps(rows: Interactions) -> None:
    with pytest.raises(PluginError, match="LastN holds out the last rows by time, and the rows have no timestamps"):
        split("crossfold_users", replace(rows, timestamps=None), holdout="LastN")


def test_a_splitter_is_an_option_of_the_protocol() -> None:
    assert "lenskit/crossfold_users" in {option.value for option in registry()["split.strategy"].options}
    assert registry()["split.lenskit-sample_users.repeats"].default == 0
