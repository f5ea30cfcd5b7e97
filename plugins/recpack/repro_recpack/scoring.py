"""Scores of a fitted algorithm of RecPack: its own arrays, multiplied as RecPack does.

A block of scores has 0 where RecPack's prediction has no entry. A row has the same bits whichever other users are in
the block: sparse products are computed row by row, and dense ones always for the same groups of users.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from repro.data.interactions import CodeArray, FloatArray
from repro.plugin import GroupedRows
from repro_recpack.running import same_bits

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# How many users are multiplied at a time.
_GROUP_SIZE = 256


class Scoring:
    """The scores of a fitted algorithm for users whose training rows are those of ``history``."""

    def __init__(self, algorithm: Any, history: csr_matrix) -> None:
        self.algorithm = algorithm
        self.history = history

    def block(self, users: CodeArray, items: CodeArray) -> FloatArray:
        """Users by items."""
        return self.rows(users)[:, items]

    def rows(self, users: CodeArray) -> FloatArray:
        """Users by all items."""
        raise NotImplementedError

    @property
    def learnt(self) -> tuple[FloatArray, FloatArray] | None:
        """Users by factors and items by factors at the end of learning; None where there are none."""
        return None


class SimilarityScoring(Scoring):
    """A user's items, times the similarities of items."""

    def rows(self, users: CodeArray) -> FloatArray:
        return _dense(self.history[users] @ self.algorithm.similarity_matrix_)


class OnceScoring(Scoring):
    """An algorithm that needs all users to score one: its prediction is computed once, for all of them."""

    @cached_property
    def _prediction(self) -> csr_matrix:
        return self.algorithm.predict(self.history)

    def rows(self, users: CodeArray) -> FloatArray:
        return _dense(self._prediction[users])


class PopularityScoring(Scoring):
    """The same for every user."""

    def rows(self, users: CodeArray) -> FloatArray:
        return np.tile(self.algorithm.sorted_scores_, (len(users), 1))


class RandomScoring(Scoring):
    """The numbers that RecPack draws for all users in order; the generator skips to those of each user."""

    def rows(self, users: CodeArray) -> FloatArray:
        width = self.history.shape[1]
        drawn = np.empty((len(users), width))
        for row, user in enumerate(users):
            generator = np.random.PCG64(self.algorithm.seed).advance(int(user) * width)
            drawn[row] = np.random.Generator(generator).random(width)
        k = self.algorithm.K
        if k is None or k >= width:
            return drawn
        lowest = np.partition(drawn, -k, axis=1)[:, -k, None]
        return np.where(drawn >= lowest, drawn, 0.0)


class GroupedScoring(Scoring):
    """Dense products, always for the same groups of users."""

    size = _GROUP_SIZE

    @cached_property
    def _groups(self) -> GroupedRows:
        return GroupedRows(self.history.shape[0], self.size, self._group)

    def _group(self, first: int, end: int) -> FloatArray:
        with same_bits():
            return self.group(first, end)

    def block(self, users: CodeArray, items: CodeArray) -> FloatArray:
        return self._groups.block(users, items)

    def group(self, first: int, end: int) -> FloatArray:
        """All items for the users from ``first`` to before ``end``."""
        raise NotImplementedError


class FactorScoring(GroupedScoring):
    """User factors times item factors."""

    @cached_property
    def factors(self) -> tuple[FloatArray, FloatArray]:
        """Users by factors, and factors by items."""
        return self.algorithm.user_embedding_, self.algorithm.item_embedding_

    @property
    def learnt(self) -> tuple[FloatArray, FloatArray]:
        user_factors, item_factors = self.factors
        return user_factors, item_factors.T

    def group(self, first: int, end: int) -> FloatArray:
        user_factors, item_factors = self.factors
        return user_factors[first:end] @ item_factors


class EmbeddedScoring(FactorScoring):
    """Factors that are the embeddings of a network."""

    @cached_property
    def factors(self) -> tuple[FloatArray, FloatArray]:
        model = self.algorithm.model_
        return _double(model.user_embedding_.weight), _double(model.item_embedding_.weight).T


class WeightedScoring(FactorScoring):
    """Item factors as learnt, and user factors, which RecPack computes again before it predicts."""

    @cached_property
    def factors(self) -> tuple[FloatArray, FloatArray]:
        of_items = self.algorithm.item_factors_
        shape = (self.history.shape[0], self.algorithm.num_components)
        with same_bits():
            confidence = self.algorithm._generate_confidence(self.history)
            of_users = self.algorithm._least_squares(confidence, of_items, shape)
        return _double(of_users), _double(of_items).T

    @property
    def learnt(self) -> tuple[FloatArray, FloatArray]:
        return _double(self.algorithm.user_factors_), _double(self.algorithm.item_factors_)


class NetworkScoring(GroupedScoring):
    """A user's items, passed through an autoencoder, in the batches that RecPack makes of all users."""

    def __init__(self, algorithm: Any, history: csr_matrix) -> None:
        super().__init__(algorithm, history)
        self.size = algorithm.batch_size

    def group(self, first: int, end: int) -> FloatArray:
        import torch

        self.algorithm.model_.eval()
        with torch.no_grad():
            batch = torch.FloatTensor(self.history[first:end].toarray())
            return _double(self.algorithm.model_(batch)[0])


def _double(tensor: Any) -> FloatArray:
    return tensor.detach().numpy().astype(np.float64)


def _dense(matrix: Any) -> FloatArray:
    """A sparse or dense product as an array of doubles."""
    toarray: Callable[[], FloatArray] | None = getattr(matrix, "toarray", None)
    return np.asarray(toarray() if toarray else matrix, dtype=np.float64)
