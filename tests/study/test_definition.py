"""Algorithms of a study that follow a named definition."""

import json

import pytest

import repro
from repro.definitions.following import converted, follow
from repro.definitions.space import Space
from repro.errors import PluginError, StudyError
from repro.study.entry import read_entries
from repro.testing import small_ratings


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "repro" / "definitions"


def test_a_framework_gets_the_parameters_that_make_it_follow(own_cache):
    """LensKit scores by quantile unless it is told to count."""
    (entry,), left_out = read_entries([{"use": "lenskit/popularity", "definition": "users"}])
    assert entry.parameters == {"score": "count"}
    assert entry.follows.startswith("the same scores in single precision as users: ")
    assert not left_out
    stored = [json.loads(file.read_text()) for file in own_cache.iterdir()]
    assert [(each["algorithm"], each["parameters"]) for each in stored] == [("lenskit/popularity", {"score": "count"})]


def test_the_stored_parameters_are_used_again(own_cache):
    first = follow("users", "lenskit/popularity", {})
    (file,) = own_cache.iterdir()
    file.write_text(json.dumps(json.loads(file.read_text()) | {"agreement": "read from the cache"}))
    again = follow("users", "lenskit/popularity", {})
    assert again.agreement == "read from the cache"
    assert again.parameters == first.parameters


def test_the_reference_has_the_parameters_of_the_definition():
    (entry,), _ = read_entries(
        [{"use": "reference/ease", "definition": "steck", "parameters": {"regularisation": 7.0}}]
    )
    assert entry.parameters["regularisation"] == 7.0
    assert entry.parameters["values"] == "binary"


def test_a_factor_model_gets_the_parameters_that_give_it_the_objective():
    parameters = {"factors": 5, "epochs": 7, "regularisation": 90.0, "alpha": 4.0}
    for framework, options in (("implicit", {"values": "binary"}), ("lenskit", {"use_ratings": False})):
        table = {"use": f"{framework}/implicit-als", "definition": "weighted-binary", "parameters": parameters}
        if framework == "lenskit":
            table["parameters"] = {**parameters, "regularisation": 90}
        (entry,), _ = read_entries([table])
        stated = {name: entry.parameters[name] for name in (*parameters, *options)}
        assert stated == {**parameters, **options}
        assert entry.follows.startswith("the same objective as weighted-binary: residual ")


def test_what_cannot_follow_is_refused_with_a_training_set():
    """The cosines of Surprise are those of ratings, and its scores means."""
    with pytest.raises(StudyError, match=r"surprise/slope-one cannot follow weighted: .*\(user, item, rating\) \("):
        read_entries([{"use": "surprise/slope-one", "definition": "weighted"}])


def test_with_a_star_only_those_that_can_take_part(monkeypatch):
    monkeypatch.setattr("repro.study.entry.plugins", only("surprise", "reference"))
    entries, left_out = read_entries([{"use": "*/slope-one", "definition": "weighted"}])
    assert [entry.use for entry in entries] == ["reference/slope-one"]
    assert "cannot follow weighted" in left_out["surprise/slope-one"]


def only(*names):
    from repro.plugin import plugins

    class Some:
        def __getattr__(self, name):
            return getattr(plugins(), name)

        def frameworks_with(self, algorithm):
            return [name for name in plugins().frameworks_with(algorithm) if name in names]

    return Some


@pytest.mark.parametrize(
    ("definition", "message"),
    [("user", "did you mean 'users'"), ("steck", "no definition of popularity"), (3, "must be the name of")],
)
def test_an_unknown_definition_is_named(definition, message):
    with pytest.raises((StudyError, PluginError), match=message):
        read_entries([{"use": "*/popularity", "definition": definition}])


def test_a_run_records_the_definition_and_can_be_read_again(tmp_path):
    algorithms = [{"use": "lenskit/popularity", "definition": "users"}, "reference/popularity"]
    study = repro.Study(small_ratings(), "random-5fold", algorithms, ["ndcg@5"])
    run = study.run(tmp_path / "run", report=False, progress=False)
    started = [event for event in run.journal.events("cell.started") if event.algorithm == "lenskit/popularity"]
    assert {event.parameters["score"] for event in started} == {"count"}
    assert all(event.follows.startswith("the same scores in single precision as users") for event in started)
    again = repro.Study.load(tmp_path / "run" / "study.toml")
    assert again.entries[0].follows == study.entries[0].follows
    assert again.digest == study.digest or again.entries == study.entries
    values = run.table()["ndcg@5"].tolist()
    assert values[0] == pytest.approx(values[1], abs=0)


def test_numbers_are_converted_as_the_probes_were():
    space = Space.of("implicit/item-knn")
    assert converted({"k": "k + 1"}, {"k": 50}, space) == {"k": 51}
    assert converted({"k": "k"}, {"k": 50}, space) == {"k": 50}


def test_an_algorithm_under_its_own_name_can_follow_too():
    (entry,), _ = read_entries([{"use": "lenskit/PopScorer", "definition": "users"}])
    assert entry.parameters["score"] == "count"
