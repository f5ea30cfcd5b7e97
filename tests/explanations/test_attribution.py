"""The gap between two evaluations is shared out among the decisions that differ."""

import numpy as np
import pandas as pd
import pytest

from repro import Study
from repro.errors import StudyError
from repro.explanations import AttributionOptions, ScoredRun, explain
from repro.explanations.interpolate import ProtocolPath, changes
from repro.protocol import Protocol, resolve


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Popularity is a, b, c. User 1 knows c and is tested on b (3), 4 knows a and is tested on b (5), 5 on a (3).

    Precision at 1, where who has nothing relevant counts 0:
    threshold 4, all items: only user 4 has a relevant item, and it is on top: 1/3
    threshold 3, all items: user 5 has a on top too; user 1 has a on top, and wants b: 2/3
    threshold 4, own test items: user 4: 1/3
    threshold 3, own test items: everybody has but one item, and wants it: 3/3
    """
    known = [(2, "a"), (3, "a"), (4, "a"), (2, "b"), (3, "b"), (1, "c")]
    requested = [(1, "b", 3.0), (4, "b", 5.0), (5, "a", 3.0)]
    frame = pd.DataFrame(
        [(user, item, 4.0, 1) for user, item in known] + [(*row, 3) for row in requested],
        columns=["user", "item", "rating", "timestamp"],
    )
    values = {
        "split.strategy": "time-point",
        "split.time": 2.0,
        "relevance.rule": "threshold",
        "relevance.threshold": 4.0,
        "candidates.base": "all-items",
        "average.no_relevant": "zero",
    }
    protocol = resolve(values, {})
    study = Study(frame, protocol, ["reference/popularity"], ["precision@1"], seed=1)
    folder = study.run(tmp_path_factory.mktemp("small") / "run", keep_scores=True).folder
    return ScoredRun.open(folder, frame)


def goal(small):
    return small.protocol.replace({"relevance.threshold": 3.0, "candidates.base": "user-test-items"})


def test_two_decisions_as_computed_by_hand(small):
    result = explain(small, goal(small), "precision@1")
    assert result.before.tolist() == pytest.approx([1 / 3]) and result.after.tolist() == pytest.approx([1.0])
    parts = {part.name: part.values[0] for part in result.contributions}
    # The threshold changes 1/3 or 2/3, as it comes first or second; the base set nothing or 1/3.
    assert parts == pytest.approx({"relevance.threshold": 1 / 2, "candidates.base": 1 / 6}, abs=1e-15)
    assert result.notable() == [
        ("reference popularity", "relevance.threshold", "candidates.base", pytest.approx(1 / 3)),
    ]
    # What has an effect in one of the two only comes along.
    ridden = {change.decision for part in result.contributions for change in part.dependents}
    assert {"candidates.exclude_train", "candidates.negatives"} <= ridden


def test_the_way_back_is_the_same_way(small):
    there = explain(small, goal(small), "precision@1")
    mixture = ProtocolPath(goal(small), small.protocol)
    assert {switch.name for switch in mixture.switches} == {part.name for part in there.contributions}
    assert mixture.protocol(mixture.switches) == small.protocol
    assert mixture.protocol([]) == goal(small)


EVALUATION = {
    "relevance.threshold": 3.0,
    "candidates.base": "train-items",
    "candidates.exclude_train": "none",
    "missing.rank": "first",
    "ties.break": "item-desc",
    "average.no_relevant": "zero",
    "metric.ndcg.gain": "linear",
    "metric.ndcg.ideal": "k",
}


def test_parts_add_up_for_every_algorithm(kept):
    result = explain(kept, kept.protocol.replace(EVALUATION), "ndcg@10")
    assert result.orders is None and len(result.contributions) == len(EVALUATION)
    assert result.algorithms == kept.algorithms
    total = np.sum([part.values for part in result.contributions], axis=0)
    assert np.abs(total - result.gap).max() < 1e-12
    frame = result.to_frame()
    assert frame.groupby("algorithm", sort=False)["part"].sum().to_numpy() == pytest.approx(result.gap, abs=1e-12)
    assert frame["error"].eq(0).all()


def test_the_order_of_decisions_changes_nothing(kept):
    turned = dict(reversed(EVALUATION.items()))
    before, after = (explain(kept, kept.protocol.replace(values), "ndcg@10") for values in (EVALUATION, turned))
    assert [part.name for part in before.contributions] == [part.name for part in after.contributions]
    for first, second in zip(before.contributions, after.contributions, strict=True):
        assert np.array_equal(first.values, second.values)


def test_more_than_ten_decisions_are_sampled_with_their_error(kept):
    more = {
        **EVALUATION,
        "missing.zero": "missing",
        "missing.fallback": "accept",
        "ties.precision": "single",
        "candidates.rated_negatives": "exclude",
    }
    result = explain(kept, kept.protocol.replace(more), "ndcg@10", options=AttributionOptions(orders=60, seed=3))
    assert result.orders == 60 and len(result.contributions) == 12
    assert np.abs(np.sum([part.values for part in result.contributions], axis=0) - result.gap).max() < 1e-12
    assert max(part.errors.max() for part in result.contributions) > 0
    again = explain(kept, kept.protocol.replace(more), "ndcg@10", options=AttributionOptions(orders=60, seed=3))
    pairs = zip(result.contributions, again.contributions, strict=True)
    assert all(np.array_equal(a.values, b.values) for a, b in pairs)


def test_decisions_that_contradict_each_other_one_by_one_are_switched_together(kept):
    before = kept.protocol.replace({"candidates.relevant": "one"})
    test_items = kept.protocol.replace({"candidates.base": "user-test-items"})
    names = [switch.name for switch in ProtocolPath(before, test_items).switches]
    assert names == ["candidates.base + candidates.relevant"]


def test_split_and_data_are_named_and_left_alone_without_a_refit(kept):
    other = kept.protocol.replace({"split.folds": 3, "relevance.threshold": 3.0})
    result = explain(kept, other, "ndcg@10")
    assert [change.decision for change in result.needs_refit] == ["split.folds"]
    assert [part.name for part in result.contributions] == ["relevance.threshold"]
    same = explain(kept, kept.protocol.replace({"relevance.threshold": 3.0}), "ndcg@10")
    assert np.array_equal(result.contributions[0].values, same.contributions[0].values)


def test_with_a_refit_they_are_accounted_for(kept, study, tmp_path):
    other = kept.protocol.replace({"split.folds": 3, "relevance.threshold": 3.0})
    result = explain(kept, other, "ndcg@10", options=AttributionOptions(refit=True))
    assert [part.name for part in result.contributions] == ["relevance.threshold", "split.folds"]
    table = study.with_protocol(other).run(tmp_path / "run").table()
    assert np.array_equal(result.after, table["ndcg@10"].to_numpy())
    assert np.abs(np.sum([part.values for part in result.contributions], axis=0) - result.gap).max() < 1e-12


def test_two_runs_with_other_fits_share_out_fits_and_decisions(kept, study, data, tmp_path):
    protocol = kept.protocol.replace({"split.folds": 3, "relevance.threshold": 3.0})
    other = study.with_protocol(protocol)
    other.seed = 8
    results = other.run(tmp_path / "other", keep_scores=True)
    result = explain(kept, ScoredRun.open(results.folder, data), "ndcg@10")
    assert [part.name for part in result.contributions] == ["relevance.threshold", "what was fitted"]
    assert [change.decision for change in result.contributions[1].changes] == ["split.folds"]
    assert np.array_equal(result.after, results.table()["ndcg@10"].to_numpy())
    assert np.abs(np.sum([part.values for part in result.contributions], axis=0) - result.gap).max() < 1e-12
    assert result.needs_refit == ()


def test_algorithms_without_a_number_are_left_out(kept):
    result = explain(kept, kept.protocol.replace({"predict.clip": "scale"}), "rmse")
    assert set(result.left_out) == set(kept.algorithms) - set(result.algorithms) != set()


def test_nothing_differs(kept):
    result = explain(kept, kept.protocol, "ndcg@10")
    assert result.contributions == () and not result.gap.any()


def test_unexplainable_gaps_raise_errors(kept):
    with pytest.raises(StudyError, match=r"no algorithm 'refrence popularity'.*reference popularity"):
        explain(kept, kept.protocol, "ndcg@10", algorithms=["refrence popularity"])
    with pytest.raises(StudyError, match="no number"):
        explain(kept, kept.protocol.replace({"missing.rank": "fail"}), "ndcg@10")


def test_changes_say_what_values_mean():
    before, after = Protocol.load("random-5fold"), Protocol.load("random-5fold", ties__break="expected")
    result = {change.decision: change for change in changes(before, after)}
    assert result["ties.break"].meaning("expected").startswith("in all orders")
    assert result["ties.id_order"].after is None
    assert result["ties.id_order"].meaning(None) == "has no effect"


def predicted(data, damping, protocol, folder):
    algorithm = {"use": "reference/bias", "label": "bias", "parameters": {"item_damping": damping}}
    study = Study(data, protocol, [algorithm], ["rmse"], seed=7)
    return ScoredRun.open(study.run(folder, keep_scores=True).folder, data)


def test_predictions_of_other_fits_are_other_fits(data, study, tmp_path):
    before, after = (predicted(data, d, study.protocol, tmp_path / str(d)) for d in (0.0, 25.0))
    result = explain(before, after, "rmse")
    assert [part.name for part in result.contributions] == ["what was fitted"]
    assert result.gap[0] == pytest.approx(float(result.contributions[0].values[0])) and result.gap[0] != 0
    assert explain(before, before, "rmse").contributions == ()


def test_a_scale_that_clips_is_accounted_for(data, study, tmp_path):
    clipped = study.protocol.replace({"predict.clip": "scale"})
    narrow = clipped.replace({"data.scale": "stated", "data.scale_min": 2.0, "data.scale_max": 3.0})
    before, after = predicted(data, 5.0, clipped, tmp_path / "a"), predicted(data, 5.0, narrow, tmp_path / "b")
    result = explain(before, after, "rmse")
    assert [part.name for part in result.contributions] == ["what was fitted"]
    assert [change.decision for change in result.contributions[0].changes] == ["data.scale"]
    assert float(result.contributions[0].values[0]) == float(result.gap[0]) != 0


def test_other_tuning_is_another_fit(data, tmp_path):
    protocol = Protocol.load("random-5fold", split__folds=2, split__validation_share=0.2)

    def tuned(ks):
        tune = {"metric": "ndcg@5", "trials": 2, "space": {"item-knn": {"k": ks}}}
        made = Study(data, protocol, ["reference/item-knn"], ["ndcg@5"], seed=7, tune=tune)
        return ScoredRun.open(made.run(tmp_path / str(ks[0]), keep_scores=True).folder, data)

    before, after = tuned([1, 2]), tuned([40, 50])
    for refit in (False, True):
        result = explain(before, after, "ndcg@5", options=AttributionOptions(refit=refit))
        assert [part.name for part in result.contributions] == ["what was fitted"]
    assert "Parameters were chosen under the run's own protocol" in result.notes[0]


def test_files_are_found_from_where_they_are_stated(kept, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "negatives.tsv").write_text("")
    values = {"candidates.base": "file", "candidates.file": "negatives.tsv"}
    theirs = kept.protocol.replace(values, folder=tmp_path / "there")
    mixture = ProtocolPath(kept.protocol, theirs)
    assert mixture.protocol(mixture.switches).path("candidates.file") == tmp_path / "there" / "negatives.tsv"


def test_what_needs_two_switches_rides_on_both(kept):
    before = kept.protocol.replace({"candidates.relevant": "all", "candidates.negatives": "all"})
    sampled = {"candidates.relevant": "one", "candidates.negatives": "sampled", "candidates.sample_size": 10}
    after = kept.protocol.replace({**sampled, "candidates.sample_per": "user"})
    riding = {switch.name: switch.dependents for switch in ProtocolPath(before, after).switches}
    assert "candidates.sample_per" in riding["candidates.relevant"]
    assert "candidates.sample_per" in riding["candidates.negatives"]
