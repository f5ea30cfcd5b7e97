"""Validation rows of RecPack's networks, which it evaluates after each epoch: training rows that are held out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from repro.errors import PluginError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Validation = tuple["csr_matrix", "csr_matrix"]


def held_out(rows: csr_matrix, share: float, seed: int) -> tuple[csr_matrix, Validation]:
    """The rows to learn from, and the pair that RecPack validates with: those rows again, and the held-out ones.

    Of each user, ``share`` of the rows (rounded down) are drawn, as RecPack itself does before it fits a network. With
    a share of 0, the network learns from all rows; RecPack requires validation rows, so it gets those of one user,
    and its evaluation of them has no effect.
    """
    if share == 0:
        first_user = _only(rows, np.repeat(np.arange(rows.shape[0]) == 0, np.diff(rows.indptr)))
        return rows, (first_user, first_user)
    out = _drawn(rows, share, seed)
    if not out.any():
        raise PluginError(
            f"validation = {share:g} holds out no row, as no user has enough of them; give more, or 0 for none"
        )
    learnt = _only(rows, ~out)
    return learnt, (learnt, _only(rows, out))


def _drawn(rows: csr_matrix, share: float, seed: int) -> np.ndarray:
    """A mask of the entries that are held out."""
    counts = np.diff(rows.indptr)
    users = np.repeat(np.arange(rows.shape[0]), counts)
    order = np.lexsort((np.random.default_rng(seed).random(rows.nnz), users))
    places = np.empty(rows.nnz, dtype=np.int64)
    places[order] = np.arange(rows.nnz)
    return places - rows.indptr[users] < np.floor(counts * share)[users]


def _only(rows: csr_matrix, entries: np.ndarray) -> csr_matrix:
    """A matrix of the same shape with some of the entries."""
    some = rows.copy()
    some.data = np.where(entries, some.data, 0)
    some.eliminate_zeros()
    return some
