"""The order of ties leaves an interval, not a number."""

from itertools import pairwise, permutations, product

import pytest

from repro.replications import Budget, Claim, replicate
from repro.replications.claims.printed import Rounding, read_printed
from repro.replications.settings.tie_orders import TieInterval, interval_of, tie_interval, ties_are_open
from repro.replications.verdicts.examples import WorkedExamples

CELL = '[[cells]]\nalgorithm = "Pop"\nmetric = "{}"\nvalue = "{}"\n'


def judged(path, **changes):
    text = path.read_text()
    for old, new in changes.values():
        text = text.replace(old, new)
    path.write_text(text)
    return replicate(path, budget=Budget(search=5)).judgements


OPEN = ("split.folds = 2", 'split.folds = 2\nopen = ["ties.break=item-asc|item-desc"]')


def test_a_number_between_the_worst_and_the_best_order_is_underspecified(write, measured):
    ends = [measured(ties__break=end).loc["Pop", "ndcg@10"] for end in ("worst", "best")]
    assert ends[0] < ends[1]
    # between the two, but of none of the rules: between each pair of neighbours
    rules = sorted({*ends, *(measured(ties__break=rule).loc["Pop", "ndcg@10"] for rule in ("item-asc", "item-desc"))})
    inside = [(low + high) / 2 for low, high in pairwise(rules)]
    for value in inside:
        judgement = judged(write(CELL.format("ndcg@10", f"{value:.6f}")), open=OPEN)[0]
        assert judgement.verdict == "underspecified" and judgement.ties == tuple(ends)
        assert "by ties: the order of tied items moves it from" in judgement.why
    for value in (ends[0] - 2e-6, ends[1] + 2e-6):
        assert judged(write(CELL.format("ndcg@10", f"{value:.6f}")), open=OPEN)[0].verdict == "differs"


def test_where_the_order_is_stated_a_number_in_between_differs_and_the_reason_is_named(write, measured):
    ends = [measured(ties__break=end).loc["Pop", "ndcg@10"] for end in ("worst", "best")]
    result = judged(write(CELL.format("ndcg@10", f"{sum(ends) / 2:.6f}")))[0]
    assert result.verdict == "differs" and "add ties.break to open" in result.why


def test_rules_are_tried_and_counted_where_best_and_worst_are_refused(write):
    """Coverage is a number of all lists together: no order of one list is its best."""
    cell = '[[cells]]\nalgorithm = "Bias"\nmetric = "catalogue-coverage@10"\nvalue = "{}"\n'
    values = []
    for rule in ("item-asc", "item-desc"):
        text = cell.format("0.00000") + f'set = {{ "ties.break" = "{rule}" }}\n'
        values.append(judged(write(text))[0].value)
    low, high = sorted(values)
    assert low < high
    inside = judged(write(cell.format(f"{(low + high) / 2 + 1e-3:.5f}")), open=OPEN)[0]
    assert inside.verdict == "underspecified" and "orders were tried)" in inside.why
    beyond = judged(write(cell.format(f"{high + 0.3:.5f}")), open=OPEN)[0]
    assert beyond.verdict == "differs" and "and others may move it further" in beyond.why


# -- worked examples, against all orders ----------------------------------------------------------------------------

SCORES = {"u1": {"a": 3, "b": 2, "c": 2, "d": 2, "e": 1}, "u2": {"a": 1, "b": 1, "c": 5, "d": 4, "e": 4}}
TRUTH = {"u1": "c", "u2": "be"}


def all_orders():
    """Every list that scores allow, for both users."""
    for user, scores in SCORES.items():
        orders = permutations(scores)
        yield user, [order for order in orders if all(scores[a] >= scores[b] for a, b in pairwise(order))]


def rr(order, relevant):
    return next(1 / rank for rank, item in enumerate(order, 1) if item in relevant)


def average_precision(order, relevant):
    ranks = [rank for rank, item in enumerate(order, 1) if item in relevant]
    return sum(hits / rank for hits, rank in enumerate(ranks, 1)) / len(relevant)


@pytest.mark.parametrize(("name", "metric"), [("rr", rr), ("ap", average_precision)])
def test_all_orders_of_a_worked_example(tmp_path, name, metric):
    lists = dict(all_orders())
    means = sorted(
        {
            (metric(first, TRUTH["u1"]) + metric(second, TRUTH["u2"])) / 2
            for first, second in product(lists["u1"], lists["u2"])
        }
    )
    rows = "".join(f"{user},{item},{score}\n" for user, scores in SCORES.items() for item, score in scores.items())
    (tmp_path / "run.csv").write_text("user,item,score\n" + rows)
    (tmp_path / "truth.csv").write_text(
        "user,item\n" + "".join(f"{u},{i}\n" for u, items in TRUTH.items() for i in items)
    )
    head = 'title = "x"\nsource = "y"\n[examples]\ntruth = "truth.csv"\n[[systems]]\nlabel = "S"\nrun = "run.csv"\n'
    (tmp_path / "claim.toml").write_text(head + f'[[cells]]\nsystem = "S"\nmetric = "{name}"\nvalue = "0.5"\n')
    claim = Claim.load(tmp_path / "claim.toml")
    cell = claim.cells[0]
    setting = claim.setting("")
    result = tie_interval(setting.protocol, lambda protocol: WorkedExamples(claim).value(cell.key, protocol))
    assert (result.low, result.high, result.orders) == pytest.approx((means[0], means[-1], 0))
    assert ties_are_open(setting)
    assert not ties_are_open(setting.changed({"ties.break": "item-desc"}, tmp_path))
    for value in means:
        assert result.holds(read_printed(f"{value:.6f}"), Rounding())
    assert not result.holds(read_printed(f"{means[0] - 2e-6:.6f}"), Rounding())
    assert not result.holds(read_printed(f"{means[-1] + 2e-6:.6f}"), Rounding())


def test_the_range_of_a_popular_list_on_a_large_data_set_is_a_few_users_wide():
    """2,738 of 6,040 users, where orders of ties give from 2,737 to 2,741."""
    interval = TieInterval(2737 / 6040, 2741 / 6040)
    assert interval.holds(read_printed("0.4533"), Rounding("rounded")) and interval.holds(
        read_printed("45.35%"), Rounding()
    )
    assert not interval.holds(read_printed("0.4530"), Rounding()) and not interval.holds(
        read_printed("0.4539"), Rounding()
    )
    assert "from 0.453146 to 0.453808" in interval.sentence(read_printed("0.4533"))


def test_where_the_ends_are_not_exact_the_orders_that_were_tried_are_counted():
    result = interval_of([float("nan"), 0.5], [0.2, 0.4, float("nan"), 0.3])
    assert result == TieInterval(0.2, 0.4, 3) and "(3 orders were tried)" in result.sentence(read_printed("0.25"))
    assert interval_of([float("nan")] * 2, [float("nan")]) is None
