"""Retrain: what is deterministic comes again to the last bit, and what is not is measured."""

import itertools
import math

import numpy as np
import pytest

from repro.errors import StudyError
from repro.plugin import Algorithm, Framework, Scores, plugins
from repro.runs.run import Run
from repro.verification import verify
from repro.verification.compare import compare_runs

CALLS = itertools.count()


class Noisy:
    """Scores by item, and a little by how often anything was fitted before."""

    def fit(self, train, *, seed):
        self.noise = np.random.default_rng(next(CALLS)).normal(0, 4, train.n_items)

    def score(self, queries, items):
        users = queries.users
        return Scores(np.tile(100.0 - items + self.noise[items], (len(users), 1)))


@pytest.fixture
def noisy(monkeypatch):
    """A framework whose two algorithms are the same; one of them says that it is deterministic, and is not."""
    algorithms = (Algorithm("honest", "", Noisy, deterministic=False), Algorithm("boastful", "", Noisy))
    monkeypatch.setitem(plugins().frameworks, "noisy", Framework("noisy", "1", "for tests", algorithms))


def test_everything_comes_again(run):
    verification = verify(run, "retrain")
    assert verification.holds, str(verification)
    assert verification.checked["retrain"] == "18 numbers: 18 identical (tolerance 0.01 of the original)"
    assert all(order.same and order.ktu == order.rbo == 1 for order in verification.refitted.orders.values())
    assert {number.rmse for number in verification.refitted.together if not math.isnan(number.rmse)} == {0.0}


def test_what_does_not_come_again_is_told_by_what_the_algorithm_promised(noisy, tmp_path, make_run):
    folder = make_run(tmp_path, ["reference/popularity", "noisy/honest", "noisy/boastful"], ["ndcg@5"])
    verification = verify(folder, "retrain", tolerance=10.0)
    numbers = {number.algorithm: number for number in verification.refitted.together}
    assert numbers["reference popularity"].verdict == "identical"
    for name in ("noisy honest", "noisy boastful"):
        assert numbers[name].verdict == "within tolerance"
        assert len(numbers[name].differing) > 0 and numbers[name].rmse > 0
        assert -1 <= verification.refitted.orders[name].ktu < 1 and 0 < verification.refitted.orders[name].rbo < 1
    assert {failure.cell.rpartition("/")[0] or failure.cell for failure in verification.failures} == {"noisy boastful"}
    assert any(
        "it must be identical: the algorithm says that it is deterministic" in f.what for f in verification.failures
    )
    strict = verify(folder, "retrain", tolerance=0.0, algorithms=["noisy honest"])
    assert {number.algorithm for number in strict.refitted.numbers} == {"noisy honest"}
    assert any("beyond the tolerance" in failure.what for failure in strict.failures)
    with pytest.raises(StudyError, match=r"there is no algorithm 'popular' to be the baseline.*did you mean"):
        verify(folder, "retrain", baseline="popular")


def test_the_distances_of_two_runs_are_those_of_their_tables(noisy, tmp_path, make_run):
    """Worked out from the users' numbers with pandas alone."""
    runs = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        folder = make_run(tmp_path / name, ["reference/popularity", "noisy/honest"], ["ndcg@5"])
        runs.append(Run(folder))
    comparison = compare_runs(*runs)
    number = next(compared for compared in comparison.together if compared.algorithm == "noisy honest")
    tables = [run.user_values(run.measures[0]).pivot(index="user", columns="algorithm", values="value") for run in runs]
    ours = [table["noisy honest"] for table in tables]
    base = tables[0]["reference popularity"]
    assert number.rmse == pytest.approx(math.sqrt(((ours[0] - ours[1]) ** 2).mean()))
    assert number.er == pytest.approx((ours[1] - base).mean() / (ours[0] - base).mean())
    relative = [(compared.mean() - base.mean()) / base.mean() for compared in ours]
    assert number.dri == pytest.approx(relative[0] - relative[1])
    assert set(number.differing) == set(ours[0].index[ours[0] != ours[1]])


def test_without_the_data_nothing_can_be_fitted(run):
    (run.parent / "ratings.csv").unlink()
    (failure,) = verify(run, "retrain").failures
    assert failure.level == "retrain" and "nothing can be fitted again" in failure.what
