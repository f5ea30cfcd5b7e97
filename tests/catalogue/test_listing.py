"""Data frames of what there is: complete, and with what their sources declare."""

import pandas as pd
import pytest

import repro
from repro.app import Application
from repro.current import use
from repro.data import datasets
from repro.errors import PluginError, ProtocolError
from repro.evaluation.metrics import metrics
from repro.plugin import Plugins, plugins
from repro.protocol import protocol_names, registry

LISTS = ("algorithms", "datasets", "decisions", "metrics", "plugins", "protocols")


def test_every_algorithm_can_be_used_by_its_name():
    table = repro.algorithms()
    uses = {f"{row.framework}/{row.algorithm}" for row in table.itertuples()}
    assert len(uses) == len(table)
    for framework in plugins().frameworks.values():
        for algorithm in framework.algorithms:
            assert f"{framework.name}/{algorithm.name}" in uses
    frame = pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "rating": [5, 4, 3]})
    own = [use for use in sorted(uses) if use.startswith("reference/")]
    assert [entry.use for entry in repro.Study(frame, "random-5fold", own, "ndcg@10").entries] == own


def test_the_parameters_of_an_algorithm_are_those_of_each_framework():
    table = repro.algorithms("item-knn")
    for name, rows in table.groupby("framework"):
        (algorithm,) = [each for each in plugins().frameworks[name].algorithms if each.name == "item-knn"]
        settable = rows[rows["problem"] == ""]
        assert dict(zip(settable["parameter"], settable["default"], strict=True)) == {
            parameter.name: parameter.default for parameter in algorithm.parameters
        }
        assert set(rows["parameter"]) - set(settable["parameter"]) == set(algorithm.unmapped)


def test_each_list_is_complete():
    assert set(repro.datasets()["name"]) == set(datasets())
    assert set(repro.decisions()["decision"]) == set(registry())
    assert set(repro.metrics()["metric"]) == set(metrics())
    assert set(repro.plugins()["framework"]) == set(plugins().frameworks)
    groups = {name.rpartition("/")[0] for name in protocol_names()}
    listed = [name for group in groups for name in repro.protocols(group)["protocol"]]
    assert sorted(listed) == sorted(protocol_names())


def test_options_are_those_of_a_decision_or_a_family():
    table = repro.decisions("ties.break")
    assert table["value"].tolist() == [option.value for option in registry()["ties.break"].options]
    assert table[table["is_default"]]["value"].tolist() == [registry()["ties.break"].default]
    assert set(repro.decisions("ties")["decision"]) == {key for key in registry() if key.startswith("ties.")}
    (number,) = repro.decisions("relevance.threshold")["value"]
    assert number == registry()["relevance.threshold"].allowed()


@pytest.mark.parametrize(
    ("ask", "error", "sentence"),
    [
        (lambda: repro.algorithms("item-kn"), PluginError, "did you mean 'item-knn'"),
        (lambda: repro.decisions("ties.brake"), ProtocolError, "did you mean 'ties.break'"),
        (lambda: repro.protocols("infered"), ProtocolError, "did you mean 'inferred'"),
    ],
)
def test_unknown_names_get_the_nearest(ask, error, sentence):
    with pytest.raises(error, match=sentence):
        ask()


def test_without_plugins_lists_keep_their_columns():
    columns = {name: list(getattr(repro, name)().columns) for name in LISTS}
    with use(Application(Plugins())):
        for name in LISTS:
            assert list(getattr(repro, name)().columns) == columns[name]
        assert repro.algorithms().empty and repro.plugins().empty
