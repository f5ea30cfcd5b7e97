"""Latent Dirichlet allocation against scikit-learn's, from the same start."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.decomposition._lda import _dirichlet_expectation_2d

from repro.data.interactions import Interactions
from repro.rng import child_keys, stream, uniform
from repro.testing import queries_of
from repro_reference.lda import LDA


@pytest.mark.parametrize(("alpha", "eta"), [(0.0, 0.0), (0.3, 0.05)])
@pytest.mark.parametrize("iterations", [1, 4])
def test_the_same_as_scikit_learn(train: Interactions, alpha: float, eta: float, iterations: int) -> None:
    factors, seed = 4, 7
    matrix = train.matrix()
    matrix.data = np.ones_like(matrix.data)
    model = LatentDirichletAllocation(
        factors,
        doc_topic_prior=alpha or 1 / factors,
        topic_word_prior=eta or 1 / factors,
    )
    model._init_latent_vars(train.n_items)
    draws = [uniform(child_keys(stream(seed, "reference", "lda", z), train.item_keys)) for z in range(factors)]
    model.components_ = 0.5 + np.stack(draws)
    model.exp_dirichlet_component_ = np.exp(_dirichlet_expectation_2d(model.components_))
    for _ in range(iterations):
        counts = model._e_step(matrix, cal_sstats=True, random_init=False)[1]
        model.components_ = model.topic_word_prior_ + counts
        model.exp_dirichlet_component_ = np.exp(_dirichlet_expectation_2d(model.components_))
    expected = model.transform(matrix) @ (model.components_ / model.components_.sum(axis=1, keepdims=True))

    recommender = LDA(factors=factors, iterations=iterations, alpha=alpha, eta=eta)
    recommender.fit(train, seed=seed)
    users, items = (np.arange(size, dtype=np.int32) for size in (train.n_users, train.n_items))
    actual = recommender.score(queries_of(users), items).values
    scored = ~np.isnan(actual)
    assert scored.any()
    np.testing.assert_allclose(actual[scored], expected[scored], rtol=1e-6)
    assert not scored[train.user_counts() == 0].any() and not scored[:, train.item_counts() == 0].any()
