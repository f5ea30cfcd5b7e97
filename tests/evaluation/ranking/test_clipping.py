"""Scores clipped before the ranking: which ties that makes, what it leaves alone, and what is counted."""

import numpy as np
import pandas as pd
import pytest

import repro
from repro import Study
from repro.errors import DataError, ProtocolError
from repro.protocol import Protocol

TRUTH = pd.DataFrame({"user": ["u"], "item": ["c"], "rating": [5.0]})
# Without clipping: a, b, c, d. Clipped to 1..5: a, b and c are equal, and so are e and d.
LISTS = pd.DataFrame({"user": ["u"] * 5, "item": list("cbade"), "score": [5.5, 6.0, 7.0, 0.0, -1.0]})
STATED = {"data.scale": "stated", "data.scale_min": 1.0, "data.scale_max": 5.0}


def rr(**decisions):
    protocol = Protocol.load("random-5fold").replace(
        {"candidates.base": "all-items", **STATED, **{key.replace("__", "."): to for key, to in decisions.items()}}
    )
    return repro.evaluate(LISTS, TRUTH, protocol, "rr")["value"].iloc[0]


def test_scores_beyond_the_scale_tie_at_its_end():
    assert rr() == pytest.approx(1 / 3)
    assert rr(scores__clip="scale") == pytest.approx(1 / 3)  # a, b and c tie, by id
    assert rr(scores__clip="scale", ties__break="item-desc") == 1
    assert rr(scores__clip="scale", ties__break="expected") == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


def test_a_missing_score_is_not_clipped_into_a_score():
    protocol = Protocol.load("random-5fold").replace(
        {**STATED, "scores.clip": "scale", "missing.zero": "missing", "missing.rank": "drop"}
    )
    truth = pd.DataFrame({"user": ["u", "u"], "item": ["d", "e"], "rating": [5.0, 5.0]})
    # d scores 0, which is missing; e is clipped to 1 and stays.
    assert repro.evaluate(LISTS, truth, protocol, "recall@5")["value"].iloc[0] == 0.5


def test_ranks_and_unknown_scales_are_refused():
    ranks = LISTS.drop(columns="score").assign(rank=range(1, 6))
    clip = Protocol.load("random-5fold").replace({"scores.clip": "scale"})
    with pytest.raises(DataError, match="ranks alone"):
        repro.evaluate(ranks, TRUTH, clip, "rr")
    bare = clip.replace({"relevance.rule": "any"})
    with pytest.raises(ProtocolError, match="needs the rating scale"):
        repro.evaluate(LISTS, TRUTH.drop(columns="rating"), bare, "rr")
    with pytest.raises(ProtocolError, match="needs training rows"):
        repro.evaluate(LISTS, TRUTH, clip.replace({"scores.clip": "train"}), "rr")


def test_a_study_clips_to_the_scale_of_all_rows_or_to_the_training_rows(tmp_path):
    """One user, whom a matrix of scores is given for: items a to d, of which d is held out."""
    rows = pd.DataFrame({"user": ["u", "u", "u", "v"], "item": list("dabc"), "rating": [5.0, 1.0, 3.0, 4.0]})
    train, test = rows.iloc[1:], rows.iloc[:1]
    train.to_csv(tmp_path / "train.csv", index=False)
    test.to_csv(tmp_path / "test.csv", index=False)
    scores = pd.DataFrame([[2.0, 2.0, 4.2, 4.1], [1.0, 1.0, 1.0, 1.0]], index=["u", "v"], columns=list("abcd"))

    def impacts_and_rr(clip):
        protocol = Protocol.load("random-5fold").replace(
            {
                "split.strategy": "files",
                "split.train_file": str(tmp_path / "train.csv"),
                "split.test_file": str(tmp_path / "test.csv"),
                "split.unseen_items": "keep",
                "candidates.base": "all-items",
                "scores.clip": clip,
                "ties.break": "item-desc",
            }
        )
        run = Study(rows, protocol, [("given", scores)], ["rr"]).run(tmp_path / clip)
        impacts = {
            impact.decision: impact.touched
            for cells in run.cells.values()
            for cell in cells.values()
            for impact in cell.impacts
        }
        return run.table()["rr"].iloc[0], impacts.get("scores.clip")

    assert impacts_and_rr("none") == (0.5, None)  # c, d
    assert impacts_and_rr("scale") == (0.5, 0)  # up to 5: nothing is clipped
    assert impacts_and_rr("train") == (1.0, 2)  # up to 4: c and d are equal, and d comes first


def test_data_without_ratings_is_refused(tmp_path):
    rows = pd.DataFrame({"user": np.repeat(range(6), 5), "item": [*range(5)] * 6})
    protocol = Protocol.load("random-5fold").replace({"relevance.rule": "any", "scores.clip": "scale"})
    with pytest.raises(ProtocolError, match="clips scores to ratings"):
        Study(rows, protocol, "reference/popularity", "rr").run(tmp_path / "run")
