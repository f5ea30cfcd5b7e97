"""Cornac's own splitters hold out, from its own environment, the rows that Cornac itself would."""

import json
import subprocess

import numpy as np
import pytest

from repro.errors import PluginError
from repro.plugin import plugins
from repro.protocol import resolve
from repro.split.make import make_folds

# Cornac's public results, not the calls inside it: pairs in its training and test sets, given every row its own item.
CORNACS_OWN = """
import json, sys
from cornac.eval_methods import CrossValidation, RatioSplit
asked = json.load(sys.stdin)
data = [(0, row, 1.0) for row in range(asked["rows"])]
def rows(part):
    names = {inner: row for row, inner in part.iid_map.items()}
    return sorted(names[inner] for inner in part.uir_tuple[1].tolist())
ratio = RatioSplit(data, test_size=asked["test"], val_size=asked["val"], seed=asked["seed"], exclude_unknowns=False)
folds = []
method = CrossValidation(data, n_folds=asked["folds"], seed=asked["seed"], exclude_unknowns=False)
for _ in range(asked["folds"]):
    method._get_train_test()
    folds.append([rows(method.train_set), rows(method.test_set)])
    method._next_fold()
print(json.dumps({"ratio": [[rows(ratio.train_set), rows(ratio.test_set)]], "folds": folds}))
"""


@pytest.fixture(scope="module")
def cornacs_own(python, small):
    request = {"rows": len(small), "seed": 17, "test": 0.25, "val": 0.1, "folds": 3}
    done = subprocess.run(
        [python, "-c", CORNACS_OWN], input=json.dumps(request), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def as_lists(folds):
    return [[sorted(np.asarray(part).tolist()) for part in fold] for fold in folds]


def test_ratio_split_holds_out_the_rows_that_cornac_does(python, small, cornacs_own):
    folds = plugins().split("cornac/RatioSplit", small, 17, {"test_size": 0.25, "val_size": 0.1})
    assert as_lists(folds) == cornacs_own["ratio"]


def test_cross_validation_deals_the_folds_that_cornac_does(python, small, cornacs_own):
    folds = plugins().split("cornac/CrossValidation", small, 17, {"n_folds": 3})
    assert as_lists(folds) == cornacs_own["folds"]


def test_a_protocol_can_ask_for_them(python, small, cornacs_own):
    settings = {
        "relevance.rule": "any",
        "candidates.base": "all-items",
        "split.strategy": "cornac/RatioSplit",
        "split.cornac-RatioSplit.test_size": 0.25,
        "split.cornac-RatioSplit.val_size": 0.1,
        "split.unseen_users": "keep",
        "split.unseen_items": "keep",
    }
    split = make_folds(small, resolve(settings, dict.fromkeys(settings, "test")), seed=17)
    assert as_lists([(fold.train, fold.test) for fold in split.folds]) == cornacs_own["ratio"]


def test_what_cornac_refuses_is_told(python, small):
    with pytest.raises(PluginError, match=r"cornac.*test_size=-1.*should be greater than zero"):
        plugins().split("cornac/RatioSplit", small, 17, {"test_size": -1.0, "val_size": 0.0})


def test_without_the_environment_it_is_said_how_to_build_it(small, tmp_path, monkeypatch):
    monkeypatch.setenv("REPRO_ENVIRONMENTS", str(tmp_path))
    with pytest.raises(PluginError, match="cornac/RatioSplit: cornac is not installed; `repro plugins install cornac`"):
        plugins().split("cornac/RatioSplit", small, 17, {"test_size": 0.2, "val_size": 0.0})
