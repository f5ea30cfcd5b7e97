"""The numbers of a report that no other part of the run has: tests of all pairs, curves, coverage and novelty."""

import numpy as np
import pytest

from repro import curves
from repro.plugin import FALLBACK, SCORED, UNSCORED
from repro.report.run.answer_section import answer
from repro.report.run.catalogue_reach import Counter
from repro.report.run.distribution_section import score_row
from repro.report.run.list_curves import HitFinder, Hits, rates
from repro.report.run.material import Material
from repro.runs.lists import StoredLists
from repro.runs.run import Run

from .conftest import small_study


def test_rates_of_three_lists_by_hand():
    # List 0 ranks 4 items, its 2 relevant ones at 1 and 3; list 1 ranks 2, its relevant one at 2; list 2 has none.
    lists, ranks = np.array([0, 0, 1]), np.array([1, 3, 2])
    found = rates([Hits(lists, ranks, np.array([2, 1, 0]), np.array([4, 2, 3]), depth=4)])
    assert found.recall.tolist() == [0.25, 0.75, 1.0, 1.0]
    assert found.precision.tolist() == pytest.approx([0.5, 0.5, 7 / 12, 0.5])
    assert found.false.tolist() == [0.5, 0.75, 0.75, 1.0]
    assert found.lists == 2 and found.whole


def test_a_list_that_was_cut_has_its_other_relevant_items_further_down():
    # 10 items, 4 of them relevant, the first 2 stored: one hit. 6 items are not relevant, and one of them is shown.
    found = rates([Hits(np.array([0]), np.array([1]), np.array([4]), np.array([10]), depth=2)])
    assert found.recall.tolist() == [0.25, 0.25]
    assert found.false.tolist() == [0.0, 1 / 6] and not found.whole


@pytest.mark.parametrize("kind", ["precision-recall", "roc"])
def test_curves_of_whole_lists_are_those_of_the_curves_of_files(tmp_path, kind):
    run = Run(small_study(["ndcg@5", "ap"]).run(tmp_path / "run").folder)
    stored = StoredLists(run)
    label = "reference item-knn"
    cell = run.cells[label]["1"]
    found = rates(HitFinder(stored).of(label)[:1])
    # Lists are stored down to 5, the deepest cut-off; a curve of files sees these lists only, to their ends.
    lists = stored.listed(cell).to_pandas().astype({"user": int, "item": int})
    truth = stored.tests["1"].to_frame()
    other = curves(lists, truth, kind=kind, join="lengths", protocol=run.protocol)
    if kind == "precision-recall":
        assert found.recall == pytest.approx(other["recall"].to_numpy())
        assert found.precision == pytest.approx(other["precision"].to_numpy())
    else:
        assert found.recall == pytest.approx(other["tpr"].to_numpy()[1:])


def test_counted_coverage_and_novelty_are_those_that_a_study_measures(tmp_path):
    results = small_study(["ndcg@5", "novelty@5", "catalogue-coverage@5"]).run(tmp_path / "run")
    table = results.table()
    counter = Counter(StoredLists(Run(results.folder)), 5)
    for label in table.index:
        reach = counter.of(label)
        assert reach.coverage == pytest.approx(table["catalogue-coverage@5"][label], abs=1e-12)
        assert reach.novelty == pytest.approx(table["novelty@5"][label], abs=1e-12)


def test_novelty_is_not_told_where_training_parts_are_not_known(tmp_path):
    changes = {"split__strategy": "user-ratio"}
    run = Run(small_study(["ndcg@5"], changes=changes).run(tmp_path / "run").folder)
    reach = Counter(StoredLists(run), 5).of("reference bias")
    assert reach.novelty is None and 0 < reach.coverage <= 1


def test_scores_are_counted_by_hand():
    # 1, 1, 5 are the algorithm's own; one has no score, one (2) is made up, one is not a number.
    values = np.array([5.0, 1.0, 2.0, 1.0, 7.0, np.nan])
    states = np.array([SCORED, SCORED, FALLBACK, SCORED, UNSCORED, SCORED], dtype=np.uint8)
    row, shares = score_row(values, states, bins=4)  # from 1 to 2, to 3, to 4, to 5 and 5 itself
    assert row == ["1", "1", "5", "2", "33.3%", "16.7%"]
    assert shares == pytest.approx([2 / 3, 0.0, 0.0, 1 / 3])
    assert score_row(np.array([np.nan]), np.array([SCORED], dtype=np.uint8)) == (
        ["–", "–", "–", "0", "100.0%", "0.0%"],
        [],
    )
    assert score_row(np.full(3, 2.0), np.zeros(3, dtype=np.uint8), bins=2)[1] == [0.0, 1.0]


def test_the_answer_is_that_of_the_table(finished):
    said = answer(Material.read(Run(finished.folder)))
    values = finished.table()["ndcg@5"].sort_values(ascending=False)
    (best, first), (second, runner_up) = list(values.items())[:2]
    gap = f"which is {first - runner_up:.4f} ({(first - runner_up) / runner_up:.1%}) more than {second}"
    assert said.startswith(f"By ndcg@5, {best} is best: {first:.4f}, {gap} ({runner_up:.4f}).")
    pairs = finished.compare("ndcg@5").set_index(["a", "b"])
    p = pairs.loc[(best, second), "p_corrected"]
    assert ("more than chance" in said) == (p <= 0.05)
    assert "Fisher's randomisation test, two-sided, corrected for all 3 pairs of 3 systems by Holm, level 0.05" in said


def test_the_best_of_errors_is_the_lowest(tmp_path):
    results = small_study(["rmse"], ["reference/bias", "reference/item-mean"]).run(tmp_path / "run")
    best = results.table()["rmse"].idxmin()
    assert f"By rmse, {best} is best, with the lowest value: " in answer(Material.read(results))
