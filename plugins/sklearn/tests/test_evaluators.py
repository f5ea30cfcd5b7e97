"""Results of scikit-learn for known scores. It was run on no cases beforehand: all numbers are worked by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn import metrics

from repro.errors import PluginError
from repro.plugin import Case, Observed, plugins

Make = Callable[..., Case]
SECOND, THIRD, FOURTH = 1 / np.log2(3), 1 / 2, 1 / np.log2(5)


def observed(name: str, case: Case, measure: str, k: int | None = None) -> Observed:
    return plugins().evaluate(plugins().evaluators()[f"sklearn/{name}"], case, measure, k)


def value(name: str, case: Case, measure: str, k: int | None = None) -> float:
    actual = observed(name, case, measure, k)
    assert actual.per_user is None
    assert actual.value is not None
    return actual.value


SCORES = {1: 0.9, 2: 0.7, 3: 0.5, 4: 0.3}


@pytest.mark.parametrize("name", ["ndcg_score", "ndcg_score_ignore_ties"])
def test_gain_is_the_rating_and_the_ideal_list_is_as_long_as_the_list(name: str, case_of: Make) -> None:
    """Listed are a 0, a 2.5, nothing and a 4."""
    case = case_of({1: SCORES}, {1: {1: 0.0, 2: 2.5, 4: 4.0}})
    ideal = 4 + 2.5 * SECOND
    assert value(name, case, "ndcg") == pytest.approx((2.5 * SECOND + 4 * FOURTH) / ideal, abs=1e-12)
    assert value(name, case, "ndcg_at_k", 3) == pytest.approx(2.5 * SECOND / ideal, abs=1e-12)
    assert value(name, case, "ndcg_at_k", 2) == pytest.approx(2.5 * SECOND / ideal, abs=1e-12)
    assert value(name, case, "ndcg_at_k", 9) == value(name, case, "ndcg")
    alone = case_of({1: SCORES}, {1: {2: 2.5, 4: 4.0}})
    assert value(name, alone, "ndcg_at_k", 1) == 0.0


def test_tied_items_share_their_gains_unless_ties_are_ignored(case_of: Make) -> None:
    """A 3 is tied for ranks 2 and 3, and the list is cut below 2. Ties that are ignored put the last column first."""
    scores = {7: 0.9, 2: 0.5, 10: 0.5, 33: 0.1}
    case = case_of({1: scores}, {1: {2: 3.0}})
    assert value("ndcg_score", case, "ndcg") == pytest.approx((SECOND + THIRD) / 2, abs=1e-12)
    assert value("ndcg_score", case, "ndcg_at_k", 2) == pytest.approx(SECOND / 2, abs=1e-12)
    for order, position in (([2, 7, 10, 33], THIRD), ([10, 7, 2, 33], SECOND)):
        turned = case_of({1: scores}, {1: {2: 3.0}}, order=order)
        assert value("ndcg_score_ignore_ties", turned, "ndcg") == pytest.approx(position, abs=1e-12)
        assert value("ndcg_score", turned, "ndcg") == pytest.approx((SECOND + THIRD) / 2, abs=1e-12)


def test_a_user_without_relevant_items_has_an_ndcg_of_0_and_is_averaged(case_of: Make) -> None:
    case = case_of({1: SCORES, 2: SCORES}, {1: {1: 5.0}, 2: {3: 0.0}})
    assert value("ndcg_score", case, "ndcg") == 0.5


TWO = {1: {1: 1.0, 4: 1.0}, 2: {2: 1.0}}


def test_areas_and_precisions_of_two_users(case_of: Make) -> None:
    """User 1 has items 1 and 4 of four: 2 of 4 pairs in order, precisions 1 and 1 / 2. User 2 has the second: 2 of 3
    pairs, precision 1 / 2."""
    case = case_of({1: SCORES, 2: SCORES}, TWO)
    areas, precisions = {1: 1 / 2, 2: 2 / 3}, {1: 3 / 4, 2: 1 / 2}
    for measure, expected in (("roc_auc_score", areas), ("average_precision_score", precisions)):
        actual = observed("binary", case, measure)
        assert actual.value is None
        assert actual.per_user == pytest.approx({user - 1: entry for user, entry in expected.items()}, abs=1e-12)
        assert value("multilabel", case, measure) == pytest.approx(sum(expected.values()) / 2, abs=1e-12)
    assert value("multilabel", case, "label_ranking_average_precision_score") == pytest.approx(5 / 8, abs=1e-12)


def test_tied_items_are_one_step_of_a_curve(case_of: Make) -> None:
    """One relevant item of two that tie: half a pair in order; precision 1 / 2 at the rank of both."""
    case = case_of({1: {1: 0.5, 2: 0.5}}, {1: {1: 1.0}})
    for measure in plugins().evaluators()["sklearn/multilabel"].measures:
        assert value("multilabel", case, measure) == 0.5
    for measure in plugins().evaluators()["sklearn/binary"].measures:
        assert observed("binary", case, measure).per_user == {0: 0.5}


def test_a_user_without_relevant_items_counts_1_or_0_or_spoils_the_mean(case_of: Make) -> None:
    """The other user has an area and precisions of 1."""
    case = case_of({1: SCORES, 2: SCORES}, {1: {1: 1.0}, 2: {2: 0.0}})
    assert np.isnan(value("multilabel", case, "roc_auc_score"))
    assert value("multilabel", case, "average_precision_score") == 0.5
    assert value("multilabel", case, "label_ranking_average_precision_score") == 1.0
    assert observed("binary", case, "average_precision_score").per_user == {0: 1.0, 1: 0.0}
    values_of_users = observed("binary", case, "roc_auc_score").per_user
    assert values_of_users is not None
    assert np.isnan(values_of_users[1])


def test_what_is_not_listed_is_not_there(case_of: Make) -> None:
    """Of three relevant items one is listed, second of two; a user without a list has no value."""
    case = case_of({1: {1: 0.9, 2: 0.5}, 2: {}}, {1: {2: 1.0, 3: 1.0, 4: 1.0}, 2: {1: 1.0}})
    assert observed("binary", case, "average_precision_score").per_user == {0: 0.5}
    assert observed("binary", case, "roc_auc_score").per_user == {0: 0.0}


def test_errors_are_averaged_over_all_ratings_and_not_clipped(case_of: Make) -> None:
    """Errors of 0.5, 2 and 1, the last beyond the scale."""
    case = case_of({1: {1: 3.5, 2: 1.0}, 2: {1: 6.0, 2: 1.0}}, {1: {1: 4.0, 2: 3.0}, 2: {1: 5.0}})
    assert value("regression", case, "mean_absolute_error") == pytest.approx(3.5 / 3, abs=1e-12)
    assert value("regression", case, "mean_squared_error") == pytest.approx(5.25 / 3, abs=1e-12)
    assert value("regression", case, "root_mean_squared_error") == pytest.approx(np.sqrt(5.25 / 3), abs=1e-12)


def test_the_adapter_gives_what_a_direct_call_gives(case_of: Make) -> None:
    """Columns 33, 2 and 10; users 3 and 20."""
    labels = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    matrix = np.array([[0.3, 0.3, 0.1], [-0.2, 0.0, 0.4]])
    case = case_of(
        {3: {33: 0.3, 2: 0.3, 10: 0.1}, 20: {33: -0.2, 2: 0.0, 10: 0.4}},
        {3: {2: 1.0, 10: 1.0}, 20: {33: 1.0}},
        order=[33, 2, 10],
    )
    for k in (1, 2, 3):
        assert value("ndcg_score", case, "ndcg_at_k", k) == metrics.ndcg_score(labels, matrix, k=k)
        direct = metrics.ndcg_score(labels, matrix, k=k, ignore_ties=True)
        assert value("ndcg_score_ignore_ties", case, "ndcg_at_k", k) == direct
    assert value("multilabel", case, "roc_auc_score") == metrics.roc_auc_score(labels, matrix, average="samples")
    direct = metrics.label_ranking_average_precision_score(labels, matrix)
    assert value("multilabel", case, "label_ranking_average_precision_score") == direct
    areas = observed("binary", case, "roc_auc_score").per_user
    assert areas == {
        0: metrics.roc_auc_score(labels[0], matrix[0]),
        1: metrics.roc_auc_score(labels[1], matrix[1]),
    }


@pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_finite_numbers_are_refused_by_all(score: float, case_of: Make) -> None:
    case = case_of({1: {1: score, 2: 0.5, 3: 0.4}}, {1: {1: 1.0, 2: 1.0}})
    for name, evaluator in plugins().evaluators().items():
        if name.startswith("sklearn/"):
            for measure, metric in evaluator.measures.items():
                with pytest.raises(PluginError, match="Input contains"):
                    plugins().evaluate(evaluator, case, measure, 2 if "@" in metric else None)
