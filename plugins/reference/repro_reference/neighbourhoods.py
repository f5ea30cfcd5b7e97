"""Neighbourhoods of users for algorithms that adapt pseudo-relevance feedback, and probabilities of items."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.errors import PluginError
from repro_reference.knn.similarity import Similarity


def nearest_users(ratings: csr_array, k: int) -> csr_array:
    """Users by users: a 1 for each of the k users with the highest positive cosine; the lower id wins a tie."""
    users = ratings.shape[0]
    nearest = Similarity().nearest(ratings, k)
    members = csr_array((np.ones(len(nearest.codes)), nearest.codes, nearest.starts), (users, users))
    members.sort_indices()
    return members


def item_probabilities(ratings: csr_array) -> tuple[csr_array, FloatArray]:
    """p(i | u), the share of an item in the sum of the ratings of a user; p(i | C), its share in all ratings."""
    user_sums = np.asarray(ratings.sum(axis=1)).ravel()
    shares = ratings.data / np.repeat(user_sums, np.diff(ratings.indptr))
    item_sums = np.bincount(ratings.indices, weights=ratings.data, minlength=ratings.shape[1])
    return csr_array((shares, ratings.indices, ratings.indptr), ratings.shape), item_sums / max(item_sums.sum(), 1e-300)


def positive_ratings(algorithm: str, train: Interactions) -> csr_array:
    """The training ratings by user, which must be positive, because they are read as frequencies."""
    ratings = train.matrix()
    if len(ratings.data) and ratings.data.min() <= 0:
        raise PluginError(
            f"{algorithm} reads ratings as frequencies, and there is a training rating of {ratings.data.min():g}; "
            "give positive ratings (data.min_rating drops the others), or data without ratings"
        )
    return ratings


def block(matrix: csr_array, users: CodeArray, items: CodeArray) -> FloatArray:
    """Some rows and columns of a sparse matrix, dense."""
    dense: FloatArray = matrix[users].toarray()[:, items]
    return dense
