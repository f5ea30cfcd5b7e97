"""Named streams: functions of their names, uniform, and independent of order."""

import numpy as np
from scipy import stats

from repro.rng import child_keys, id_keys, mix, stream, uniform


def test_splitmix_reference_values():
    # The published test sequence of SplitMix64 with seed 1234567 (state advanced by the golden gamma).
    state, step = 1234567, 0x9E3779B97F4A7C15
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    actual = [int(mix(np.array([(state + step * n) % 2**64], dtype=np.uint64))[0]) for n in range(1, 5)]
    assert actual == expected


def test_a_draw_depends_on_its_names_alone():
    key = stream(7, "split")
    users = id_keys(["a", "b", "c"])
    forward = child_keys(key, users)
    backward = child_keys(key, users[::-1])[::-1]
    assert (forward == backward).all()
    assert stream(7, "split") != stream(8, "split") != stream(7, "ties")
    assert (id_keys([42]) == id_keys(["42"])).all()
    assert stream(1, "a", "b") != stream(1, "ab")


def test_user_and_item_are_not_interchangeable():
    key = stream(7, "split")
    a, b = id_keys(["1"]), id_keys(["2"])
    assert child_keys(key, a, b) != child_keys(key, b, a)


def test_draws_are_uniform_and_uncorrelated_between_neighbouring_ids():
    draws = uniform(child_keys(stream(1, "test"), id_keys(range(100_000))))
    assert draws.min() >= 0 and draws.max() < 1
    assert stats.kstest(draws, "uniform").pvalue > 0.001
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 0.015
