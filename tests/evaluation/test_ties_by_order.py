"""Equal scores in the order of rows, or of the data set: one meaning in evaluate, in studies and in audits."""

from __future__ import annotations

import random
from functools import cache

import pandas as pd
import pytest

import repro
from repro import Study
from repro.audits.hypotheses.simulation import Simulation
from repro.audits.hypotheses.space import Space
from repro.audits.policies import hypothesis_of
from repro.audits.questions.question import Question, User
from repro.errors import ProtocolError
from repro.evaluation.metrics import metric_named
from repro.protocol import Protocol, protocol_names, read_protocol

MEASURES = ("ndcg@3", "precision@3", "recall@2", "ap", "rr")
ITEMS = (12, 3, 40, 101, 7, 25, 8)


@cache
def ordered_by_rows() -> list[str]:
    inferred = {name: read_protocol(name) for name in protocol_names() if name.startswith("inferred/")}
    return [name for name, protocol in inferred.items() if str(protocol["ties.break"]).startswith("rows")]


def frame(rows, columns="user item score"):
    return pd.DataFrame(rows, columns=columns.split())


def values(recommended, truth, protocol, train=None):
    return repro.evaluate(recommended, truth, protocol, MEASURES, train=train)["value"].tolist()


def drawn(rng, protocol):
    """A list of all items for each user, with few distinct scores, in an order of rows that is no order of ids.

    Where a protocol ranks all items, some are held out and liked; where it ranks held-out items, all of them are.
    """
    order = rng.sample(ITEMS, len(ITEMS))
    lists = {user: {item: float(rng.randint(1, 3)) for item in order} for user in (5, 31, 4)}
    if protocol["candidates.base"] == "user-test-items":
        truth = {user: [(item, float(rng.randint(1, 5))) for item in rng.sample(ITEMS, len(ITEMS))] for user in lists}
    else:
        truth = {user: [(item, 5.0) for item in rng.sample(ITEMS, rng.randint(2, 4))] for user in lists}
    train = [(99, item, float(rng.randint(1, 5))) for item in rng.sample(ITEMS, len(ITEMS))]
    return order, lists, truth, train


def by_hand(lists, descending):
    """The lists with ties broken by hand: distinct scores, in the order of rows or its reverse."""
    rows = []
    for user, scores in lists.items():
        items = list(reversed(scores)) if descending else list(scores)
        ranked = sorted(items, key=lambda item: -scores[item])  # a stable sort
        rows += [(user, item, float(len(ranked) - position)) for position, item in enumerate(ranked)]
    return rows


def test_some_inferred_protocol_orders_ties_by_rows():
    assert ordered_by_rows()


@pytest.mark.parametrize("name", ordered_by_rows())
def test_inferred_protocols_give_the_audited_numbers_with_and_without_training_rows(name):
    protocol, rng = read_protocol(name), random.Random(name)
    differing = 0
    for _ in range(4):
        order, lists, truth, train = drawn(rng, protocol)
        recommended = frame([(user, item, score) for user, entry in lists.items() for item, score in entry.items()])
        held_out = frame([(user, *row) for user, rows in truth.items() for row in rows], "user item rating")
        trained = frame(train, "user item rating")
        actual = values(recommended, held_out, protocol)
        assert values(recommended, held_out, protocol, train=trained) == actual
        descending = protocol["ties.break"] == "rows-desc"
        assert values(frame(by_hand(lists, descending)), held_out, protocol) == pytest.approx(actual, nan_ok=True)
        users = [User(user, lists[user], tuple(truth[user])) for user in lists]
        stranger = User(99, train=tuple((item, rating) for _, item, rating in train))
        for measure, value in zip(MEASURES, actual, strict=True):
            metric, _, k = measure.partition("@")
            question = Question((*users, stranger), tuple(order), int(k) if k else None)
            space = Space(metric_named(metric))
            outcome = Simulation(question, space).outcome(hypothesis_of(protocol, space))
            assert outcome.value == pytest.approx(value, nan_ok=True), (measure, outcome.refusal)
        turned = frame([(user, item, lists[user][item]) for user in lists for item in reversed(lists[user])])
        differing += values(turned, held_out, protocol) != actual
    assert differing


# --- the order of the data set --------------------------------------------------------------------------------

# Item by first appearance: 9, 2, 5, 1, 7. In the training rows of a fold alone the order may differ.
ROWS = [(user, item, 4.0) for user in range(1, 7) for item in (9, 2, 5, 1, 7) if (user + item) % 4]


def first_in(rows):
    return list(dict.fromkeys(item for _, item, *_ in rows))


@pytest.mark.parametrize("rule", ["data", "data-desc"])
def test_a_study_orders_ties_by_the_whole_data_set(rule, tmp_path):
    data = repro.data.Interactions.from_frame(frame(ROWS, "user item rating"))
    protocol = Protocol.load("random-5fold", split__folds=3, ties__break=rule, relevance__threshold=1.0)
    run = Study(data, protocol, ["reference/popularity"], ["rr"], seed=4).run(tmp_path / "run", keep_scores=True)
    order = first_in(ROWS) if rule == "data" else first_in(ROWS)[::-1]
    checked = 0
    for lists, scores in of_cells(run, data):
        for user, ranked in lists.groupby("user", sort=False):
            listed = ranked.sort_values("rank")["item"].tolist()
            expected = sorted(listed, key=lambda item, user=user: (-scores[user, item], order.index(item)))
            assert listed == expected
            checked += len({scores[user, item] for item in listed}) < len(listed)
    assert checked > 3


def of_cells(run, data):
    """For each fold the table of lists, and the scores by user and item."""
    from repro.explanations import ScoredRun
    from repro.runs.journal import read_journal

    retained = ScoredRun.open(run.folder, data)
    cells = {
        event.cell: event.artifacts for event in read_journal(run.folder / "journal.jsonl").events("cell.finished")
    }
    for fold in retained.folds():
        [artifacts] = [entry for cell, entry in cells.items() if cell.endswith(f"/{fold.name}")]
        lists = pd.read_parquet(run.folder / "artifacts" / f"{artifacts['lists']}.parquet")
        [label] = retained.chosen(None)
        values = retained.scores(label, fold).values
        complete = fold.parts.whole
        yield (
            lists,
            {
                (complete.user_ids[user], complete.item_ids[item]): values[row, item]
                for row, user in enumerate(fold.test_users)
                for item in range(complete.n_items)
            },
        )


def test_evaluate_orders_ties_by_training_rows_and_then_truth():
    recommended = frame([(1, item, 1.0) for item in (1, 2, 3, 4)])
    truth = frame([(2, 4), (1, 1)], "user item")
    train = frame([(7, 3), (7, 2), (8, 3)], "user item")  # the data set has 3, 2, 4, 1
    base = repro.lists.default_protocol(rated=False)
    for rule, rank in (("data", 4), ("data-desc", 1)):
        actual = repro.evaluate(recommended, truth, base.replace({"ties.break": rule}), ["rr"], train, per_user=True)
        assert actual.set_index("user")["value"][1] == 1 / rank
    with pytest.raises(ProtocolError, match=r'ties\.break = "data" .* give the training rows as train='):
        repro.evaluate(recommended, truth, base.replace({"ties.break": "data"}), ["rr"])


def test_a_study_has_no_rows_of_recommendations():
    data = repro.data.Interactions.from_frame(frame(ROWS, "user item rating"))
    for rule in ("rows", "rows-desc"):
        protocol = Protocol.load("random-5fold", ties__break=rule)
        with pytest.raises(ProtocolError, match=r'lists that are made of scores have no rows; use "data"'):
            Study(data, protocol, ["reference/popularity"], ["rr"])
        Study(data, protocol, ["reference/popularity"], ["rmse"])  # has no lists


def test_the_old_name_is_gone():
    for name in ("source", "source-desc"):
        with pytest.raises(ProtocolError, match="is not allowed"):
            Protocol.load("random-5fold", ties__break=name)
