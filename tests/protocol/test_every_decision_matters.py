"""No decision is accepted, and has no effect: for any two options there is a case in which a number differs.

Cases are random ratings and scores with everything in them that a decision may be about. Where two options never
differ, one of them must be refused. Decisions about data and splits, which act before there are scores, and files are
not covered here.
"""

import itertools
import math

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array

from repro.data.interactions import Interactions
from repro.errors import ReproError
from repro.evaluation.evaluation import Evaluation
from repro.evaluation.fold import FoldData
from repro.evaluation.kept_scores import ReplayedScores
from repro.evaluation.metrics import metrics, parse_measure
from repro.plugin import FALLBACK, Scores
from repro.protocol import AnyOf, registry, resolve
from repro.runs.fold_pooling import pooled_value

FAMILIES = ("relevance", "candidates", "missing", "scores", "ties", "average", "predict", "metric")
LISTS = ("ndcg[gain=linear]@3", "specificity@2", "mpr", "catalogue-coverage@3", "half-life")
PREDICTIONS = ("rmse",)
BASE = {
    "split.strategy": "ratio",
    "split.unseen_users": "keep",
    "relevance.rule": "threshold",
    "relevance.threshold": 3.0,
    "split.validation_ratio": 0.1,
    "candidates.base": "all-items",
}
# Numbers that fit cases of a dozen items.
SMALL = {
    "candidates.sample_size": (2, 3),
    "candidates.strata_count": (2, 3),
    "metric.time-novelty.time": (20.0, 30.0),
    "metric.ndcg.weights": ("1 0.5 0.25", "1 0.9"),
}
# What a case of scores cannot have: files, rows of recommendations, and lists of earlier times.
BESIDE = {"candidates.base": ("file",), "ties.break": ("rows", "rows-desc", "file", "file-desc")}
OF_FILES = ("ties.file_relevant",)
ROUNDS = 400


def decisions():
    actual = [rule for rule in registry().values() if rule.id.partition(".")[0] in FAMILIES and rule.kind != "path"]
    ids = [rule.id for rule in actual if rule.id not in OF_FILES]
    return [key for key in ids if len(options(key)) > 1 and not earlier(key)]


def options(key):
    return [value for value in SMALL.get(key, registry()[key].tried) if value not in BESIDE.get(key, ())]


def earlier(key):
    """Whether a decision is about lists of earlier times, of which a fold has none."""
    return key.startswith("metric.") and "previous" in metrics()[key.split(".")[1]].needs


def metrics_for(key):
    """The measures that a decision may bear on."""
    if key.startswith("metric."):
        metric = metrics()[key.split(".")[1]]
        cuts = {"required": ("@2", "@20"), "optional": ("", "@2", "@20"), "none": ("",)}
        return tuple(metric.name + cut for cut in cuts[metric.cutoff])
    return PREDICTIONS if key.startswith("predict.") else LISTS


class Cases:
    """Random folds: ratings in halves; scores tie, nearly tie, are missing, made up, infinite or not positive."""

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)

    def fold(self):
        rng = self._rng
        users, items = 6, 12  # the last one is not tested
        ids = np.sort(rng.choice(200, items, replace=False))
        train, test = [], []
        no_likes = rng.random() < 0.15  # likes anything
        content = not no_likes and rng.random() < 0.5  # are all others: each likes something
        nothing = rng.random() < 0.4  # is what the first user likes, or has scores for
        for user in range(users - 1):
            mixed = rng.permutation(items)
            n_test = rng.integers(1, 6)
            liked = rng.random() < 0.8 and not (user == 0 and nothing)
            high = 10 if liked and not no_likes else 5
            test += [(user, item, rng.integers(1, high + 1) / 2) for item in mixed[:n_test]]
            train += [(user, item, rng.integers(1, 11) / 2) for item in mixed[n_test : n_test + rng.integers(0, 6)]]
            if content and not (user == 0 and nothing):
                test[-n_test] = (*test[-n_test][:2], 5.0)
            if not no_likes and liked and rng.random() < 0.15:  # everything is relevant
                test = [row for row in test if row[0] != user] + [(user, item, 5.0) for item in range(items)]
                train = [row for row in train if row[0] != user]
        held = [(user, item, 4.0) for user in range(users - 1) for item in self._untouched(user, train + test, items)]
        train += [(users - 1, item, 4.0) for item in rng.permutation(items)[:8]]
        complete, train, test, validation = (
            self._rows(rows, users, ids) for rows in (train + test + held, train, test, held)
        )
        features = csr_array(rng.integers(0, 3, (items, 4)).astype(float))
        parts = FoldData(complete, train, test, validation, np.empty(0, dtype=np.int32), features)
        return parts, self._scores(users, items, nothing)

    def _untouched(self, user, rows, items):
        """An item for validation that the user has in no other part, if there is one."""
        free = sorted(set(range(items)) - {item for rule, item, _ in rows if rule == user})
        return self._rng.permutation(free)[:1]

    def _rows(self, rows, users, ids):
        table = np.array(rows, dtype=float).reshape(-1, 3)
        times = self._rng.integers(0, 50, len(table))
        return Interactions(
            table[:, 0].astype(np.int32),
            table[:, 1].astype(np.int32),
            table[:, 2],
            times,
            np.arange(users),
            ids,
            explicit=True,
        )

    def _scores(self, users, items, nothing):
        rng = self._rng
        values = rng.integers(-1, 7, (users, items)) / 1.0
        near = rng.choice([0.0, 0.0, 1e-9, 3e-7, 4e-5, 4e-4, 4e-3, 0.04], values.shape)
        values = values + near * rng.choice([-1, 1], values.shape)
        odd = rng.random(values.shape)
        values[odd < 0.12] = np.nan
        values[(odd >= 0.12) & (odd < 0.16)] = rng.choice([np.inf, -np.inf])
        if rng.random() < 0.5:
            values[rng.integers(users)] = np.nan
        if rng.random() < 0.5:  # a plain case
            values = rng.permutation(users * items).reshape(users, items) / 7.0 + 0.3
        if nothing:
            values[0] = np.nan
        state = np.where(rng.random(values.shape) < 0.1, FALLBACK, 0).astype(np.uint8)
        return Scores(values, state)


def numbers(folds, protocol, names, folder):
    """The numbers of a study of these folds, and the kinds of its errors."""
    actual = []
    for name in names:
        try:
            measure = parse_measure(name, protocol, metrics())
            values, cells = [], []
            for number, (parts, scores) in enumerate(folds):
                recommender = ReplayedScores(scores).checked("given")
                measured = Evaluation(parts, [measure], protocol, 1, (0.5, 5.0)).measure(recommender)
                values.append(measured.value(measure)[0])
                if len(folds) > 1:
                    cells.append({key: folder / f"{number}-{key}.parquet" for key in measured.tables})
                    for key, table in measured.tables.items():
                        pq.write_table(table, cells[-1][key])
            value = math.fsum(values) / len(values)
            if len(folds) > 1 and protocol["average.folds"] == "pooled":
                pooled = pooled_value(measure, cells, protocol, (0.5, 5.0))
                value = value if pooled is None else pooled[0]
            actual.append(round(value, 9) if math.isfinite(value) else repr(value))
        except ReproError as error:
            actual.append(type(error).__name__)
    return tuple(actual)


def enabled(key, rng, settings):
    """The decisions that must be taken in some way for ``key`` to be in effect, one of the ways at random."""
    for when in registry()[key].when:
        conditions = when.conditions if isinstance(when, AnyOf) else (when,)
        if any(rule.decision in settings and rule.holds(settings[rule.decision]) for rule in conditions):
            continue
        rule = conditions[rng.integers(len(conditions))]
        values = [value for value in options(rule.decision) if rule.holds(value)]
        settings[rule.decision] = values[rng.integers(len(values))]
        enabled(rule.decision, rng, settings)


def context(key, rng, fixed=()):
    """The decisions beside ``key``: a few at random, and those that it needs."""
    settings = {**BASE, **dict(fixed)}
    if key != "missing.rank" and rng.random() < (0.9 if key.startswith("average.") else 0.6):
        settings["missing.rank"] = "drop"  # so that lists are short, or empty
    if key == "metric.practical-accuracy.of":
        settings["average.no_list"] = "skip"
    candidates = [
        rule for rule in decisions() if rule != key and rule not in settings and not rule.startswith("metric.")
    ]
    own = [
        rule
        for rule in decisions()
        if rule != key and rule.startswith("metric.") and key.startswith(rule.rpartition(".")[0])
    ]
    if key.startswith("average."):
        own = [rule for rule in candidates if rule.startswith("average.")]
    for rule in [*rng.choice(candidates, rng.integers(0, 4), replace=False), *(own if rng.random() < 0.5 else [])]:
        values = options(rule)
        settings[str(rule)] = values[rng.integers(len(values))]
    enabled(key, rng, settings)
    return settings


def resolved(settings, key, value):
    """The protocol, with a number for each decision that needs one; None where it is refused."""
    needed = (
        rule.id for rule in registry().values() if rule.required and rule.kind in ("integer", "number", "weights")
    )
    numbers = {rule: options(rule)[0] for rule in needed if options(rule)}
    try:
        every = {**numbers, **settings, key: value}
        return resolve(every, dict.fromkeys(every, "test"), strict=frozenset({key}))
    except ReproError:
        return None


def same(key, folder, fixed=(), rounds=ROUNDS):
    """The pairs of options of a decision that were accepted together, and never gave two numbers."""
    rng, cases = np.random.default_rng(7), Cases(11)
    pairs = {frozenset(map(str, pair)) for pair in itertools.combinations(options(key), 2)}
    met = set()
    folds = 2 if key in ("average.folds", "average.over") else 1
    for _ in range(rounds):
        if not pairs:
            break
        settings = context(key, rng, fixed)
        if any(settings[rule] != value for rule, value in dict(fixed).items()):
            return [], []  # the decision has no effect in this context
        accepted = {str(value): protocol for value in options(key) if (protocol := resolved(settings, key, value))}
        case = [cases.fold() for _ in range(folds)]
        expected = {value for pair in pairs if pair <= accepted.keys() for value in pair}
        actual = {value: numbers(case, accepted[value], metrics_for(key), folder) for value in sorted(expected)}
        for pair in [pair for pair in pairs if pair <= actual.keys()]:
            met.add(pair)
            rule, other = (actual[value] for value in pair)
            if rule != other:
                pairs.remove(pair)
    return sorted(sorted(pair) for pair in pairs & met), sorted(sorted(pair) for pair in pairs - met)


@pytest.mark.parametrize("key", decisions())
def test_any_two_options_of_a_decision_differ_in_some_case(key, tmp_path):
    assert same(key, tmp_path) == ([], [])


CONTEXTS = [
    {"average.over": "users", "candidates.relevant": "all"},
    {"average.over": "users", "candidates.relevant": "one"},
    {"average.over": "lists", "candidates.relevant": "all", "average.folds": "pooled"},
    {"average.over": "lists", "candidates.relevant": "one"},
    {"average.over": "pooled", "candidates.relevant": "all"},
    {"average.over": "pooled", "candidates.relevant": "one"},
]
IN_CONTEXT = [key for key in decisions() if not key.startswith(("metric.", "predict."))]


@pytest.mark.slow
@pytest.mark.parametrize("fixed", CONTEXTS, ids=lambda fixed: "-".join(fixed.values()))
@pytest.mark.parametrize("key", IN_CONTEXT)
def test_two_options_that_a_context_accepts_differ_in_it(key, fixed, tmp_path):
    if key not in fixed:
        never, _ = same(key, tmp_path, tuple(fixed.items()))
        assert never == []
