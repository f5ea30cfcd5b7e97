"""No decision about data or the split is accepted and has no effect, in any strategy.

For each strategy, each decision that it accepts and any two values of that decision, there are rows of which the folds
differ: in what their parts hold, or, for the decisions about the order of rows and about the rating scale, in what an
algorithm is given and in what a metric says. Otherwise the protocol must be refused. Cornac's splitters run in an
environment of their own: their parameters are left to the tests of that plug-in; features of items are left to
tests/study/test_features.py.
"""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from repro.data import Interactions, prepare
from repro.data.description import pair_codes
from repro.errors import ReproError
from repro.evaluation.evaluation import Evaluation
from repro.evaluation.kept_scores import ReplayedScores
from repro.plugin import Scores
from repro.protocol import AnyOf, registry, resolve
from repro.split import make_folds
from repro.study import Study
from repro.study.fold_data import fold_data, trial_data
from repro.study.plan import make_plan

OF_SCALE = ("data.scale", "data.scale_min", "data.scale_max")
# Decisions that change no part of the folds, and what is done with them.
OF_BINARY = ("data.binarise", "data.binarise_below", "data.binarise_rows")
OF_STUDY = ("data.order", "split.fitted_on", "split.tuned_on", *OF_BINARY, *OF_SCALE)
# Numbers and files that fit cases of a dozen users; a splitter's parameters by their last name.
VALUES = {
    "data.min_rating": ("none", 2.0, 3.0),
    "data.max_rating": ("none", 4.0, 3.0),
    "data.binarise": ("none", 2.0, 3.0),
    "data.from_time": ("none", 2.0, 3.0),
    "data.to_time": ("none", 8.0, 7.0),
    "data.sample_users": (1.0, 0.6, 0.8),
    "data.sample_items": (1.0, 0.6, 0.8),
    "data.user_core": (0, 2, 3),
    "data.item_core": (0, 2, 3),
    "data.core_rounds": ("until-stable", 1, 2),
    "data.scale_min": (0.0, 0.5),
    "data.scale_max": (101.0, 102.0),
    "split.test_ratio": (0.2, 0.5),
    "split.holdout_ratio": (0.2, 0.4),
    "split.holdout_n": (1, 2),
    "split.n": (6, 2),
    "split.folds": (2, 3),
    "split.repeats": (1, 2, 3),
    "split.time": (3.0, 5.0),
    "split.test_users": ("all", 1, 2),
    "split.train_floor": (0.3, 0.0, 0.6),
    "split.validation_ratio": (0.0, 0.2, 0.3),
    "split.validation_n": (0, 1, 2),
    "split.validation_share": (0.0, 0.2, 0.6),
    "split.head": (0.0, 0.1, 0.3),
    "split.train_file": ("train-1.csv", "train-2.csv"),
    "split.test_file": ("test-1.csv", "test-2.csv"),
    "split.fold_file": ("folds-1.csv", "folds-2.csv"),
    "split.validation_file": ("none", "validation-1.csv", "validation-2.csv"),
    "partitions": (2, 3),
    "ratio": (0.75, 0.5),
    "min_rating": (1, 3),
    "test_percentage": (0.2, 0.5),
    "test_ratio": (0.2, 0.5),
    "train": (0.8, 0.4),
    "valid": (0.1, 0.4),
    "test": (0.1, 0.4),
    "folds": (2, 3),
    "n": (1, 2),
    "frac": (0.3, 0.6),
    "size": (2, 3),
    "repeats": (0, 1, 2),
    "n_splits": (2, 3),
    "n_repeats": (2, 1),
    "test_size": (0.2, 0.4, 5.0),
    "train_size": (-1.0, 0.3, 7.0),
    "min_n_ratings": (0, 2, 3),
}
SEED = 5
FEW, MANY = 4, 400


def options(key):
    decision = registry()[key]
    if key in VALUES or (key.count(".") == 2 and decision.kind in ("integer", "number")):
        return VALUES[key] if key in VALUES else VALUES[key.rpartition(".")[2]]
    return decision.tried


@cache
def strategies():
    return [rule for rule in options("split.strategy") if not rule.startswith("cornac/")]


@cache
def decisions():
    """The decisions about data and the split, but for the strategy itself."""
    actual = [
        rule for rule in registry() if rule.startswith(("data.", "split.")) and not rule.startswith("split.cornac-")
    ]
    return [rule for rule in actual if rule not in ("split.strategy", "data.item_features")]


class Cases:
    """Random rows: pairs that repeat, times that are equal or that nobody has, several scales, users with few rows."""

    def __init__(self, seed, folder):
        self._rng, self._folder = np.random.default_rng(seed), folder

    def rows(self, key):
        rng = self._rng
        users, items = rng.integers(6, 15), rng.integers(6, 12)
        sizes, popularity = rng.integers(1, items + 1, users), rng.random(items) ** 3 + 0.01
        chosen = [rng.choice(items, size, replace=False, p=popularity / popularity.sum()) for size in sizes]
        pairs = [(user, item) for user, own in enumerate(chosen) for item in own]
        if key == "data.core_rounds":  # a chain, of which each round takes the last link, after a block that stays
            pairs = [
                *itertools.product(range(8), range(8)),
                *((user, user - on) for user in range(8, 12) for on in (0, 1)),
            ]
        pairs += [pairs[position] for position in rng.integers(0, len(pairs), 4 if key == "data.duplicates" else 0)]
        pairs = [pairs[position] for position in rng.permutation(len(pairs))]
        columns = {"user": [10 * user + 3 for user, _ in pairs], "item": [7 * item + 1 for _, item in pairs]}
        scale = [np.arange(1, 6), np.arange(1, 11) / 2, np.arange(0, 101), np.arange(2, 5)][rng.integers(4)]
        columns["rating"] = rng.choice(scale, len(pairs))
        if rng.random() < 0.9:
            columns["timestamp"] = rng.integers(0, 10, len(pairs))
        return Interactions.from_frame(pd.DataFrame(columns))

    def write(self, rows):
        """Some of the rows as files of a split, twice; no pair is both in training and in validation."""
        frame, pair = rows.to_frame(), pair_codes(rows)
        part = self._rng.integers(0, 4, pair.max() + 1)[pair]
        for number, (name, own) in itertools.product(
            (1, 2), {"train": (0, 1), "validation": (2,), "test": (3,)}.items()
        ):
            chosen = np.isin(part, own) & (self._rng.random(len(part)) < 0.8)
            frame[chosen if chosen.any() else np.isin(part, own)].to_csv(
                self._folder / f"{name}-{number}.csv", index=False
            )
        for number in (1, 2):
            held = frame[["user", "item"]].drop_duplicates().sample(frac=0.5, random_state=int(self._rng.integers(99)))
            held.assign(fold=np.arange(len(held)) % 2).to_csv(self._folder / f"folds-{number}.csv", index=False)


def enabled(key, rng, settings):
    """The decisions that must be taken in some way for ``key`` to be in effect, one of the ways at random."""
    for when in registry()[key].when:
        conditions = when.conditions if isinstance(when, AnyOf) else (when,)
        if any(rule.decision in settings and rule.holds(settings[rule.decision]) for rule in conditions):
            continue
        ways = [(rule.decision, value) for rule in conditions for value in options(rule.decision) if rule.holds(value)]
        ways = [(decision, value) for decision, value in ways if decision not in settings]
        if ways:
            decision, value = ways[rng.integers(len(ways))]
            settings[decision] = value
            enabled(decision, rng, settings)


def context(key, fixed, rng):
    """The decisions beside ``key``: those that are fixed, those that ``key`` needs, and a few at random."""
    settings = {"relevance.rule": "any", "candidates.base": "all-items", **fixed}
    for rule in (*fixed, key):
        enabled(rule, rng, settings)
    own = [rule for rule in decisions() if possible(rule, fixed["split.strategy"]) and rule not in (key, *settings)]
    for rule in rng.choice(own, rng.integers(0, 6), replace=False):
        settings[str(rule)] = options(rule)[rng.integers(len(options(rule)))]
    return settings


def possible(key, strategy):
    """Whether a decision may be in effect in a strategy, as far as the strategy alone says."""
    needs = [when for when in registry()[key].when if not isinstance(when, AnyOf)]
    return all(when.holds(strategy) for when in needs if when.decision == "split.strategy")


def resolved(settings, key, value, fixed, folder):
    """The protocol, with a value for each decision that needs one; None where it is refused."""
    every = {**needed(), **settings, key: value}
    try:
        made = resolve(every, dict.fromkeys(every, "test"), strict=frozenset({key, *fixed}))
    except ReproError:
        return None
    return replace(made, folder=folder)


@cache
def needed():
    """A value for each decision that has no default, or one for more rows than these."""
    actual = {rule: options(rule)[0] for rule in decisions() if registry()[rule].default not in options(rule)}
    return {**actual, "data.duplicates": "last"}


def outcome(rows, protocol, key):
    """The results that a decision may change; None where the rows cannot be split in this way."""
    try:
        if key in OF_STUDY:
            return in_study(rows, protocol, key)
        prepared, _ = prepare(rows, protocol, SEED)
        split = make_folds(prepared, protocol, SEED)
    except ReproError as error:
        return "duplicates" if "State data.duplicates" in str(error) else None
    table = split.interactions.to_frame().to_numpy().tolist()
    parts = [(fold.train, fold.validation, fold.test) for fold in split.folds]
    held = [[None if part is None else sorted(table[row] for row in part) for part in fold] for fold in parts]
    return [split.removed_items.tolist(), *held]


def in_study(rows, protocol, key):
    """The rows that an algorithm is given, those of trials, or a number that the scale changes."""
    measured = ["nrmse"] if key in OF_SCALE else ["hit@3"]
    plan = make_plan(Study(rows, protocol, ["reference/item-knn"], measured, seed=SEED))
    folds = [fold_data(plan, fold) for fold in plan.split.folds]
    if key == "split.fitted_on":
        return [parts.fitted.digest for parts in folds]
    if key == "split.tuned_on":
        trials = (trial_data(plan, fold) for fold in plan.split.folds if is_tuned(plan, fold))
        return [data.test.to_frame().to_numpy().tolist() for data in trials]
    if key == "data.order":
        return [(parts.train.users.tolist(), parts.train.items.tolist()) for parts in folds]
    if key not in OF_SCALE:
        return [[rows.to_frame().to_numpy().tolist() for rows in (parts.fitted, parts.test)] for parts in folds]
    return predicted(plan, folds[0])


def is_tuned(plan, fold):
    return fold.validation is not None or plan.study.protocol["split.tuned_on"] == "test"


def predicted(plan, parts):
    values = np.random.default_rng(1).random((plan.interactions.n_users, plan.interactions.n_items))
    recommender = ReplayedScores(Scores(values)).checked("given")
    measures = plan.study.measures
    measured = Evaluation(parts, measures, plan.study.protocol, 1, plan.scale).measure(recommender)
    return measured.value(measures[0])[0]


def without_effect(key, fixed, folder):
    """The pairs of values of a decision that are accepted together, and never make a difference."""
    rng, cases = np.random.default_rng(7), Cases(11, folder)
    pairs = set(itertools.combinations(options(key), 2))
    met = set()
    for number in range(MANY):
        if not pairs or (number >= FEW and not met & pairs):
            break
        settings = context(key, fixed, rng)
        accepted = {value: made for value in options(key) if (made := resolved(settings, key, value, fixed, folder))}
        expected = [pair for pair in pairs if all(value in accepted for value in pair)]
        met |= set(expected)
        rows = cases.rows(key)
        if expected and fixed["split.strategy"] in ("files", "fold-table"):
            cases.write(rows)
        actual = {
            value: outcome(rows, accepted[value], key) for value in {value for pair in expected for value in pair}
        }
        for rule, other in expected:
            if None not in (actual[rule], actual[other]) and actual[rule] != actual[other]:
                pairs.remove((rule, other))
    return sorted(map(str, met & pairs))


def own(strategy):
    """The parameters of a splitter, or else the decisions of a split that apply to some strategies and to this one."""
    actual = [
        rule for rule in decisions() if rule.startswith("split.") and registry()[rule].when and possible(rule, strategy)
    ]
    return [rule for rule in actual if "/" not in strategy or rule.count(".") == 2]


def contexts(strategy):
    """Each option of a decision that a strategy, or its splitter, brings along."""
    for key in own(strategy):
        if registry()[key].kind in ("choice", "flag") or key.count(".") == 2:
            for value in options(key):
                yield {"split.strategy": strategy, key: value}


@pytest.mark.parametrize("strategy", strategies())
def test_values_that_a_strategy_accepts_make_different_folds(strategy, tmp_path):
    fixed = {"split.strategy": strategy}
    never = {key: without_effect(key, fixed, tmp_path) for key in decisions() if possible(key, strategy)}
    assert {key: pairs for key, pairs in never.items() if pairs} == {}


SLOW = [pytest.param(rule, marks=[] if "/" in rule else pytest.mark.slow) for rule in strategies()]


@pytest.mark.parametrize("strategy", SLOW)
def test_decisions_without_effect_beside_another_are_refused(strategy, tmp_path):
    never = [
        (fixed, key, pairs)
        for fixed in contexts(strategy)
        for key in own(strategy)
        if key not in fixed and (pairs := without_effect(key, fixed, tmp_path))
    ]
    assert never == []


@pytest.mark.parametrize("key", decisions())
def test_some_strategy_accepts_any_two_values(key, tmp_path):
    rng = np.random.default_rng(3)
    pairs = set(itertools.combinations(options(key), 2))
    for strategy in [rule for rule in strategies() if possible(key, rule)] * 5:
        if not pairs:
            break
        fixed = {"split.strategy": strategy}
        settings = context(key, fixed, rng)
        accepted = [value for value in options(key) if resolved(settings, key, value, fixed, tmp_path)]
        pairs -= set(itertools.combinations(accepted, 2))
    assert len(options(key)) > 1 and pairs == set()


def test_any_two_strategies_make_different_folds(tmp_path):
    cases, pairs = Cases(2, tmp_path), set(itertools.combinations(strategies(), 2))
    settings = {"relevance.rule": "any", "candidates.base": "all-items"}
    made = {rule: resolved(settings, "split.strategy", rule, {}, tmp_path) for rule in strategies()}
    for _ in range(20):
        rows = cases.rows("split.strategy")
        cases.write(rows)
        actual = {
            rule: outcome(rows, made[rule], "split.strategy") for rule in {rule for pair in pairs for rule in pair}
        }
        pairs = {
            (rule, two) for rule, two in pairs if None in (actual[rule], actual[two]) or actual[rule] == actual[two]
        }
    assert pairs == set()
