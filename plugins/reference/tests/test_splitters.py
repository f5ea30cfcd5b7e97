"""The splitters of libraries against pandas and scikit-learn, which the libraries split with."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

from repro.data import Interactions
from repro.errors import PluginError
from repro.plugin import plugins
from repro.protocol import Protocol
from repro.split import make_folds
from repro_reference.recbole_splitters import shuffled


def data(seed, users=8, items=9, rows=60):
    rng = np.random.default_rng(seed)
    pairs = rng.permutation(users * items)[:rows]
    return pd.DataFrame(
        {"user": pairs // items * 7, "item": pairs % items * 3, "rating": 1.0, "timestamp": rng.integers(0, 6, rows)}
    )


def split(name, frame, seed, **parameters):
    """The positions in training and test, in the order of the splitter."""
    defaults = {parameter.name: parameter.default for parameter in plugins().splitters()[name].parameters}
    ((train, test),) = plugins().split(name, Interactions.from_frame(frame), seed, defaults | parameters)
    return train.tolist(), test.tolist()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ratio", [0.75, 0.5, 0.83])
def test_random(seed, ratio):
    frame = data(seed)
    train, test = train_test_split(frame, test_size=None, train_size=ratio, random_state=seed)
    assert split("recommenders/random", frame, seed, ratio=ratio) == (train.index.tolist(), test.index.tolist())


def stratified(frame, by, key, ratio, border):
    """In the words of pandas: rows sorted in each group, and their rank as a share or as a number."""
    frame = frame.assign(key=key).sort_values([by, "key"])
    frame["size"], frame["rank"] = frame.groupby(by)[by].transform("size"), frame.groupby(by).cumcount() + 1
    if border == "share":
        training = frame["rank"] / frame["size"] <= ratio
    else:
        training = frame["rank"] <= (ratio * frame["size"]).round()
    return frame.index[training].tolist(), frame.index[~training].tolist()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("by", ["user", "item"])
@pytest.mark.parametrize("border", ["rounded", "share"])
def test_stratified_and_chrono(seed, by, border):
    frame, options = data(seed), {"filter_by": by, "border": border, "ratio": 0.6}
    draws = np.random.RandomState(seed).rand(len(frame))
    assert split("recommenders/stratified", frame, seed, **options) == stratified(frame, by, draws, 0.6, border)
    assert split("recommenders/chrono", frame, seed, **options) == stratified(
        frame, by, frame["timestamp"], 0.6, border
    )


def test_users_with_few_rows_are_left_out_before_the_draws():
    frame = data(1)
    size = frame.groupby("user")["user"].transform("size")
    frequent = frame[size >= 8]
    assert 0 < len(frequent) < len(frame)
    train, test = split("recommenders/stratified", frame, 3, min_rating=8)
    draws = np.random.RandomState(3).rand(len(frequent))
    assert (train, test) == stratified(frequent, "user", draws, 0.75, "rounded")


def test_lightfm():
    """Worked by hand: of 60 rows the first int(0.8 * 60) of a shuffle are training."""
    order = np.arange(60)
    np.random.RandomState(5).shuffle(order)
    assert split("lightfm/random_train_test_split", data(0), 5) == (order[:48].tolist(), order[48:].tolist())


def folds_of(name, frame, seed, **parameters):
    return [
        (train.tolist(), test.tolist())
        for train, test in plugins().split(f"elliot/{name}", Interactions.from_frame(frame), seed, parameters)
    ]


def by_user(frame, mask):
    """For each fold the rows in which a mask that is made for the rows of each user is false, and true."""
    masks = [mask(own) for _, own in frame.groupby("user")]
    test = sorted(index for own in masks for index in own)
    return sorted(set(frame.index) - set(test)), test


@pytest.mark.parametrize("seed", range(3))
def test_elliot_draws_user_by_user(seed):
    frame, draws = data(seed), np.random.RandomState(seed)

    def mask(own):
        chosen = [False] * int(np.floor(len(own) * (1 - 0.3)))
        chosen += [True] * (len(own) - len(chosen))
        draws.shuffle(chosen)
        return own.index[chosen]

    expected = [by_user(frame, mask) for _ in range(3)]
    assert folds_of("random_subsampling", frame, seed, folds=3, test_ratio=0.3) == expected
    draws = np.random.RandomState(seed)

    def leave_two_out(own):
        chosen = [False] * (len(own) - 2) + [True] * 2
        draws.shuffle(chosen)
        return own.index[chosen]

    assert folds_of("random_leave_n_out", frame, seed, folds=1, n=2) == [by_user(frame, leave_two_out)]


def test_elliot_without_draws():
    frame = data(1)
    dealt = [by_user(frame, lambda own, fold=fold: own.index[fold::4]) for fold in range(4)]
    assert folds_of("random_cross_validation", frame, 0, folds=4) == dealt

    def latest(own):
        return own.sort_values("timestamp", kind="stable").index[int(np.floor(len(own) * 0.8)) :]

    assert folds_of("temporal_hold_out", frame, 0, test_ratio=0.2) == [by_user(frame, latest)]
    with pytest.raises(PluginError, match=r"raise data.user_core"):
        folds_of("random_leave_n_out", frame, 0, folds=1, n=50)


def test_the_shuffle_of_recbole():
    """The numbers are those of PyTorch 2.13 for torch.manual_seed(2020); torch.randperm(10), and for 42."""
    assert shuffled(10, 2020).tolist() == [0, 7, 5, 4, 2, 6, 1, 8, 9, 3]
    assert shuffled(10, 42).tolist() == [2, 6, 1, 8, 4, 5, 0, 9, 3, 7]


@pytest.mark.parametrize("group_by", ["user", "all"])
def test_recbole_takes_shares_of_the_shuffled_rows(group_by):
    frame = data(3)
    order = pd.Series(shuffled(60, 9))
    groups = frame["user"].to_numpy()[order] if group_by == "user" else np.zeros(60)
    train, test = [], []
    for _, own in order.groupby(groups):
        size = len(own)  # below ten rows, a tenth is less than one row: test and validation have one each
        few = 1 if 3 <= size < 10 else size // 10
        train += own.tolist()[: size - 2 * few]
        test += own.tolist()[size - few :]
    parameters = {"train": 0.8, "valid": 0.1, "test": 0.1, "group_by": group_by}
    ((got_train, got_test),) = plugins().split("recbole-data/ratio", Interactions.from_frame(frame), 9, parameters)
    assert (sorted(got_train.tolist()), sorted(got_test.tolist())) == (sorted(train), sorted(test))


def test_they_are_strategies_of_a_protocol():
    changes = {"split.strategy": "recommenders/stratified", "split.recommenders-stratified.ratio": 0.5}
    protocol = Protocol.load("random-5fold").replace(changes)
    (fold,) = make_folds(Interactions.from_frame(data(2)), protocol, 4).folds
    assert sorted(split("recommenders/stratified", data(2), 4, ratio=0.5)[0]) == fold.train.tolist()


def test_what_cannot_be_split_is_refused():
    with pytest.raises(PluginError, match="no timestamps"):
        split("recommenders/chrono", data(0).drop(columns="timestamp"), 1)
    with pytest.raises(PluginError, match=r"ratio = 1 must lie between 0 and 1"):
        split("recommenders/random", data(0), 1, ratio=1.0)
