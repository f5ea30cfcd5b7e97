"""The numbers of a report that no other part of the run has."""

import numpy as np
import pytest

from repro.plugin import FALLBACK, SCORED, UNSCORED
from repro.reports.run.best_answer import best_answer
from repro.reports.run.distribution_section import score_row
from repro.reports.run.run_view import RunView
from repro.runs.run import Run

from .conftest import small_study


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
    sentence = best_answer(RunView(Run(finished.folder)), "ndcg@5")
    values = finished.table()["ndcg@5"].sort_values(ascending=False)
    (best, first), (second, runner_up) = list(values.items())[:2]
    gap = f"which is {first - runner_up:.4f} ({(first - runner_up) / runner_up:.1%}) more than {second}"
    assert sentence.startswith(f"By ndcg@5, {best} is best: {first:.4f}, {gap} ({runner_up:.4f}).")
    pairs = finished.compare("ndcg@5").pairs.set_index(["a", "b"])
    p = pairs.loc[(best, second), "p_corrected"]
    assert ("more than chance" in sentence) == (p <= 0.05)
    assert (
        "Fisher's randomisation test, two-sided, corrected for all 3 pairs of 3 systems by Holm, level 0.05" in sentence
    )


def test_the_best_of_errors_is_the_lowest(tmp_path):
    results = small_study(["rmse"], ["reference/bias", "reference/item-mean"]).run(tmp_path / "run")
    best = results.table()["rmse"].idxmin()
    assert f"By rmse, {best} is best, with the lowest value: " in best_answer(RunView(results), "rmse")
