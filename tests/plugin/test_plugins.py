"""The border: what a plug-in may not do, and how it is told."""

from importlib.metadata import EntryPoint

import numpy as np
import pytest

from repro.errors import PluginError
from repro.plugin import Algorithm, Guarded, Parameter, Scores, load_plugins, parameters_of, plugins


class Recommender:
    def __init__(self, result):
        self.result = result

    def fit(self, train, *, seed):
        raise RuntimeError("no luck")

    def score(self, users, items):
        return self.result


def guarded(result):
    return Guarded(Recommender(result), "mine/broken")


USERS, ITEMS = np.arange(2, dtype=np.int32), np.arange(3, dtype=np.int32)


def test_a_plugin_that_raises_is_named():
    with pytest.raises(PluginError, match="mine/broken failed in fit: RuntimeError: no luck"):
        guarded(None).fit(None, seed=1)


def test_a_wrong_shape_is_told():
    with pytest.raises(PluginError, match=r"shape \(3, 2\) from score; expected \(2, 3\): users by items"):
        guarded(Scores(np.zeros((3, 2)))).score(USERS, ITEMS)


def test_a_list_in_place_of_scores_is_refused():
    with pytest.raises(PluginError, match="returned list from score"):
        guarded([1, 2, 3]).score(USERS, ITEMS)


def test_states_are_checked():
    with pytest.raises(PluginError, match=r"0 \(scored\), 1 \(unscored\) or 2 \(fallback\)"):
        guarded(Scores(np.zeros((2, 3)), np.full((2, 3), 7, dtype=np.uint8))).score(USERS, ITEMS)
    fine = guarded(Scores(np.zeros((2, 3)), np.ones((2, 3), dtype=np.uint8))).score(USERS, ITEMS)
    assert fine.state.sum() == 6


def test_a_broken_plugin_is_left_out_and_named():
    found = load_plugins([EntryPoint("sad", "no_such_module_here", "repro")])
    assert not found.frameworks
    assert "no_such_module_here" in found.broken["sad"]
    with pytest.raises(PluginError, match="plug-in sad is installed but broken"):
        found.framework("sad")


def test_unknown_frameworks_and_algorithms_get_the_nearest():
    with pytest.raises(PluginError, match="did you mean 'reference'"):
        plugins().framework("referense")
    with pytest.raises(PluginError, match="did you mean 'popularity'"):
        plugins().algorithm("reference/popularty")
    with pytest.raises(PluginError, match="write framework/algorithm"):
        plugins().algorithm("popularity")


def test_parameters_are_checked_against_their_declaration():
    algorithm = Algorithm(
        "knn",
        "",
        object,
        (Parameter("neighbours", 20, ""), Parameter("similarity", "cosine", "", ("cosine", "pearson"))),
    )
    assert parameters_of(algorithm, {"neighbours": 5}) == {"neighbours": 5, "similarity": "cosine"}
    with pytest.raises(PluginError, match="no parameter 'neighbors'; did you mean 'neighbours'"):
        parameters_of(algorithm, {"neighbors": 5})
    with pytest.raises(PluginError, match="allowed: cosine, pearson"):
        parameters_of(algorithm, {"similarity": "cos"})
    with pytest.raises(PluginError, match="must be int"):
        parameters_of(algorithm, {"neighbours": "many"})
