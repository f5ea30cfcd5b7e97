"""The order in which a framework's own splitter gives training rows is kept beside them."""

import numpy as np
import pytest

from repro.data import synthetic_interactions
from repro.protocol import Protocol
from repro.split import make_folds


def test_training_rows_as_the_splitter_gave_them():
    surprise = pytest.importorskip("surprise")
    rows = synthetic_interactions(users=20, items=15, ratings=100, seed=1)
    changes = {"split.strategy": "surprise/KFold", "split.surprise-KFold.n_splits": 4}
    split = make_folds(rows, Protocol.load("random-5fold").replace(changes), 3)
    order = np.arange(100)
    surprise.utils.get_rng(3).shuffle(order)  # as KFold does
    for number, fold in enumerate(split.folds):
        expected = np.concatenate([order[: 25 * number], order[25 * (number + 1) :]])
        assert fold.given_rows[0].tolist() == expected.tolist()
        assert fold.train.tolist() == sorted(expected.tolist())


def test_other_splits_have_no_order_of_their_own():
    rows = synthetic_interactions(users=20, items=15, ratings=100, seed=1)
    assert all(fold.given_rows is None for fold in make_folds(rows, Protocol.load("random-5fold"), 3).folds)
