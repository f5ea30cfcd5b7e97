"""Errata by arithmetic: what no computation can give is found, and what rounding explains is never called one.

True tables come from an evaluator in plain Python, written from the formulas of the metrics.
"""

import math
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.evaluation.metrics import metrics, parse_measure
from repro.protocol import Protocol
from repro.replications.claims.claim import Cell, CellKey
from repro.replications.claims.printed import Rounding, Tolerance, read_printed
from repro.replications.errata.contradictions import conflicts, numbers_under, out_of_range
from repro.replications.errata.granularity import FoldLists, steps_of

CUTS = (1, 3, 10)
BASE = Protocol.load("random-5fold")


def under(**changes):
    return Protocol.load("random-5fold", **changes)


def cells(table):
    return [Cell(CellKey("A", name), read_printed(text), Tolerance()) for name, text in table.items()]


def result(table, protocol=BASE, folds=1, digits="rounded"):
    claimed = numbers_under(cells(table), protocol, Rounding(digits), folds)
    ranges = [why for number in claimed if (why := out_of_range(number))]
    return ranges + [conflict.why for conflict in conflicts(claimed)]


# -- an evaluator in plain Python -----------------------------------------------------------------------------------


def of_list(hits, relevant, k):
    """Numerator and denominator of each metric, of a list whose ranks ``hits`` (from 1) are relevant."""
    inside = [rank for rank in hits if rank <= k]
    gain = sum(1 / math.log2(rank + 1) for rank in inside)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, relevant) + 1))
    return {
        f"precision@{k}": (len(inside), k),
        f"recall@{k}": (len(inside), relevant),
        f"f1@{k}": (2 * len(inside), k + relevant),
        f"hit@{k}": (int(bool(inside)), 1),
        f"rr@{k}": (1 / inside[0] if inside else 0.0, 1),
        f"ap@{k}": (sum(n / rank for n, rank in enumerate(inside, 1)), relevant),
        f"ndcg@{k}": (gain, ideal),
    }


def averaged(folds, over, no_relevant):
    """Each fold's average of each metric, then their mean; F1 of the averages as well."""
    names = [name for k in CUTS for name in of_list([], 1, k)]
    per_fold = []
    for lists in folds:
        values = {}
        for name in names:
            k = int(name.partition("@")[2])
            ratios = [of_list(hits, relevant, k)[name] for hits, relevant in lists if relevant]
            if over == "pooled":
                values[name] = math.fsum(n for n, _ in ratios) / math.fsum(d for _, d in ratios)
            else:
                each = [n / d for n, d in ratios]
                each += {"skip": [], "zero": [0.0], "one": [1.0]}[no_relevant] * (len(lists) - len(ratios))
                values[name] = math.fsum(each) / len(each)
        for k in CUTS:
            p, r = values[f"precision@{k}"], values[f"recall@{k}"]
            values[f"f1[average=means]@{k}"] = 2 * p * r / (p + r) if p + r else 0.0
        per_fold.append(values)
    return {name: math.fsum(fold[name] for fold in per_fold) / len(per_fold) for name in per_fold[0]}


@st.composite
def ranked_list(draw):
    """Ranks of hits among the first 12, and how many items are relevant: at least as many as there are hits."""
    hits = sorted(draw(st.sets(st.integers(1, 12), max_size=6)))
    return hits, draw(st.integers(max(1, len(hits)), len(hits) + 8))


@st.composite
def study(draw):
    folds = draw(st.lists(st.lists(ranked_list(), min_size=1, max_size=7), min_size=1, max_size=3))
    over = draw(st.sampled_from(("users", "pooled")))
    no_relevant = "skip" if over == "pooled" else draw(st.sampled_from(("skip", "zero", "one")))
    if no_relevant != "skip":
        folds = [[*fold, *[([], 0)] * draw(st.integers(0, 2))] for fold in folds]
    return folds, over, no_relevant


def printed(value, decimals, how):
    return str(Decimal(repr(value)).quantize(Decimal(1).scaleb(-decimals), rounding=how))


PRINTING = st.sampled_from(
    [
        (ROUND_HALF_EVEN, "rounded"),
        (ROUND_HALF_UP, "rounded"),
        (ROUND_HALF_UP, "unknown"),
        (ROUND_DOWN, "unknown"),
        (ROUND_DOWN, "truncated"),
    ]
)


@settings(max_examples=80, deadline=None)
@given(study(), st.integers(1, 5), PRINTING)
def test_a_true_table_has_no_errata(made, decimals, printing):
    folds, over, no_relevant = made
    how, digits = printing
    protocol = under(average__over=over, average__no_relevant=no_relevant)
    table = {name: printed(value, decimals, how) for name, value in averaged(folds, over, no_relevant).items()}
    assert result(table, protocol, len(folds), digits) == []
    for name, text in table.items():
        measure = parse_measure(name, protocol, metrics())
        if measure.parts:
            continue
        k = measure.cutoff
        lists = [
            FoldLists(
                np.arange(len(fold)),
                np.array(
                    [of_list(hits, relevant, k)[name][1] if relevant else 0 for hits, relevant in fold], dtype=float
                ),
                np.full(len(fold), 12),
                np.zeros(len(fold), dtype=np.int32),
            )
            for fold in folds
        ]
        steps = steps_of(measure, protocol, lists)
        assert steps is None or steps.objection(read_printed(text), Rounding(digits), name) == ""


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.floats(-4, 4), min_size=1, max_size=6), min_size=1, max_size=3),
    st.integers(1, 5),
    PRINTING,
)
def test_true_errors_have_no_errata(folds, decimals, printing):
    how, digits = printing
    mean = lambda numbers: math.fsum(numbers) / len(numbers)  # noqa: E731
    mse = [mean([error**2 for error in fold]) for fold in folds]
    mae = [mean([abs(error) for error in fold]) for fold in folds]
    values = {"mse": mean(mse), "rmse": mean([math.sqrt(error) for error in mse]), "mae": mean(mae)}
    table = {name: printed(value, decimals, how) for name, value in values.items()}
    assert result(table, BASE, len(folds), digits) == []


@settings(max_examples=50, deadline=None)
@given(st.lists(ranked_list(), min_size=1, max_size=7), st.sampled_from((0.01, -0.01)))
def test_a_wrong_f1_of_a_pooled_average_is_always_found(lists, off):
    values = averaged([lists], "pooled", "skip")
    if not 0.02 < values["f1@10"] < 0.9:
        return
    names = ("precision@10", "recall@10", "f1@10")
    table = {name: printed(values[name], 4, ROUND_HALF_EVEN) for name in names}
    table["f1@10"] = printed(values["f1@10"] + off, 4, ROUND_HALF_EVEN)
    message = result(table, under(average__over="pooled"))
    assert len(message) == 1 and "it is their harmonic mean" in message[0]


POOLED = {"average__over": "pooled"}
ONE_RELEVANT = Protocol.load("cremonesi-2010-1r")


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"rmse": "0.70", "mae": "0.75"}, {}, "is below mae (0.75)"),
        ({"mse": "0.40", "rmse": "0.70"}, {}, "is below the square of rmse"),
        ({"mse": "0.60", "rmse": "0.70"}, {}, "is above the square of rmse"),
        ({"mse": "0.60", "rmse": "0.70"}, {"folds": 5}, ""),
        ({"hit@10": "0.11", "precision@10": "0.21"}, {}, "is below precision@10"),
        ({"hit@10": "0.11", "precision@10": "0.21"}, {"protocol": under(**POOLED)}, "is below precision@10"),
        ({"hit@10": "0.50", "precision@10": "0.02"}, {}, "the mean number of hits"),
        ({"hit@10": "0.30", "precision@10": "0.05"}, {}, ""),
        ({"hit@10": "0.30", "precision@10": "0.05"}, {"protocol": ONE_RELEVANT}, "with one relevant item"),
        ({"hit@10": "0.50", "precision@10": "0.05"}, {"protocol": ONE_RELEVANT}, ""),
        # first hits: 0.2 at rank 1, 0.3 at rank 2 at the earliest: 0.35
        ({"hit@1": "0.200", "hit@10": "0.500", "rr@10": "0.360"}, {}, "the maximum that"),
        ({"hit@1": "0.200", "hit@10": "0.500", "rr@10": "0.350"}, {}, ""),
        # 0.2 at rank 1, 0.3 at rank 10 at the latest: 0.23
        ({"hit@1": "0.200", "hit@10": "0.500", "rr@10": "0.220"}, {}, "the minimum that"),
        ({"hit@1": "0.200", "hit@10": "0.500", "rr@10": "0.230"}, {}, ""),
        # the harmonic mean of 0.2 and 0.3 is 0.24
        ({"precision@10": "0.200", "recall@10": "0.300", "f1@10": "0.245"}, {}, "is above the harmonic mean"),
        ({"precision@10": "0.200", "recall@10": "0.300", "f1@10": "0.150"}, {}, ""),
        ({"precision@10": "0.200", "recall@10": "0.300", "f1@10": "0.150"}, {"protocol": under(**POOLED)}, "harmonic"),
        ({"precision@10": "0.200", "recall@10": "0.300", "f1@10": "0.240"}, {"protocol": under(**POOLED)}, ""),
        ({"precision@10": "0.200", "recall@10": "0.300", "f1[average=means]@10": "0.235"}, {}, "harmonic mean of"),
        ({"precision@10": "0.200", "recall@10": "0.300", "f1[average=means]@10": "0.235"}, {"folds": 5}, ""),
        # F1 is at least 2 / 11 of recall, where every list has one relevant item
        ({"precision@10": "0.040", "recall@10": "0.300", "f1@10": "0.050"}, {}, "the minimum that"),
        ({"recall@5": "0.40", "recall@10": "0.30"}, {}, "is above recall@10"),
        ({"recall@5": "0.40", "recall@10": "0.30"}, {"protocol": under(**POOLED)}, "is above recall@10"),
        ({"precision@5": "0.40", "precision@10": "0.10"}, {}, "5 x precision@5 (0.40) = 2 is above"),
        ({"precision@5": "0.10", "precision@10": "0.90"}, {}, "is more than 5 above"),
        ({"precision@5": "0.40", "precision@10": "0.20"}, {}, ""),
        ({"ndcg@10": "0.01", "precision@10": "0.30"}, {}, "with all hits at the end"),
        ({"precision@10": "1.2"}, {}, "precision lies between 0 and 1: 1.2 is more"),
        ({"precision@10": "1.2"}, {"protocol": under(**POOLED)}, "precision lies between 0 and 1: 1.2 is more"),
        # what rounding explains is none: 0.7045 prints as 0.70 and 0.71 is 0.7050 at the least, but 0.705 does both
        ({"rmse": "0.70", "mae": "0.71"}, {}, ""),
        ({"hit@1": "0.33", "precision@1": "0.34"}, {"digits": "unknown"}, ""),
    ],
)
def test_what_is_at_odds_is_found_and_nothing_else(table, options, message):
    whys = result(table, **options)
    assert bool(whys) == bool(message), whys
    assert all(message in why for why in whys[:1])


# -- steps ----------------------------------------------------------------------------------------------------------


@st.composite
def lists_of_folds(draw):
    """Folds of lists with 0 to 4 relevant items, and a metric with a cut-off of at most 3."""
    folds = draw(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=3), min_size=1, max_size=2))
    name = draw(st.sampled_from(("hit", "precision", "recall", "f1")))
    return folds, name, draw(st.integers(1, 3))


@settings(max_examples=60, deadline=None)
@given(lists_of_folds(), st.sampled_from((("users", "skip"), ("users", "zero"), ("users", "one"), ("pooled", "skip"))))
def test_the_steps_of_an_average_are_all_that_hits_can_give(made, averaging):
    """Against all numbers of hits that lists can have, for every number of two decimals."""
    folds, name, k = made
    over, rule = averaging
    if any(not any(fold) for fold in folds) and rule == "skip":
        return
    protocol = under(average__over=over, average__no_relevant=rule)
    measure = parse_measure(f"{name}@{k}", protocol, metrics())

    def ratio(hits, relevant):
        return {
            "hit": (hits, 1),
            "precision": (hits, k),
            "recall": (hits, relevant),
            "f1": (2 * hits, k + relevant),
        }[name]

    def most(relevant):
        return 1 if name == "hit" else k if name in ("precision", "f1") else min(k, relevant)

    def average(lists, hits):
        ratios = [ratio(h, r) for h, r in zip(hits, lists, strict=True) if r]
        if over == "pooled":
            return Fraction(sum(n for n, _ in ratios), sum(d for _, d in ratios))
        extra = [] if rule == "skip" else [Fraction(rule == "one")] * (len(lists) - len(ratios))
        every = [Fraction(*ratio) for ratio in ratios] + extra
        return sum(every) / len(every)

    reached = {Fraction(0)}
    for lists in folds:
        own = {average(lists, hits) for hits in product(*(range((most(r) if r else 0) + 1) for r in lists))}
        reached = {total + average / len(folds) for total in reached for average in own}
    given_lists = [
        FoldLists(
            np.arange(len(lists)),
            np.array([ratio(0, r)[1] if r else 0 for r in lists], dtype=float),
            np.full(len(lists), 5),
            np.zeros(len(lists), dtype=np.int32),
        )
        for lists in folds
    ]
    steps = steps_of(measure, protocol, given_lists)
    if steps is None:
        assert not any(r for lists in folds for r in lists)
        return
    for number in range(101):
        text = f"{number / 100:.2f}"
        there = any(abs(average - Fraction(number, 100)) <= Fraction(1, 200) for average in reached)
        assert (steps.objection(read_printed(text), Rounding("rounded"), "x") == "") == there, text


def three_users(metric, denominators, **changes):
    protocol = under(**changes)
    lists = FoldLists(np.arange(3), np.array(denominators, dtype=float), np.full(3, 20), np.zeros(3, dtype=np.int32))
    return steps_of(parse_measure(metric, protocol, metrics()), protocol, [lists])


def test_precision_over_three_users_is_a_multiple_of_one_thirtieth():
    steps = three_users("precision@10", [10, 10, 10])
    assert steps.unit == Fraction(1, 30)
    message = steps.objection(read_printed("0.35"), Rounding(), "precision@10")
    assert message == "precision@10 over 3 users is a multiple of 1/30: 0.3333 and 0.3667 are next to 0.35"
    assert not steps.objection(read_printed("0.37"), Rounding("rounded"), "")
    # 0.3667 truncated: an erratum in a table that rounds, and none in a table whose rule is unknown
    assert steps.objection(read_printed("0.36"), Rounding("rounded"), "")
    assert not steps.objection(read_printed("0.36"), Rounding(), "")


def test_numbers_without_steps_are_left_alone():
    assert three_users("ndcg@10", [1, 1, 1]) is None and three_users("rr@10", [1, 1, 1]) is None
    assert three_users("precision@10", [10, 10, 10], ties__break="expected") is None
    assert three_users("precision[denominator=list]@10", [4, 5, 6]) is None
