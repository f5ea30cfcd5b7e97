"""The rows that networks are measured on: a share of each user's rows, which they do not learn from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from repro.errors import PluginError
from repro_recpack.validation import held_out


def rows() -> csr_matrix:
    """User u has u + 1 items."""
    return csr_matrix((np.arange(12)[None, :] <= np.arange(10)[:, None]).astype(np.int32))


def test_a_share_of_each_users_rows_is_held_out() -> None:
    everything = rows()
    learnt, (history, expected) = held_out(everything, 0.25, seed=1)
    assert (learnt + expected != everything).nnz == 0
    assert (learnt.multiply(expected)).nnz == 0
    assert (history != learnt).nnz == 0
    assert np.diff(expected.indptr).tolist() == [0, 0, 0, 1, 1, 1, 1, 2, 2, 2]


def test_the_seed_decides_which() -> None:
    first, again, other = (held_out(rows(), 0.5, seed)[1][1] for seed in (1, 1, 2))
    assert (first != again).nnz == 0
    assert (first != other).nnz > 0


def test_without_a_share_everything_is_learnt_from() -> None:
    everything = rows()
    learnt, (history, expected) = held_out(everything, 0.0, seed=1)
    assert (learnt != everything).nnz == 0
    assert history.nnz == expected.nnz == 1


def test_rows_are_not_changed() -> None:
    everything = rows()
    held_out(everything, 0.5, seed=1)
    assert everything.nnz == rows().nnz


def test_too_few_rows_are_said() -> None:
    with pytest.raises(PluginError, match=r"validation = 0.01 holds out no row"):
        held_out(rows(), 0.01, seed=1)
