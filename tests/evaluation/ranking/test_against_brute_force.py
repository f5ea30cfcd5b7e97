"""Every rule, on lists full of ties, gaps and odd values, against the same lists ranked in plain Python."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repro.errors import StudyError
from repro.evaluation.ranking import RankingRules, rank
from repro.protocol import registry

# Orders of files of candidates are tested with these.
CHOICES = [
    decision
    for family in ("missing", "scores", "ties")
    for decision in registry().family(family)
    if decision.kind == "choice" and decision.id != "ties.file_relevant"
]
OPTIONS = {d.id: [o.value for o in d.options if not (o.means or o.when or o.value == "fail")] for d in CHOICES}
RULES = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in OPTIONS.items()})
SETTINGS = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def applicable(changes):
    """Without the decisions that another one makes irrelevant."""
    if changes["ties.break"] not in ("item-asc", "item-desc"):
        changes = {key: value for key, value in changes.items() if key != "ties.id_order"}
    return changes


def drawn(deepest, **others):
    """Draws what lists are made of, and the rank down to which they are compared."""
    depth = st.one_of(st.none(), st.integers(1, deepest))
    return given(seed=st.integers(0, 2**32), listed=st.booleans(), changes=RULES, depth=depth, **others)


def compare(room, seed, shape, listed, odd, changes, depth, cutoffs):
    """Compare lists of scores that are ``odd``: with ties and gaps, and with states."""
    rng = np.random.default_rng(seed)
    block = room.block(*shape, listed, rng)
    scores = room.scores(shape, *odd, rng)
    train = room.train(shape[0] + 2, shape[1] + 3, rng)
    room.check(block, scores, room.protocol(applicable(changes)), train, depth, cutoffs)


@SETTINGS
@drawn(30, n_items=st.integers(1, 25), with_state=st.booleans())
def test_small_lists(room, seed, n_items, listed, with_state, changes, depth):
    cutoffs = [k for k in (1, 2, 5) if k <= (depth or 5)]
    compare(room, seed, (3, n_items), listed, (True, with_state), changes, depth, cutoffs)


@settings(SETTINGS, max_examples=30)
@drawn(60, n_items=st.integers(128, 300), awkward=st.booleans())
def test_lists_long_enough_for_a_threshold(room, seed, n_items, listed, awkward, changes, depth):
    compare(room, seed, (2, n_items), listed, (awkward, False), changes, depth, [1])


@pytest.mark.parametrize(
    ("decision", "option"),
    [(d.id, o.value) for d in CHOICES for o in d.options if not (o.means or o.when)],
)
def test_every_option_is_implemented(room, decision, option):
    rng = np.random.default_rng(3)
    block, scores = room.block(3, 150, False, rng), room.scores((3, 150), True, True, rng)
    train, protocol = room.train(5, 153, rng), room.protocol({decision: option})
    if option != "fail":
        room.check(block, scores, protocol, train, 10, [5, 10])
        return
    rules = RankingRules.from_protocol(protocol, train, train=train, data_items=train.items, seed=7)
    with pytest.raises(StudyError, match=f'{decision} = "fail" stops the run'):
        rank(scores, block, rules, depth=10)


@pytest.mark.parametrize("nonzero", [0, 3, 40, 200])
@pytest.mark.parametrize("rule", ["item-asc", "item-desc", "random", "best", "expected"])
def test_rows_that_are_nearly_all_zero(room, rule, nonzero):
    rng = np.random.default_rng(nonzero)
    block, scores = room.block(2, 400, False, rng), room.scores((2, 400), False, False, rng)
    scores.values[:, rng.permutation(400)[nonzero:]] = 0.0
    room.check(block, scores, room.protocol({"ties.break": rule}), room.train(4, 403, rng), 20, [10, 20])


@pytest.mark.parametrize("rank_rule", ["last", "first", "drop"])
def test_rows_without_any_score(room, rank_rule):
    rng = np.random.default_rng(0)
    block, scores = room.block(2, 300, False, rng), room.scores((2, 300), False, False, rng)
    scores.values[:] = np.nan
    room.check(block, scores, room.protocol({"missing.rank": rank_rule}), room.train(4, 303, rng), 10, [10])
