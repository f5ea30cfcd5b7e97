"""Every number from kept scores is that of a full run with that protocol, bit for bit."""

import numpy as np
import pytest

from repro.errors import JournalError, ReproError, StudyError
from repro.evaluation import cached_stages
from repro.evaluation.stages import rank_block
from repro.explanations import ScoredRun
from repro.explanations.design import Design, read_axes
from repro.explanations.variants import measure_variants

from .conftest import METRICS

FAMILIES = ["relevance", "candidates", "missing", "ties", "average", "predict", "metric.ndcg", "metric.recall"]


def test_the_runs_own_protocol_gives_the_runs_own_numbers(kept, folder):
    from repro.runs.run import Run

    result = measure_variants(kept, [kept.protocol], METRICS)
    assert result.refusals == {}
    assert np.array_equal(result.values[0], Run(folder).table().to_numpy(), equal_nan=True)


def random_variants(kept, count, seed):
    axes = read_axes(FAMILIES, kept.protocol, kept.plan.interactions.ratings)
    draws = np.random.default_rng(seed)
    design = Design(kept.protocol, axes, 1)
    while count:
        values = {axis.decision: axis.values[int(draws.integers(len(axis.values)))] for axis in axes}
        protocol = design._protocol(values)
        if protocol is not None:
            count -= 1
            yield protocol


def test_each_of_a_random_sample_equals_a_separate_full_run(kept, study, tmp_path):
    protocols = list(random_variants(kept, 30, seed=1))
    names = ["ndcg@10", "precision@5", "recall@20", "catalogue-coverage@10", "rmse"]
    result = measure_variants(kept, protocols, names)
    compared = 0
    for number, protocol in enumerate(protocols):
        had = [name for name in names if (number, name) not in result.refusals]
        for name in set(names) - set(had):  # what a variant refuses, a run refuses too
            with pytest.raises(ReproError):
                type(study)(study.data, protocol, ["reference/bias"], [name], seed=study.seed).run(tmp_path / "none")
        alone = type(study)(study.data, protocol, [e.use for e in study.entries], had, seed=study.seed)
        if had == ["rmse"]:
            continue  # a run makes lists ready, and refuses those that cannot be had, even if it needs none
        table = alone.run(tmp_path / str(number)).table()
        values = result.values[number][:, [names.index(name) for name in had]]
        assert np.array_equal(values, table.to_numpy(), equal_nan=True), dict(protocol)
        compared += len(had)
    assert compared > 100


def test_protocols_together_give_what_each_gives_alone(kept):
    protocols = list(random_variants(kept, 40, seed=2))
    together = measure_variants(kept, protocols, ["ndcg@10", "recall@20"])
    for number in range(0, 40, 5):
        alone = measure_variants(kept, [protocols[number]], ["ndcg@10", "recall@20"])
        assert np.array_equal(together.values[number], alone.values[0], equal_nan=True)
        for name in ("ndcg@10", "recall@20"):
            assert together.refusals.get((number, name)) == alone.refusals.get((0, name))


def test_judgements_alone_need_no_second_ranking(kept, monkeypatch):
    ranked = []
    monkeypatch.setattr(cached_stages, "rank_block", lambda *a, **k: ranked.append(1) or rank_block(*a, **k))
    thresholds = [kept.protocol.replace({"relevance.threshold": value}) for value in (2.0, 3.0, 4.0, 5.0)]
    result = measure_variants(kept, thresholds, ["ndcg@10"])
    assert len(ranked) == len(kept.algorithms) * 2  # folds
    assert len({row.tobytes() for row in result.values}) == 4


def test_stored_predictions_are_read_once_for_each_algorithm_and_fold(kept, monkeypatch):
    read = []
    predictions = type(kept).predictions
    monkeypatch.setattr(type(kept), "predictions", lambda run, *cell: read.append(cell) or predictions(run, *cell))
    clipped = [kept.protocol.replace({"predict.clip": value}) for value in ("none", "scale")]
    measure_variants(kept, clipped, ["rmse", "mae"])
    assert len(read) == len(set(read)) == len(kept.algorithms) * 2  # folds


def test_a_run_without_kept_scores_says_what_to_do(study, tmp_path, data):
    results = study.run(tmp_path / "run")
    with pytest.raises(StudyError, match=r"did not keep the scores .* --keep-scores --resume"):
        ScoredRun.open(results.folder, data)


def test_keeping_scores_changes_nothing_else_and_can_be_added_to_a_finished_run(study, tmp_path, data, folder):
    results = study.run(tmp_path / "run")
    assert results.table().equals(type(results)(folder).table())
    study.run(tmp_path / "run", keep_scores=True, resume=True)
    again = ScoredRun.open(tmp_path / "run", data)
    assert np.array_equal(
        measure_variants(again, [again.protocol], METRICS).values[0], results.table().to_numpy(), equal_nan=True
    )


def test_other_data_is_refused(folder, data):
    with pytest.raises(JournalError, match="the data changed since the run"):
        ScoredRun.open(folder, data.select(np.arange(len(data) - 1)))
    with pytest.raises(StudyError, match="given in code"):
        ScoredRun.open(folder)


def test_missing_scores_raise_an_error(study, tmp_path, data):
    folder = study.run(tmp_path / "run", keep_scores=True).folder
    run = ScoredRun.open(folder, data)
    first = next(iter(run.run.cells[run.algorithms[0]].values()))
    digest = first.artifacts["scores"]
    (folder / "artifacts" / f"{digest}.parquet").unlink()
    with pytest.raises(JournalError, match=r"the scores of reference popularity .* are no longer in"):
        measure_variants(run, [run.protocol], ["ndcg@10"])


@pytest.mark.parametrize("rule", ["best", "worst"])
def test_best_and_worst_ties_are_those_of_a_run(kept, study, tmp_path, rule):
    names = [
        "ndcg@10",
        "ndcg[gain=exp2]@10",
        "ap[denominator=hits]@10",
        "arc",
        "mpr",
        "novelty@10",
        "epc@10",
        "gini@10",
    ]
    changes = {"ties.break": rule, "ties.precision": "decimals", "ties.decimals": 1}  # many ties
    protocols = [kept.protocol.replace({**changes, "relevance.threshold": float(bar)}) for bar in (3, 4)]
    result = measure_variants(kept, protocols, names)
    uses = [entry.use for entry in study.entries]
    for number, protocol in enumerate(protocols):
        assert "metric gini@10 has no ties.break" in result.refusals[number, "gini@10"]
        alone = type(study)(study.data, protocol, uses, names[:-1], seed=study.seed).run(tmp_path / str(number))
        assert np.array_equal(result.values[number][:, :-1], alone.table().to_numpy(), equal_nan=True)
