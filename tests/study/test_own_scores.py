"""A score that the framework made up is never the algorithm's own, whatever the protocol makes of it."""

import itertools

import numpy as np
import pandas as pd
import pytest

import repro
from repro import Study
from repro.evaluation.measure_lists import measure_lists
from repro.evaluation.metrics import simple_measures
from repro.lists import default_protocol
from repro.plugin import FALLBACK, SCORED, UNSCORED, CheckedRecommender, Scores
from repro.protocol import Protocol
from repro.study.fold_data import fold_data
from repro.study.plan import make_plan
from repro.testing import queries_of

RANKS = ("last", "first", "drop", "constant", "item-mean")
K = 3


class PartlyMadeUp:
    """Scores without ties. Of the first users none are the algorithm's own, of the others some."""

    def fit(self, train, *, seed): ...

    def score(self, queries, items):
        users = queries.users
        values = 10 + (users[:, None] * 7919 + items * 104729) % 10007 / 1000.0
        drawn = (users[:, None] * 31 + items * 17) % 7
        state = np.where(drawn < 2, SCORED, np.where(drawn < 5, FALLBACK, UNSCORED)).astype(np.uint8)
        state[(users < 20)[:, None] & (state == SCORED)] = FALLBACK
        return Scores(values, state)


@pytest.mark.parametrize(("fallback", "rank"), list(itertools.product(("accept", "missing"), RANKS)))
def test_lists_and_user_coverage_count_the_algorithm_s_own_scores(data, fallback, rank):
    constant = {"missing__constant": 3.0} if rank == "constant" else {}
    protocol = Protocol.load("random-5fold", missing__rank=rank, missing__fallback=fallback, **constant)
    names = [f"user-coverage@{K}", f"user-coverage[counts=listed]@{K}", "groc"]
    study = Study(data, protocol, ["reference/popularity"], names)
    plan = make_plan(study)
    parts = fold_data(plan, plan.split.folds[0])
    measures = simple_measures(study.measures)
    actual = measure_lists(CheckedRecommender(PartlyMadeUp(), "partly"), parts, measures, protocol, study.seed)

    lists = actual.tables["lists"].to_pandas()
    users, items = parts.whole.user_codes(lists["user"]), parts.whole.item_codes(lists["item"])
    state = PartlyMadeUp().score(queries_of(np.arange(parts.whole.n_users)), np.arange(parts.whole.n_items)).state
    own = state[users, items] == SCORED
    assert (lists["scored"].to_numpy() == own).all()
    test_users = len(np.unique(parts.test.users))
    covered = lists["user"][own & (lists["rank"] <= K)].nunique()
    coverage, listed, _ = (actual.values[measure.full_name][0] for measure in measures)
    assert coverage == covered / test_users < 1
    assert listed == lists["user"].nunique() / test_users >= coverage


@pytest.mark.parametrize("fallback", ["accept", "missing"])
def test_no_measure_calls_a_made_up_score_the_algorithm_s_own(fallback):
    """All rows are made up, or one user's are not: in lists and in predictions."""
    rows = [(user, item, 5.0 - item + user / 10) for user in range(4) for item in range(5)]
    given = pd.DataFrame(rows, columns=["user", "item", "score"]).assign(state="fallback")
    truth = given[["user", "item"]].assign(rating=3.0)
    protocol = default_protocol(True).replace({"missing.fallback": fallback, "predict.fallback": fallback}, "test")
    names = ["user-coverage@2", "prediction-coverage"]

    def values(frame):
        return repro.evaluate(frame, truth, metrics=names, protocol=protocol)["value"].tolist()

    assert values(given) == [0.0, 0.0]
    given.loc[(given["user"] == 2) & (given["item"] < 4), "state"] = "scored"
    assert values(given) == [1 / 4, 4 / 20]


@pytest.mark.parametrize("rule", ["best", "worst"])
def test_a_made_up_score_does_not_cover_a_user_in_any_order_of_ties(rule):
    given = pd.DataFrame({"user": 1, "item": [1, 2, 3], "score": 1.0, "state": ["fallback", "scored", "fallback"]})
    truth = pd.DataFrame({"user": 1, "item": [3], "rating": 3.0})
    protocol = default_protocol(True).replace({"missing.fallback": "accept", "ties.break": rule}, "test")
    actual = repro.evaluate(given, truth, metrics=["user-coverage@1"], protocol=protocol)
    assert actual["value"].tolist() == [1.0 if rule == "best" else 0.0]
