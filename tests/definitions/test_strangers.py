"""Implementations as users write them: the verdict on each is right."""

import numpy as np
import pandas as pd
import pytest

import repro
from repro.definitions import Definition, Unexplained


class OfItems:
    """A model whose scores are numbers of items, whatever the user."""

    def score(self, users, items):
        return np.tile(self.of(items), (len(users), 1))


class RecentPopularity(OfItems):
    def __init__(self, half_life=100.0):
        self.half_life = half_life

    def fit(self, train):
        age = (train.timestamp.max() - train.timestamp) / 86_400
        self.sums = (0.5 ** (age / self.half_life)).groupby(train.item).sum()

    def of(self, items):
        return self.sums.reindex(items).to_numpy()


class FirstSeen(OfItems):
    def fit(self, train):
        self.places = {item: -place for place, item in enumerate(dict.fromkeys(train.item))}

    def of(self, items):
        return [self.places.get(item, np.nan) for item in items]


class AtLeastSixtyRows(OfItems):
    def fit(self, train):
        if len(train) < 60:
            raise ValueError("too few rows")
        self.counts = train.item.value_counts()

    def of(self, items):
        return self.counts.reindex(items).to_numpy(float)


class LogPopularity(AtLeastSixtyRows):
    def fit(self, train):
        self.counts = np.log1p(train.item.value_counts())


class Noise:
    def fit(self, train):
        pass

    def score(self, users, items):
        return np.random.rand(len(users), len(items))  # noqa: NPY002


class Mean:
    def fit(self, train):
        self.mean = train.rating.mean()

    def predict(self, users, items):
        return np.full(len(items), self.mean)


class UserMean:
    def fit(self, train):
        self.means, self.overall = train.groupby("user").rating.mean(), train.rating.mean()

    def predict(self, X):
        return X["user"].map(self.means).fillna(self.overall).to_numpy()


class TwiceTheUserMean(UserMean):
    def predict(self, X):
        return 2.0 * super().predict(X)


class Linear:
    def __init__(self, reg=4.0):
        self.reg = reg

    def fit(self, train):
        rows = pd.crosstab(train.user, train.item).clip(upper=1)
        x = rows.to_numpy(float)
        inverse = np.linalg.inv(x.T @ x + self.reg * np.eye(x.shape[1]))
        weights = inverse / -np.diag(inverse)
        np.fill_diagonal(weights, 0.0)
        self.scores = pd.DataFrame(x @ weights, index=rows.index, columns=rows.columns)

    def score(self, users, items):
        return self.scores.reindex(index=users, columns=items).to_numpy()


def finding_of(model, only):
    audited = repro.definitions.audit(model, only=[only], evidence=False, progress=False)
    return audited.findings[-1], audited.remarks


@pytest.mark.parametrize(
    ("model", "only", "level"),
    [
        (AtLeastSixtyRows, "popularity", "the same scores"),
        (LogPopularity, "popularity", "the same order"),
        (UserMean, "bias", "the same scores"),
        (Linear, "ease", "the same scores"),
    ],
)
def test_a_definition_is_inferred(model, only, level):
    finding, remarks = finding_of(model(), only)
    assert isinstance(finding, Definition)
    assert finding.confirmation.level.meaning == level
    assert not remarks


def test_the_penalty_is_found_under_another_name():
    finding, _ = finding_of(Linear(reg=7.5), "ease")
    assert finding.setting["regularisation"] == 7.5


@pytest.mark.parametrize(
    ("model", "only"),
    [(RecentPopularity, "popularity"), (FirstSeen, "popularity"), (Mean, "bias"), (TwiceTheUserMean, "bias")],
)
def test_others_are_unexplained_with_a_case(model, only):
    finding, _ = finding_of(model(), only)
    assert isinstance(finding, Unexplained)
    assert 1 <= len(finding.case) <= 6
    assert finding.shown.given != finding.shown.expected


def test_what_a_score_depends_on_is_remarked():
    assert finding_of(FirstSeen(), "popularity")[1][0] == "the scores depend on the order of the rows"
    finding, remarks = finding_of(Noise(), "popularity")
    assert finding.reason == remarks[0] == "two fits of the same rows with the same seed give different scores"
    assert finding.case is None
