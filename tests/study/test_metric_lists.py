"""Metrics times cut-offs in one line."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro import Study
from repro.errors import ReproError
from repro.study.metric_lists import expanded_metrics

NAMES = ("ndcg", "precision", "recall", "hit", "ndcg[gain=exp2]")
TABLE = 'metrics = { names = ["ndcg", "rmse", "ap"], at = [5, 10] }'
EXPANDED = ["ndcg@5", "ndcg@10", "rmse", "ap@5", "ap@10"]
STUDY = """
metrics = ["ndcg@10"]
data = { name = "synthetic", users = 30, items = 20, ratings = 200 }
protocol = "random-5fold"
[[algorithms]]
use = "reference/popularity"
"""


@given(st.lists(st.sampled_from(NAMES), unique=True, min_size=1), st.lists(st.integers(1, 99), unique=True, min_size=1))
def test_every_name_has_every_cut_off_before_the_next_name(names, cutoffs):
    assert expanded_metrics({"names": names, "at": cutoffs}) == tuple(f"{n}@{k}" for n, k in product(names, cutoffs))


def test_a_table_is_the_same_study_as_the_list_that_it_stands_for(tmp_path, data):
    path = tmp_path / "study.toml"
    path.write_text(STUDY.replace('metrics = ["ndcg@10"]', TABLE))
    from_table = Study.load(path)
    path.write_text(STUDY.replace('["ndcg@10"]', str(EXPANDED).replace("'", '"')))
    from_list = Study.load(path)
    assert [measure.name for measure in from_table.measures] == EXPANDED
    assert from_table.digest == from_list.digest
    assert from_table.to_toml() == from_list.to_toml()
    in_python = Study("synthetic", "random-5fold", "reference/popularity", {"names": ["ndcg", "rmse"], "at": 5})
    assert [measure.name for measure in in_python.measures] == ["ndcg@5", "rmse"]
    mixed = Study("synthetic", "random-5fold", "reference/popularity", ["rmse", {"names": "ndcg", "at": (5, 10)}])
    assert [measure.name for measure in mixed.measures] == ["rmse", "ndcg@5", "ndcg@10"]


@pytest.mark.parametrize(
    ("stated", "sentence"),
    [
        ({"names": ["ndcg"]}, "the table has no 'at'; write metrics = {"),
        ({"names": ["ndcg"], "att": [5], "at": [5]}, "unknown key 'att'; did you mean 'at'"),
        ({"names": ["ndcg"], "at": [0]}, "at has 0; a cut-off is a whole number"),
        ({"names": ["ndcg"], "at": [True]}, "at has True"),
        ({"names": ["ndcg"], "at": []}, "must not be empty"),
        ({"names": ["ndcg@10"], "at": [5]}, "write ndcg, or put ndcg@10 into a list next to the table"),
        ({"names": [3], "at": [5]}, "in Python; not 3"),
        ({"names": ["ndgc"], "at": [5]}, "did you mean 'ndcg'"),
        (["ndcg@5", {"names": ["ndcg"], "at": [5]}], "asked for twice"),
    ],
)
def test_what_is_refused(data, stated, sentence):
    with pytest.raises(ReproError) as caught:
        Study(data, "random-5fold", "reference/popularity", stated)
    assert sentence in str(caught.value)
