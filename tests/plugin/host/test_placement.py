"""The border: what a plug-in may not do, and how it is told."""

import math
import re
import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest

from repro.data import Interactions
from repro.errors import PluginError
from repro.plugin import (
    Algorithm,
    CheckedRecommender,
    Environment,
    Framework,
    Parameter,
    Plugins,
    Scores,
    load_plugins,
    make_recommender,
    parameters_of,
    plugins,
)


class Recommender:
    def __init__(self, result):
        self.result = result

    def fit(self, train, *, seed):
        raise RuntimeError("no luck")

    def score(self, queries, items):
        return self.result


def guarded(result):
    return CheckedRecommender(Recommender(result), "mine/broken")


USERS, ITEMS = np.arange(2, dtype=np.int32), np.arange(3, dtype=np.int32)


def test_a_plugin_that_raises_is_named():
    with pytest.raises(PluginError, match="mine/broken failed in fit: RuntimeError: no luck"):
        guarded(None).fit(Interactions(USERS, USERS, np.ones(2), None, USERS, ITEMS), seed=1)


def test_what_a_framework_needs_is_imported_before_it_is_made(tmp_path, monkeypatch):
    (tmp_path / "needed_here.py").write_text("")
    (tmp_path / "broken_here.py").write_text("raise ImportError('compiled for another numpy')")
    monkeypatch.syspath_prepend(tmp_path)

    def make():
        assert "needed_here" in sys.modules
        return Recommender(None)

    for module in ("needed_here", "broken_here"):
        needs = Environment((module,), ())
        frameworks = {"mine": Framework("mine", "1", "", (Algorithm("luck", "", make),), environment=needs)}
        actual = Plugins(frameworks=frameworks)
        if module == "needed_here":
            assert actual.recommender("mine/luck", {}).label == "mine/luck"
            continue
        with pytest.raises(PluginError, match="mine/luck failed in import: ImportError: compiled for another numpy"):
            actual.recommender("mine/luck", {})


def test_a_wrong_shape_is_told():
    with pytest.raises(PluginError, match=r"shape \(3, 2\) from score; expected \(2, 3\): queries by items"):
        guarded(Scores(np.zeros((3, 2)))).score_users(USERS, ITEMS)


def test_a_list_in_place_of_scores_is_refused():
    with pytest.raises(PluginError, match="returned list from score"):
        guarded([1, 2, 3]).score_users(USERS, ITEMS)


def test_states_are_checked():
    with pytest.raises(PluginError, match=r"0 \(scored\), 1 \(unscored\) or 2 \(fallback\)"):
        guarded(Scores(np.zeros((2, 3)), np.full((2, 3), 7, dtype=np.uint8))).score_users(USERS, ITEMS)
    fine = guarded(Scores(np.zeros((2, 3)), np.ones((2, 3), dtype=np.uint8))).score_users(USERS, ITEMS)
    assert fine.state.sum() == 6


def test_a_broken_plugin_is_left_out_and_named():
    actual = load_plugins([EntryPoint("sad", "no_such_module_here", "repro")])
    assert not actual.frameworks
    assert "no_such_module_here" in actual.broken["sad"]
    with pytest.raises(PluginError, match="plug-in sad is installed but broken"):
        actual.framework("sad")


def test_unknown_frameworks_and_algorithms_get_the_nearest():
    with pytest.raises(PluginError, match="did you mean 'reference'"):
        plugins().framework("referense")
    with pytest.raises(PluginError, match="did you mean 'popularity'"):
        plugins().algorithm("reference/popularty")
    with pytest.raises(PluginError, match="write framework/algorithm"):
        plugins().algorithm("popularity")


WITHOUT_ALGORITHMS = """
from repro.plugin import Framework, impl

@impl
def repro_framework():
    return Framework("judge", "7", "it only measures", ())
"""


def test_a_framework_without_algorithms_is_listed_and_in_nobodys_way(write_plugin, run):
    path = write_plugin("judge", WITHOUT_ALGORITHMS)
    assert re.search(r"judge +7 +in this process +none", run("-m", "repro", "plugins", "list", path=path).stdout)
    for arguments in (["algorithms", "list"], ["algorithms", "list", "--json"], ["algorithms", "show", "ease"]):
        assert "judge" not in run("-m", "repro", *arguments, path=path).stdout
    ask = (
        "from repro.plugin import plugins; print(plugins().frameworks_with('ease')); plugins().algorithm('judge/ease')"
    )
    completed = run("-c", ask, path=path, status=1)
    assert "reference" in completed.stdout and "judge" not in completed.stdout
    assert "framework judge has no algorithm 'ease'. It brings no algorithms" in completed.stderr


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


def test_numbers_take_the_type_of_their_default_and_are_finite():
    algorithm = Algorithm("knn", "", object, (Parameter("neighbours", 20, ""), Parameter("weight", 1.0, "")))
    actual = parameters_of(algorithm, {"neighbours": 5.0, "weight": 2})
    assert [(value, type(value)) for value in actual.values()] == [(5, int), (2.0, float)]
    for wrong in ({"neighbours": math.inf}, {"neighbours": math.nan}, {"weight": math.nan}, {"weight": -math.inf}):
        with pytest.raises(PluginError, match="must be"):
            parameters_of(algorithm, wrong)


def test_a_plugin_that_leaves_the_process_is_named():
    class Leaves(Recommender):
        def score(self, queries, items):
            sys.exit(3)

    with pytest.raises(PluginError, match="mine/rude failed in score: SystemExit: 3"):
        CheckedRecommender(Leaves(None), "mine/rude").score_users(USERS, ITEMS)


def test_a_plugin_that_cannot_be_made_is_named():
    def make():
        raise ImportError("no such framework")

    with pytest.raises(PluginError, match="mine/odd failed in make: ImportError: no such framework"):
        make_recommender(Algorithm("odd", "", make), {}, "mine/odd")


@pytest.mark.parametrize("values", [np.full((2, 3), "high"), np.zeros((2, 3), dtype=complex), [[1, 2], [3]]])
def test_scores_that_are_not_numbers_are_refused(values):
    with pytest.raises(PluginError, match="mine/broken returned scores from score that are not numbers"):
        guarded(Scores(values)).score_users(USERS, ITEMS)


@pytest.mark.parametrize("state", [np.full((2, 3), 0.5), np.full((2, 3), 256), np.full((2, 3), -1)])
def test_states_are_not_bent_into_shape(state):
    with pytest.raises(PluginError, match=r"0 \(scored\), 1 \(unscored\) or 2 \(fallback\)"):
        guarded(Scores(np.zeros((2, 3)), state)).score_users(USERS, ITEMS)


def test_a_plugin_cannot_change_what_it_is_given():
    class Scribbles(Recommender):
        def fit(self, train, *, seed):
            train.ratings[:] = 0

        def score(self, queries, items):
            users = queries.users
            users[:] = 0

    train = Interactions(USERS, USERS, np.array([4.0, 5.0]), None, USERS, ITEMS)
    mine = CheckedRecommender(Scribbles(None), "mine/rude")
    with pytest.raises(PluginError, match=r"failed in fit: .*read-only"):
        mine.fit(train, seed=1)
    with pytest.raises(PluginError, match=r"failed in score: .*read-only"):
        mine.score_users(USERS, ITEMS)
    assert train.ratings.tolist() == [4, 5]
    assert USERS.tolist() == [0, 1]


def test_what_a_plugin_prints_stays_out_of_standard_output(capsys):
    class Talks(Recommender):
        def score(self, queries, items):
            print("computing similarities")
            return Scores(np.zeros((2, 3)))

    CheckedRecommender(Talks(None), "mine/chatty").score_users(USERS, ITEMS)
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "computing similarities\n")
