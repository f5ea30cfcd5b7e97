"""Two runs side by side: what differs, and nothing else."""

import numpy as np
import pytest
from scipy import stats

from repro.errors import StudyError
from repro.explanations import diff
from repro.protocol import Protocol


@pytest.fixture(scope="module")
def other(study, tmp_path_factory):
    changed = study.with_protocol(study.protocol.replace({"relevance.threshold": 3.0, "ties.break": "random"}))
    return changed.run(tmp_path_factory.mktemp("other") / "run").folder


def test_a_run_does_not_differ_from_itself(folder):
    result = diff(folder, folder)
    assert (result.decisions, result.data, result.algorithms, result.environment) == ((), (), (), ())
    assert all(pair.change == 0 or np.isnan(pair.change) for pair in result.numbers)
    assert all(pair.higher == pair.lower == 0 for pair in result.numbers)


def test_decisions_come_with_their_meaning(folder, other):
    result = diff(folder, other)
    assert [change.decision for change in result.decisions] == [
        "relevance.threshold",
        "ties.break",
        "ties.id_order",
    ]
    plain = {change["decision"]: change for change in result.to_dict()["decisions"]}
    assert plain["ties.break"]["after_means"].startswith("at random")
    assert not any(change["needs_refit"] for change in plain.values())


def test_changes_of_users_are_paired_and_tested(folder, other):
    from repro.runs.run import Run

    result = {(pair.algorithm, pair.metric): pair for pair in diff(folder, other).numbers}
    pair = result["reference item-knn", "ndcg@10"]
    mine, theirs = (
        Run(run).per_user("ndcg@10").query("algorithm == 'reference item-knn'").set_index("user")["value"]
        for run in (folder, other)
    )
    change = (theirs - mine).dropna()
    assert pair.users == len(change)
    assert (pair.higher, pair.lower) == (int((change > 0).sum()), int((change < 0).sum()))
    assert pair.quantiles[0.5] == pytest.approx(change.median())
    # By draws of its own: the share of random signs that give a sum as far from 0 as the changes.
    signs = np.random.default_rng(0).choice([-1, 1], (20_000, len(change)))
    share = (np.abs(signs @ change.to_numpy()) >= abs(change.sum()) - 1e-9).mean()
    assert pair.p == pytest.approx(share, abs=5 * (share * (1 - share) / 20_000) ** 0.5)
    ranked = {(pair.algorithm, pair.metric): pair for pair in diff(folder, other, test="wilcoxon").numbers}
    expected = stats.wilcoxon(change[change.abs() > 1e-12], method="approx").pvalue
    assert ranked["reference item-knn", "ndcg@10"].p == pytest.approx(expected, rel=1e-6)
    assert pair.change == pytest.approx(pair.after - pair.before)
    assert result["reference item-knn", "catalogue-coverage@10"].users == 0


def test_differences_of_data_seed_and_parameters(folder, study, data, tmp_path):
    changed = type(study)(
        data.select(np.arange(len(data) - 10)),
        study.protocol,
        [{"use": "reference/item-knn", "parameters": {"k": 7}}],
        ["ndcg@10"],
        seed=9,
    )
    result = diff(folder, changed.run(tmp_path / "run").folder)
    about = {fact.about: (fact.before, fact.after) for fact in (*result.data, *result.algorithms, *result.environment)}
    assert about["seed"] == ("7", "9")
    assert about["rows, as loaded"] == (f"{len(data):,}", f"{len(data) - 10:,}")
    assert about["reference item-knn, k"][1] == "7"
    assert about["reference popularity"] == ("reference/popularity", "-")


def test_a_run_and_a_protocol(folder, study):
    result = diff(folder, Protocol.load("random-5fold"))
    assert [change.decision for change in result.decisions] == ["split.folds"]
    assert result.decisions[0].needs_refit
    assert diff(folder, "random-5fold").decisions == result.decisions


def test_a_folder_without_a_run_raises_an_error(tmp_path, folder):
    with pytest.raises(StudyError, match="not a run folder"):
        diff(tmp_path, folder)
    with pytest.raises(StudyError, match="no test 'wilcoxn'"):
        diff(folder, folder, test="wilcoxn")
