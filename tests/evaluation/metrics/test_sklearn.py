"""scikit-learn's numbers: AUC with ties, and DCG averaged over the orders of tied items."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import dcg_score, ndcg_score, roc_auc_score

from repro.lists import default_protocol, evaluate


def random_lists(seed: int, highest: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores with many ties, and grades of all items, for eight users; everyone has a relevant and another item."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 5, size=(8, 15)).astype(float)
    grades = rng.integers(0, highest + 1, size=(8, 15))
    grades[:, 0], grades[:, 1] = 0, 1
    return scores, grades


def table(values: np.ndarray, name: str) -> pd.DataFrame:
    users, items = np.indices(values.shape)
    return pd.DataFrame({"user": users.ravel(), "item": items.ravel(), name: values.ravel()})


def values_of(scores: np.ndarray, grades: np.ndarray, names: list[str], ties: str) -> pd.DataFrame:
    protocol = default_protocol(True).replace({"ties.break": ties}, "test")
    users = evaluate(table(scores, "score"), table(grades, "rating"), protocol, names, per_user=True)
    return users.pivot(index="user", columns="metric", values="value")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ties", ["item-asc", "expected", "shared-worst"])
def test_auc_with_ties(seed, ties):
    scores, grades = random_lists(seed, 2)
    table = values_of(scores, grades, ["auc", "auc[negatives=judged]", "auc[negatives=catalogue]"], ties)
    expected = [roc_auc_score(judged > 0, predicted) for judged, predicted in zip(grades, scores, strict=True)]
    for name in table:  # all items are listed and judged, so that all negatives are the same
        assert table[name].tolist() == pytest.approx(expected, abs=1e-12), name


@pytest.mark.parametrize("seed", range(6))
def test_ndcg_averaged_over_the_orders_of_tied_items(seed):
    scores, grades = random_lists(seed, 4)
    table = values_of(scores, grades, ["ndcg[gain=linear]", "ndcg[gain=linear]@4"], "expected")
    for name, k in (("ndcg[gain=linear]", None), ("ndcg[gain=linear]@4", 4)):
        expected = [ndcg_score([judged], [predicted], k=k) for judged, predicted in zip(grades, scores, strict=True)]
        assert table[name].tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_dcg_averaged_over_the_orders_of_tied_items(seed):
    # With one relevant item the ideal DCG is 1, so that DCG and nDCG are the same.
    scores, grades = random_lists(seed, 0)
    table = values_of(scores, grades, ["ndcg@4"], "expected")
    expected = [dcg_score([judged], [predicted], k=4) for judged, predicted in zip(grades, scores, strict=True)]
    assert table["ndcg@4"].tolist() == pytest.approx(expected, abs=1e-12)
