"""F-beta against scikit-learn, list by list and from the averages of precision and recall."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import fbeta_score

import repro
from repro.errors import ProtocolError
from repro.lists import default_protocol, evaluate

ITEMS = 12


def lists(seed):
    """For six users: relevant items, and an order of all items."""
    rng = np.random.default_rng(seed)
    relevant = [rng.choice(ITEMS, rng.integers(1, 6), replace=False) for _ in range(6)]
    return relevant, [rng.permutation(ITEMS) for _ in relevant]


def frames(relevant, orders):
    truth = [(user, item) for user, own in enumerate(relevant) for item in own]
    ranked = [(user, item, place) for user, own in enumerate(orders) for place, item in enumerate(own, 1)]
    return pd.DataFrame(ranked, columns=["user", "item", "rank"]), pd.DataFrame(truth, columns=["user", "item"])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("beta", [0.5, 2, 3.5])
def test_each_list_is_what_scikit_learn_gives(seed, beta):
    relevant, orders = lists(seed)
    values = evaluate(*frames(relevant, orders), default_protocol(False), [f"f-beta[beta={beta}]@4"], per_user=True)
    for user, value in zip(values["user"], values["value"], strict=True):
        truth, chosen = np.isin(range(ITEMS), relevant[user]), np.isin(range(ITEMS), orders[user][:4])
        assert value == pytest.approx(fbeta_score(truth, chosen, beta=beta, zero_division=0))


def test_of_the_averages():
    relevant, orders = lists(3)
    names = ["precision@4", "recall@4", "f-beta[average=means,beta=0.5]@4"]
    precision, recall, f_beta = evaluate(*frames(relevant, orders), default_protocol(False), names)["value"]
    assert f_beta == pytest.approx(1.25 * precision * recall / (0.25 * precision + recall))


def test_f2_is_a_name_and_f1_has_its_own():
    relevant, orders = lists(4)
    found = evaluate(*frames(relevant, orders), default_protocol(False), ["F2@4", "f-beta@4"])
    assert found["value"].nunique() == 1
    with pytest.raises(ProtocolError, match="other than 1"):
        repro.evaluate(*frames(relevant, orders), default_protocol(False), "f-beta[beta=1]@4")
