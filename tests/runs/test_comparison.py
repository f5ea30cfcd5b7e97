"""`repro.compare`: what it accepts, and that it gives the numbers of independent tests."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import repro

USERS = 30
pytestmark = pytest.mark.filterwarnings("ignore::repro.ReproWarning")


@pytest.fixture
def frames():
    """Values of two systems, of which the first is better by a constant and noise."""
    rng = np.random.default_rng(4)
    values = rng.random(USERS)
    systems = {"ours": values + 0.1 + rng.random(USERS) / 20, "theirs": values}
    return {
        name: pd.DataFrame({"user": range(USERS), "metric": "ndcg@10", "value": of_users})
        for name, of_users in systems.items()
    }


def test_frames_are_compared_as_by_scipy(frames):
    pairs = repro.compare(frames, test="t").pairs
    expected = stats.ttest_rel(frames["ours"]["value"], frames["theirs"]["value"])
    assert pairs["p"].tolist() == pytest.approx([expected.pvalue])
    assert pairs[["a", "b", "verdict"]].to_numpy().tolist() == [["ours", "theirs", "ours is better"]]


def test_files_frames_and_one_frame_of_several_runs_are_the_same(frames, tmp_path):
    expected = repro.compare(frames, test="t").pairs
    files = [tmp_path / f"{name}.parquet" for name in frames]
    for frame, file in zip(frames.values(), files, strict=True):
        frame.to_parquet(file)
    together = pd.concat([frame.assign(run=name) for name, frame in frames.items()])
    together.to_csv(tmp_path / "both.csv", index=False)
    given = [
        files,
        [str(file) for file in files],
        {"ours": files[0], "theirs": frames["theirs"]},
        together,
        tmp_path / "both.csv",
    ]
    for values in given:
        pd.testing.assert_frame_equal(repro.compare(values, test="t").pairs, expected)


def test_frames_of_evaluate_are_compared_and_two_protocols_are_noted():
    truth = pd.DataFrame({"user": range(20), "item": [n % 5 for n in range(20)]})
    first = pd.DataFrame({"user": range(20), "item": [n % 5 for n in range(20)], "score": 1.0})
    second = first.assign(item=[n % 4 for n in range(20)])
    measured = {
        name: repro.evaluate(lists, truth, metrics=["hit@1"], per_user=True)
        for name, lists in (("first", first), ("second", second))
    }
    compared = repro.compare(measured, test="t")
    assert compared.metric == "hit@1" and compared.better == "higher"
    assert compared.pairs["mean_a"].tolist() == [1.0]
    assert not compared.notes
    measured["second"].attrs["protocol"] = {"name": "another", "hash": "0" * 64}
    assert "under different protocols" in " ".join(repro.compare(measured, test="t").notes)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (lambda frames: [frames["ours"], frames["theirs"]], "has no names of systems; give a mapping"),
        (lambda frames: {}, "no per-user values are given"),
        (lambda frames: {"ours": 3, "theirs": 4}, "'ours' is of type int"),
        (lambda frames: {"ours": frames["ours"].drop(columns="user")}, "'ours' has no column 'user'"),
        (lambda frames: {"ours": frames["ours"].assign(metric="rr"), "theirs": frames["theirs"]}, "no metric in"),
        (lambda frames: pd.concat([frames["ours"], frames["ours"]]).assign(run="ours"), "of user 0 twice"),
        (lambda frames: {"ours": frames["ours"]}, "nothing to compare: 1 system"),
    ],
)
def test_other_input_is_refused_with_a_sentence(frames, given, sentence):
    with pytest.raises(repro.ReproError, match=sentence):
        repro.compare(given(frames))


def test_the_text_has_the_test_and_the_page_is_escaped(frames):
    compared = repro.compare({"<b>ours</b>": frames["ours"], "theirs": frames["theirs"]}, test="t")
    assert compared.comparison.stated in repr(compared) and "<b>ours</b> is better" in repr(compared)
    page = compared._repr_html_()
    assert "<b>ours</b>" not in page and "&lt;b&gt;ours&lt;/b&gt; is better" in page


def test_cautions_are_warnings_too(frames):
    with pytest.warns(repro.ReproWarning) as issued:
        compared = repro.compare(frames, test="t")
    assert {str(warning.message) for warning in issued} == set(compared.cautions)


def test_plain_data_is_json_and_has_the_pairs(frames):
    plain = json.loads(json.dumps(repro.compare(frames, test="t").to_dict()))
    assert plain["pairs"][0]["verdict"] == "ours is better" and plain["metric"] == "ndcg@10"


def test_the_chart_has_each_pair_and_its_interval(frames, tmp_path):
    compared = repro.compare(frames, test="t")
    chart = compared.plot().to_dict()
    (row,) = [row for rows in chart["datasets"].values() for row in rows if "pair" in row]
    pair = compared.pairs.iloc[0]
    assert (row["difference"], row["low"], row["high"]) == tuple(pair[["difference", "low", "high"]])
    compared.plot().save(tmp_path / "chart.svg")
    assert "ours" in (tmp_path / "chart.svg").read_text(encoding="utf-8")
