"""The values that an average counts: studies, evaluate, the audit's simulation and stored tables against plain Python.

The oracle knows rules, lists and sets only. Users lack a list, relevant items, both, or negative items, at random.
"""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import repro
from repro.audits.hypotheses.simulation import Simulation
from repro.audits.hypotheses.space import Space
from repro.audits.questions.question import Question, User
from repro.errors import ProtocolError, ReproError
from repro.evaluation.evaluation import Evaluation
from repro.evaluation.fold import FoldData
from repro.evaluation.kept_scores import ReplayedScores
from repro.evaluation.metrics import metric_named, metrics, parse_measure
from repro.protocol import Protocol, registry, resolve
from repro.runs.fold_pooling import stored_average

ITEMS = (3, 11, 24, 105, 7)
LIKED, DISLIKED = 5.0, 1.0
RULES = ("no_relevant", "no_list", "neither", "no_negatives", "nobody")
FILLERS = {"zero": 0.0, "half": 0.5, "one": 1.0, "nan": math.nan}
MEASURES = ("recall@2", "auc", "fallout@2", "specificity@2", "mpr")


# --- the oracle -----------------------------------------------------------------------------------------------


def of_list(name, listed, relevant):
    """The value of a list that has relevant items; None where it lacks negative ones that it needs."""
    others = [item for item in listed if item not in relevant]
    if name == "recall@2":
        return sum(item in relevant for item in listed[:2]) / len(relevant)
    if name == "mpr":
        n = len(listed)
        positions = [50.0 if n == 1 else 100 * listed.index(item) / (n - 1) for item in listed if item in relevant]
        positions += [100.0] * (len(relevant) - len(positions))
        return sum(positions) / len(positions)
    if name == "specificity@2":
        wrong = of_list("fallout@2", listed, relevant)
        return None if wrong is None else 1 - wrong
    if not listed:
        return 0.0
    if not others:
        return None
    if name == "fallout@2":
        return sum(item not in relevant for item in listed[:2]) / len(others)
    won = sum(good in listed and listed.index(good) < listed.index(bad) for good in relevant for bad in others)
    return won / (len(relevant) * len(others))


EMPTY = {"recall@2": 0.0, "auc": 0.0, "fallout@2": 0.0, "specificity@2": 1.0, "mpr": 100.0}


def counts(name, listed, relevant, rules):
    """The value that counts for a user: a number, or None where the user is left out."""

    def filled(rule):
        rule = rules["no_relevant"] if rule == "no-relevant" else rule
        return None if rule == "skip" else FILLERS[rule]

    if not relevant and not listed:
        if rules["neither"] == "no-list":
            return None if rules["no_list"] == "skip" else EMPTY[name]
        return filled(rules["neither"])
    if not relevant:
        return filled(rules["no_relevant"])
    if not listed and rules["no_list"] == "skip":
        return None
    value = of_list(name, listed, relevant)
    return filled(rules["no_negatives"]) if value is None else value


def expected(name, users, rules):
    values = [counts(name, user["list"], user["relevant"], rules) for user in users]
    values = [value for value in values if value is not None]
    if values:
        return sum(values) / len(values)
    return {"nan": math.nan, "zero": 0.0, "error": "error"}[rules["nobody"]]


# --- the ways to a number -------------------------------------------------------------------------------------


def drawn(rng):
    """Users with lists of distinct scores, over all items, and liked and disliked held-out items."""
    kinds = rng.choice([("plain", "no-relevant", "no-list", "neither", "no-negatives")] * 3 + [("neither", "no-list")])
    users = []
    for number in range(rng.randint(1, 4)):
        kind = rng.choice(kinds)
        listed = [] if kind in ("no-list", "neither") else rng.sample(ITEMS, len(ITEMS))
        held_out = list(ITEMS) if kind == "no-negatives" else rng.sample(ITEMS, rng.randint(1, 3))
        liked = [] if kind in ("no-relevant", "neither") else held_out[: 1 if kind == "plain" else None]
        users.append({"id": 10 * number + 7, "list": listed, "held out": held_out, "relevant": set(liked)})
    return users


def rating(user, item):
    return LIKED if item in user["relevant"] else DISLIKED


def by_evaluate(name, users, protocol):
    rows = [(u["id"], item, float(-at)) for u in users for at, item in enumerate(u["list"])]
    recommended = pd.DataFrame(rows, columns=["user", "item", "score"])
    truth = pd.DataFrame(
        [(u["id"], item, rating(u, item)) for u in users for item in u["held out"]], columns=["user", "item", "rating"]
    )
    return float(repro.evaluate(recommended, truth, protocol, [name])["value"].iloc[0])


def question_of(users, k):
    made = tuple(
        User(
            u["id"],
            {item: float(len(u["list"]) - at) for at, item in enumerate(u["list"])},
            tuple((item, rating(u, item)) for item in u["held out"]),
        )
        for u in users
    )
    crowd = User(99, train=tuple((item, LIKED) for item in ITEMS))
    return Question((*made, crowd), ITEMS, k)


def by_audit(name, users, protocol):
    metric, _, k = name.partition("@")
    space = Space(metric_named(metric))
    values = {key: value for key, value in protocol.items() if key in space.decisions}
    outcome = Simulation(question_of(users, int(k) if k else None), space).outcome(space.hypothesis(values))
    if outcome.refusal:
        raise ReproError(outcome.refusal)
    return outcome.value


def by_study(name, users, protocol, folder):
    """The number of a study's cell, after that from the tables that it stores was found to be the same."""
    case = question_of(users, None).case
    parts = FoldData(case.test, case.train, case.test, None, np.empty(0, dtype=np.int32))
    measure = parse_measure(name, protocol, metrics())
    evaluation = Evaluation(parts, [measure], protocol, 0, (1.0, 5.0))
    measured = evaluation.measure(ReplayedScores(case.scores).checked("given"))
    pq.write_table(measured.tables["values"], folder / "values.parquet")
    stored, _ = stored_average(measure, [{"values": folder / "values.parquet"}], protocol, (1.0, 5.0))
    value, users_counted = measured.values[measure.full_name]
    assert stored.value == pytest.approx(value, abs=0, nan_ok=True)
    assert stored.users_counted == users_counted
    return value


BASE = {
    "relevance.rule": "threshold",
    "relevance.threshold": 3.0,
    "split.strategy": "ratio",
    "split.unseen_users": "keep",
    "candidates.base": "all-items",
    "candidates.exclude_train": "none",
    "missing.rank": "drop",
}


def protocols():
    """Every combination of the rules that the resolver accepts."""
    options = [[option.value for option in registry()[f"average.{rule}"].options] for rule in RULES]
    for values in itertools.product(*options):
        settings = {**BASE, **{f"average.{rule}": value for rule, value in zip(RULES, values, strict=True)}}
        try:
            yield dict(zip(RULES, values, strict=True)), resolve(settings, {})
        except ProtocolError:
            continue


def test_all_ways_to_a_number_follow_the_rules_in_their_order(tmp_path):
    rng = random.Random(0)
    accepted = list(protocols())
    met = set()
    for rules, protocol in rng.sample(accepted, 150):
        name, users = rng.choice(MEASURES), drawn(rng)
        target = expected(name, users, rules)
        for way in (by_evaluate, by_audit, lambda *request: by_study(*request, tmp_path)):
            if target == "error":
                with pytest.raises(ReproError, match="nobody to average"):
                    way(name, users, protocol)
                met.add("error")
                continue
            assert way(name, users, protocol) == pytest.approx(target, abs=1e-12, nan_ok=True), (name, users, rules)
        met |= set(rules.items())
    assert met >= {"error", *((rule, o.value) for rule in RULES for o in registry()[f"average.{rule}"].options)}


# --- options without an effect of their own -------------------------------------------------------------------


def test_no_two_accepted_rules_mean_the_same():
    """Whatever user is met: two accepted sets of rules differ for one of the metrics."""
    kinds = [([], {3}), ([], set()), ([3, 11], set()), ([3], {3}), ([11, 3], {3})]

    def meaning(rules):
        one_each = [(name, counts(name, listed, relevant, rules)) for name in MEASURES for listed, relevant in kinds]
        return repr((one_each, rules["nobody"]))

    actual: dict[str, dict[str, str]] = {}
    for rules, _ in protocols():
        assert actual.setdefault(meaning(rules), rules) is rules, (rules, actual[meaning(rules)])
    assert len(actual) > 300


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        ({"neither": "skip"}, 'use "no-relevant" or "no-list"'),
        ({"neither": "zero", "no_relevant": "zero"}, 'use "no-relevant", which means the same here'),
        ({"neither": "no-list", "no_list": "skip"}, 'use "no-relevant", which means the same here'),
        ({"neither": "one", "over": "pooled"}, 'average.over is not "pooled"'),
        ({"no_negatives": "half", "over": "pooled"}, "a pooled average has no values of users"),
        ({"no_negatives": "nan", "no_relevant": "nan"}, 'use "no-relevant", which means the same here'),
    ],
)
def test_an_option_that_repeats_another_is_refused_with_advice(settings, advice):
    changes = {f"average__{key}": value for key, value in settings.items()}
    with pytest.raises(ProtocolError) as error:
        Protocol.load("random-5fold", **changes)
    assert "has no effect of its own here" in str(error.value) and advice in str(error.value)


def test_a_list_for_each_relevant_item_leaves_nobody_with_neither():
    with pytest.raises(ProtocolError, match=r'average\.neither = "one" has no effect here'):
        Protocol.load("cremonesi-2010-1r", average__neither="one")


# --- what metrics declare -------------------------------------------------------------------------------------


def ranking_metric_values(recommended, truth):
    """Each metric that depends on relevance, its name, and its values of users; None if it cannot be computed."""
    for metric in metrics().values():
        if metric.kind != "ranking" or metric.undefined == "left-out" or metric.parts:
            continue
        name = metric.name + ("@2" if metric.cutoff == "required" else "")
        try:
            yield metric, name, repro.evaluate(recommended, truth, None, [name], train=truth, per_user=True)
        except ReproError:
            yield metric, name, None


def test_metrics_declare_what_an_empty_list_counts():
    """For each metric that depends on relevance: the value of an empty list with one relevant item."""
    recommended = pd.DataFrame({"user": [2], "item": [11], "score": [1.0]})
    truth = pd.DataFrame({"user": [1, 2], "item": [3, 24], "rating": [LIKED, LIKED]})
    checked = 0
    for metric, name, values in ranking_metric_values(recommended, truth):
        if values is None:
            continue  # it needs features or earlier lists
        declared = metric.of_empty_list(parse_measure(name, Protocol.load("random-5fold"), metrics()).variants)
        assert values.set_index("user")["value"][1] == declared, name
        checked += 1
    assert checked >= 15


def test_metrics_declare_whether_they_need_negatives():
    """A list of relevant items only has no value exactly under metrics that declare so."""
    recommended = pd.DataFrame({"user": [1, 1, 2, 2], "item": [3, 11, 3, 11], "score": [2.0, 1.0, 2.0, 1.0]})
    truth = pd.DataFrame({"user": [1, 1, 2], "item": [3, 11, 11], "rating": [LIKED, LIKED, LIKED]})
    undefined = set()
    for metric, name, values in ranking_metric_values(recommended, truth):
        without = values is not None and values["user"].tolist() == [2]
        assert without == metric.negatives, name
        undefined |= {name} if without else set()
    assert undefined == {"auc", "fallout@2", "specificity@2"}
