"""Laws of every strategy: parts are disjoint and complete, and do not depend on the order of rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.errors import ProtocolError
from repro.protocol import registry
from repro.split import STRATEGIES, make_folds

CASES = {
    "ratio": [{}, {"test_ratio": 0.5, "validation_ratio": 0.25, "repeats": 2}, {"order": "time"}],
    "user-ratio": [
        {},
        {"rounding": "ceil", "validation_ratio": 0.3, "repeats": 2},
        {"order": "time", "rounding": "floor"},
    ],
    "kfold": [{}, {"folds": 3}, {"folds": 3, "validation_share": 0.25}],
    "kfold-per-user": [{}, {"folds": 2}, {"validation_share": 0.2, "validation_of": "users", "rounding": "ceil"}],
    "kfold-users": [
        {},
        {"validation_share": 0.1, "validation_of": "users", "validation_order": "time"},
        {"holdout": "all-but-n", "holdout_n": 2, "order": "time"},
        {"holdout": "given-n", "holdout_n": 3, "folds": 2, "short_users": "drop"},
    ],
    "given-n": [
        {"n": 3},
        {"n": 2, "order": "time", "short_users": "drop"},
        {"n": 1, "repeats": 3},
        {"n": 4, "repeats": 2, "validation_share": 0.5, "short_users": "drop"},
    ],
    "all-but-n": [
        {"n": 1},
        {"n": 2, "validation_n": 1, "order": "time", "equal_times": "random"},
        {"n": 3, "short_users": "drop"},
    ],
    "random-n": [{}, {"test_users": 4, "repeats": 2}, {"test_users": 4, "validation_share": 0.2}],
    "time-point": [{"time": 20}, {"time": 20, "validation_share": 0.3, "validation_order": "time"}],
    "time-users": [
        {},
        {"test_users": 5, "clock": "own"},
        {"test_users": 5, "clock": "each"},
        {"test_users": 5, "clock": "each", "validation_share": 0.5, "validation_order": "time"},
    ],
    "uniform-items": [
        {},
        {"test_ratio": 0.3, "train_floor": 0.4, "repeats": 2},
        {"validation_share": 0.2, "validation_of": "users", "equal_times": "random", "validation_order": "time"},
    ],
}
EVERY = [(name, stated) for name, cases in CASES.items() for stated in cases]


def test_a_strategy_reads_decisions_of_the_split_that_apply_to_it():
    """And only those: what a strategy does not read has no effect under it, whatever else is decided."""
    known = registry()
    for name, strategy in STRATEGIES.items():
        assert set(strategy.reads) | {strategy.validation} <= set(known), name
        for key in strategy.reads:
            conditions = [part for when in known[key].when for part in getattr(when, "conditions", [when])]
            assert any(part.holds(name) for part in conditions if part.decision == "split.strategy"), (name, key)
        for key in ("split.order", "split.folds", "split.n", "split.time", "split.clock", "split.train_file"):
            values = {"split.strategy": name, "split.order": "random"}
            assert known.active(known[key], values) == (key in strategy.reads), (name, key)


def left_out(name, stated):
    """Strategies that leave rows out of every part on purpose."""
    return stated.get("short_users") == "drop" or stated.get("clock") == "each"


def test_every_option_that_is_no_shorthand_has_an_implementation():
    options = [option.value for option in registry()["split.strategy"].options if not option.means]
    options = [name for name in options if "/" not in name]  # those with a slash are of plug-ins
    assert sorted(options) == sorted(STRATEGIES)


def test_every_strategy_but_files_is_among_the_cases():
    assert sorted([*CASES, "files", "fold-table"]) == sorted(STRATEGIES)


@pytest.mark.parametrize(("name", "stated"), EVERY)
def test_parts_are_ascending_disjoint_and_complete(name, stated, protocol, random_rows):
    data = random_rows()
    split = make_folds(data, protocol(name, **stated), 1)
    assert split.interactions is data
    assert [fold.name for fold in split.folds] == [str(n + 1) for n in range(len(split.folds))]
    for fold in split.folds:
        parts = [fold.train, fold.test] + ([fold.validation] if fold.validation is not None else [])
        for part in parts:
            assert part.dtype == np.int64
            assert len(part) and (np.diff(part) > 0).all()
        together = np.concatenate(parts)
        assert len(set(together.tolist())) == len(together)
        if not left_out(name, stated):
            assert len(together) == len(data)


@pytest.mark.parametrize(("name", "stated"), EVERY)
def test_the_order_of_rows_does_not_matter(name, stated, protocol, random_rows, pairs):
    data = random_rows()
    shuffled = data.select(np.random.default_rng(5).permutation(len(data)))
    stored, reordered = (make_folds(rows, protocol(name, **stated), 1) for rows in (data, shuffled))
    assert len(stored.folds) == len(reordered.folds)
    for first, second in zip(stored.folds, reordered.folds, strict=True):
        assert pairs(stored, first.train) == pairs(reordered, second.train)
        assert pairs(stored, first.test) == pairs(reordered, second.test)
        if first.validation is not None:
            assert pairs(stored, first.validation) == pairs(reordered, second.validation)
    assert [impact.sentence for impact in stored.impacts] == [impact.sentence for impact in reordered.impacts]


@pytest.mark.parametrize(
    ("name", "stated"),
    [case for case in EVERY if case[1].get("order") != "time" and case[0] != "time-point"],
)
def test_the_seed_decides_what_is_drawn(name, stated, protocol, random_rows):
    data = random_rows()
    first, again, other = (make_folds(data, protocol(name, **stated), seed).folds[0] for seed in (1, 1, 2))
    assert np.array_equal(first.test, again.test)
    assert not np.array_equal(first.test, other.test)


@pytest.mark.parametrize("name", ["ratio", "user-ratio", "given-n", "all-but-n", "random-n", "uniform-items"])
def test_repeats_are_drawn_anew(name, protocol, random_rows):
    stated = {"n": 2} if name in ("given-n", "all-but-n") else {}
    folds = make_folds(random_rows(), protocol(name, repeats=3, **stated), 1).folds
    tests = {tuple(fold.test) for fold in folds}
    assert len(folds) == len(tests) == 3


@settings(max_examples=40, deadline=None)
@given(
    case=st.sampled_from(EVERY),
    users=st.integers(2, 12),
    items=st.integers(2, 12),
    data_seed=st.integers(0, 10_000),
    seed=st.integers(0, 10_000),
)
def test_any_data_is_split_cleanly_or_refused(case, users, items, data_seed, seed, protocol, random_rows):
    name, stated = case
    data = random_rows(users, items, 0.6, data_seed)
    try:
        split = make_folds(data, protocol(name, **stated), seed)
    except ProtocolError as error:
        assert "split." in str(error)
        return
    for fold in split.folds:
        together = np.concatenate([fold.train, fold.test, [] if fold.validation is None else fold.validation]).tolist()
        assert len(set(together)) == len(together) <= len(data)
        assert len(fold.train) and len(fold.test)
        if not left_out(name, stated):
            assert len(together) == len(data)


@pytest.mark.parametrize(
    ("name", "stated", "decision"),
    [
        ("ratio", {"order": "time"}, "split.order"),
        ("user-ratio", {"order": "time"}, "split.order"),
        ("kfold-users", {"order": "time"}, "split.order"),
        ("leave-one-last", {}, "split.order"),
        ("time-point", {"time": 3}, "split.strategy"),
        ("time-users", {}, "split.strategy"),
    ],
)
def test_time_without_timestamps_is_refused(name, stated, decision, protocol, rows):
    with pytest.raises(ProtocolError, match=f'^{decision} = "[a-z-]+" needs timestamps, and the data set has none'):
        make_folds(rows("a1 a2 b1 b2"), protocol(name, **stated), 1)
