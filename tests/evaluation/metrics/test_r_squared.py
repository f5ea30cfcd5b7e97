"""R squared against scikit-learn, over all pairs and by user."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score

from repro.lists import default_protocol, evaluate


@pytest.mark.parametrize("seed", range(4))
def test_as_scikit_learn_has_it(seed):
    rng = np.random.default_rng(seed)
    pairs = pd.DataFrame([(user, item) for user in range(5) for item in range(6)], columns=["user", "item"])
    truth = pairs.assign(rating=rng.integers(1, 6, len(pairs)).astype(float))
    lists = pairs.assign(score=rng.normal(3, 1, len(pairs)))
    pooled, by_user = evaluate(lists, truth, default_protocol(True), ["R2", "r-squared[average=users]"])["value"]
    assert pooled == pytest.approx(r2_score(truth["rating"], lists["score"]))
    own = [r2_score(truth["rating"][rows], lists["score"][rows]) for rows in pairs.groupby("user").groups.values()]
    assert by_user == pytest.approx(np.mean(own))


def test_equal_ratings_have_none():
    truth = pd.DataFrame({"user": [1, 1], "item": [1, 2], "rating": [3.0, 3.0]})
    lists = truth.rename(columns={"rating": "score"})
    assert np.isnan(evaluate(lists, truth, default_protocol(True), "r-squared")["value"].iloc[0])
