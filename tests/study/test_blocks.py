"""Blocks of users: whoever measures them, however many at a time, the numbers are those of all users at once."""

import numpy as np
import pytest

from repro import Study
from repro.errors import StudyError
from repro.evaluation.blocks import ExecutionOptions, InThreads, in_order
from repro.evaluation.measure_lists import measure_lists, user_blocks
from repro.evaluation.metrics import simple_measures
from repro.plugin import CheckedRecommender, Scores
from repro.protocol import Protocol
from repro.runs.folder import parquet_bytes
from repro.study import RunOptions, run_study
from repro.study.fold_data import fold_data
from repro.study.plan import make_plan


class Noise:
    """Scores with many ties, some of them missing."""

    def fit(self, train, *, seed): ...

    def score(self, queries, items):
        users = queries.users
        values = (users[:, None] * 7919 + items * 104729) % 23 / 4.0
        values[values > 5] = np.nan
        return Scores(values)


@pytest.fixture(scope="module")
def fold(data):
    metrics = ["ndcg@10", "ap", "rr", "hit@5", "gini@10", "catalogue-coverage@10", "auc"]
    study = Study(data, Protocol.load("random-5fold", ties__break="random"), ["reference/popularity"], metrics)
    plan = make_plan(study)
    return plan, fold_data(plan, plan.split.folds[0])


def measured(fold, options, tell=None):
    plan, parts = fold
    study = plan.study
    actual = measure_lists(
        CheckedRecommender(Noise(), "noise"),
        parts,
        simple_measures(study.measures),
        study.protocol,
        study.seed,
        options,
        tell,
    )
    return (
        actual.values,
        actual.impacts,
        {name: parquet_bytes(table) for name, table in actual.tables.items()},
        actual.digests,
        actual.intervals,
        actual.facts,
    )


@pytest.fixture(scope="module")
def at_once(fold):
    return measured(fold, ExecutionOptions(block_users=10**6, blocks=InThreads(1), keep_scores=True))


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("block_users", [1, 64, 100, 1000])
def test_the_same_whatever_the_threads_and_the_size_of_blocks(fold, at_once, threads, block_users):
    reports = []
    options = ExecutionOptions(block_users=block_users, blocks=InThreads(threads), keep_scores=True)
    assert measured(fold, options, lambda done, total: reports.append((done, total))) == at_once
    assert at_once[2].keys() == {"lists", "values", "tied_values", "scores", "scored_items"}
    users = len(np.unique(fold[1].test.users))
    assert 64 < users <= 128
    assert reports == ([(64, users), (users, users)] if block_users < 1000 else [(users, users)])


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_study_has_the_same_bits_with_more_workers_than_cells(data, tmp_path, workers):
    """Two cells, and blocks of 64 of the 120 users."""
    study = Study(data, Protocol.load("random-5fold", split__folds=2), ["reference/item-knn"], ["ndcg@10", "rmse"])
    kept = []
    for name, options in (("one", {}), ("other", {"workers": workers, "block_users": 64})):
        run_study(study, tmp_path / name, RunOptions(**options))
        files = (tmp_path / name / "artifacts").iterdir()
        kept.append(({path.name for path in files}, (tmp_path / name / "results.parquet").read_bytes()))
    assert kept[0] == kept[1]


def test_results_come_in_order_and_few_are_under_way():
    """The last of those under way is done first, and is given last."""
    under_way, most_seen = [], []

    def submit(number):
        under_way.append(number)
        most_seen.append(len(under_way))
        return number

    def result(number):
        under_way.remove(number)
        return number * number

    assert list(in_order(range(7), submit, result, 3)) == [0, 1, 4, 9, 16, 25, 36]
    assert most_seen == [1, 2, 3, 3, 3, 3, 3]


def test_blocks_under_way_share_the_memory_that_one_may_take():
    """A quarter of a GiB holds 512 rows of 65,536 numbers: for two at once 256 each, in whole chunks of 64."""
    users = np.arange(1000, dtype=np.int32)
    assert [len(block) for block in user_blocks(users, 65_536, 10**6)] == [512, 488]
    assert [len(block) for block in user_blocks(users, 65_536, 10**6, at_once=2)] == [256, 256, 256, 232]
    assert [len(block) for block in user_blocks(users, 65_536, 10**6, at_once=100)][:2] == [64, 64]


def test_what_goes_wrong_in_a_block_is_told(data):
    study = Study(data, Protocol.load("random-5fold", missing__rank="fail"), ["reference/popularity"], ["ndcg@10"])
    plan = make_plan(study)
    fold = plan, fold_data(plan, plan.split.folds[0])
    messages = set()
    for threads in (1, 2):
        with pytest.raises(StudyError) as error:
            measured(fold, ExecutionOptions(block_users=64, blocks=InThreads(threads)))
        messages.add(str(error.value))
    assert len(messages) == 1 and "the score of user 1 for item" in messages.pop()
