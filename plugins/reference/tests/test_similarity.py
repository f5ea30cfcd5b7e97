"""Similarities against NumPy, on what two rows have in common."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cosine as cosine_distance

from repro_reference.knn.similarity import Similarity


def ratings(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(1, 6, (12, 9)) * (rng.random((12, 9)) < 0.6).astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_cosine_is_that_of_the_whole_rows(seed: int) -> None:
    rows = ratings(seed)
    actual = Similarity("cosine").matrix(csr_array(rows))
    for a in range(len(rows)):
        for b in range(len(rows)):
            expected = 0.0 if a == b or not (rows[a] @ rows[b]) else 1 - cosine_distance(rows[a], rows[b])
            assert actual[a, b] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_pearson_is_that_of_common_columns(seed: int) -> None:
    rows = ratings(seed)
    actual = Similarity("pearson", negatives=True).matrix(csr_array(rows))
    for a in range(len(rows)):
        for b in range(len(rows)):
            both = (rows[a] > 0) & (rows[b] > 0)
            x, y = rows[a][both], rows[b][both]
            varies = a != b and both.sum() > 1 and np.ptp(x) > 0 and np.ptp(y) > 0
            assert actual[a, b] == pytest.approx(np.corrcoef(x, y)[0, 1] if varies else 0.0, abs=1e-12)


def test_a_constant_row_has_no_correlation_on_any_scale() -> None:
    rows = csr_array(np.array([[0.1, 0.1, 0.1], [0.1, 0.7, 0.3]]))
    assert (Similarity("pearson").matrix(rows) == 0).all()


@pytest.mark.parametrize("kind", ["cosine", "pearson"])
def test_shrinkage_and_overlap_count_common_columns(kind: str) -> None:
    rows = ratings(7)
    common = (rows > 0).astype(float) @ (rows > 0).T
    plain = Similarity(kind, negatives=True).matrix(csr_array(rows))
    shrunk = Similarity(kind, shrinkage=4.0, negatives=True).matrix(csr_array(rows))
    np.testing.assert_allclose(shrunk, plain * common / (common + 4.0))
    overlapping = Similarity(kind, min_overlap=4, negatives=True).matrix(csr_array(rows))
    np.testing.assert_array_equal(overlapping, np.where(common >= 4, plain, 0.0))
