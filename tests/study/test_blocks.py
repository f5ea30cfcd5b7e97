"""Measuring users in blocks, in threads or in workers, gives the same numbers as measuring all users at once."""

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


def measure(fold, options, report=None):
    plan, parts = fold
    study = plan.study
    actual = measure_lists(
        CheckedRecommender(Noise(), "noise"),
        parts,
        simple_measures(study.measures),
        study.protocol,
        study.seed,
        options,
        report,
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
    return measure(fold, ExecutionOptions(block_users=10**6, blocks=InThreads(1), keep_scores=True))


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("block_users", [1, 64, 100, 1000])
def test_threads_and_the_size_of_blocks_change_no_result(fold, at_once, threads, block_users):
    reports = []
    options = ExecutionOptions(block_users=block_users, blocks=InThreads(threads), keep_scores=True)
    assert measure(fold, options, lambda done, total: reports.append((done, total))) == at_once
    assert at_once[2].keys() == {"lists", "values", "tied_values", "scores", "scored_items"}
    users = len(np.unique(fold[1].test.users))
    assert 64 < users <= 128
    assert reports == ([(64, users), (users, users)] if block_users < 1000 else [(users, users)])


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_study_has_the_same_bits_with_more_workers_than_cells(data, tmp_path, workers):
    """Two cells, and blocks of 64 of the 120 users."""
    study = Study(data, Protocol.load("random-5fold", split__folds=2), ["reference/item-knn"], ["ndcg@10", "rmse"])
    results = []
    for name, options in (("default", {}), ("small-blocks", {"workers": workers, "block_users": 64})):
        run_study(study, tmp_path / name, RunOptions(**options))
        files = (tmp_path / name / "artifacts").iterdir()
        results.append(({path.name for path in files}, (tmp_path / name / "results.parquet").read_bytes()))
    assert results[0] == results[1]


def test_in_order_gives_results_in_order_and_limits_pending_jobs():
    """At most three of seven jobs are pending, and the results keep the order of submission."""
    pending, pending_counts = [], []

    def submit(number):
        pending.append(number)
        pending_counts.append(len(pending))
        return number

    def result(number):
        pending.remove(number)
        return number * number

    assert list(in_order(range(7), submit, result, 3)) == [0, 1, 4, 9, 16, 25, 36]
    assert pending_counts == [1, 2, 3, 3, 3, 3, 3]


def test_blocks_measured_at_once_share_the_memory_of_one_block():
    """A quarter of a GiB holds 512 rows of 65,536 numbers; two blocks at once get 256 rows each, in chunks of 64."""
    users = np.arange(1000, dtype=np.int32)
    assert [len(block) for block in user_blocks(users, 65_536, 10**6)] == [512, 488]
    assert [len(block) for block in user_blocks(users, 65_536, 10**6, at_once=2)] == [256, 256, 256, 232]
    assert [len(block) for block in user_blocks(users, 65_536, 10**6, at_once=100)][:2] == [64, 64]


def test_an_error_in_a_block_has_the_same_message_with_any_number_of_threads(data):
    study = Study(data, Protocol.load("random-5fold", missing__rank="fail"), ["reference/popularity"], ["ndcg@10"])
    plan = make_plan(study)
    fold = plan, fold_data(plan, plan.split.folds[0])
    messages = set()
    for threads in (1, 2):
        with pytest.raises(StudyError) as error:
            measure(fold, ExecutionOptions(block_users=64, blocks=InThreads(threads)))
        messages.add(str(error.value))
    assert len(messages) == 1 and "the score of user 1 for item" in messages.pop()
