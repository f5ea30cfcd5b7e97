"""Curves, coverage and novelty of stored lists: by hand, and as a study or `repro.curves` computes them."""

import numpy as np
import pytest

from repro import Study, curves
from repro.protocol import Protocol
from repro.runs.catalogue_reach import catalogue_reach
from repro.runs.list_curves import HitFinder, Hits, rates
from repro.runs.lists import StoredLists
from repro.runs.run import Run


def study_of(data, metrics, **changes):
    protocol = Protocol.load("random-5fold", **(changes or {"split__folds": 2}))
    algorithms = ["reference/popularity", "reference/item-knn", "reference/bias"]
    return Study(data, protocol, algorithms, metrics, seed=3)


def test_rates_of_three_lists_by_hand():
    # List 0 ranks 4 items, its 2 relevant ones at 1 and 3; list 1 ranks 2, its relevant one at 2; list 2 has none.
    lists, ranks = np.array([0, 0, 1]), np.array([1, 3, 2])
    computed = rates([Hits(lists, ranks, np.array([2, 1, 0]), np.array([4, 2, 3]), depth=4)])
    assert computed.recall.tolist() == [0.25, 0.75, 1.0, 1.0]
    assert computed.precision.tolist() == pytest.approx([0.5, 0.5, 7 / 12, 0.5])
    assert computed.false.tolist() == [0.5, 0.75, 0.75, 1.0]
    assert computed.lists == 2 and computed.complete


def test_a_list_that_was_cut_has_its_other_relevant_items_further_down():
    # 10 items, 4 of them relevant, the first 2 stored: one hit. 6 items are not relevant, and one of them is shown.
    computed = rates([Hits(np.array([0]), np.array([1]), np.array([4]), np.array([10]), depth=2)])
    assert computed.recall.tolist() == [0.25, 0.25]
    assert computed.false.tolist() == [0.0, 1 / 6] and not computed.complete


@pytest.mark.parametrize("kind", ["precision-recall", "roc"])
def test_curves_of_whole_lists_are_those_of_the_curves_of_files(data, tmp_path, kind):
    run = Run(study_of(data, ["ndcg@5", "ap"]).run(tmp_path / "run").folder)
    stored = StoredLists(run)
    label = "reference item-knn"
    cell = run.cells[label]["1"]
    computed = rates(HitFinder(stored).of(label)[:1])
    # Lists are stored down to 5, the deepest cut-off; a curve of files sees these lists only, to their ends.
    lists = stored.listed(cell).to_pandas().astype({"user": int, "item": int})
    truth = stored.tests["1"].to_frame()
    other = curves(lists, truth, kind=kind, join="lengths", protocol=run.protocol)
    if kind == "precision-recall":
        assert computed.recall == pytest.approx(other["recall"].to_numpy())
        assert computed.precision == pytest.approx(other["precision"].to_numpy())
    else:
        assert computed.recall == pytest.approx(other["tpr"].to_numpy()[1:])


def test_counted_coverage_and_novelty_are_those_that_a_study_measures(data, tmp_path):
    results = study_of(data, ["ndcg@5", "novelty@5", "catalogue-coverage@5"]).run(tmp_path / "run")
    table = results.table()
    reaches = catalogue_reach(StoredLists(Run(results.folder)), 5)
    for label in table.index:
        reach = reaches[label]
        assert reach.coverage == pytest.approx(table["catalogue-coverage@5"][label], abs=1e-12)
        assert reach.novelty == pytest.approx(table["novelty@5"][label], abs=1e-12)


def test_novelty_is_none_if_training_parts_are_unknown(data, tmp_path):
    changes = {"split__strategy": "user-ratio"}
    run = Run(study_of(data, ["ndcg@5"], **changes).run(tmp_path / "run").folder)
    reach = catalogue_reach(StoredLists(run), 5)["reference bias"]
    assert reach.novelty is None and 0 < reach.coverage <= 1
