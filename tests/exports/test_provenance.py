"""PROV-JSON that the prov package reads back, and that keeps the constraints of the W3C."""

import json

import pytest
from prov.model import ProvActivity, ProvAgent, ProvDerivation, ProvDocument, ProvEntity, ProvGeneration, ProvUsage

from repro.exports import export


@pytest.fixture(scope="module")
def text(run, tmp_path_factory):
    return export(run, "prov", tmp_path_factory.mktemp("prov") / "prov.json").read_text()


@pytest.fixture(scope="module")
def document(text):
    return ProvDocument.deserialize(content=text, format="json")


def of(document, kind):
    return list(document.get_records(kind))


def test_it_reads_back_as_the_same_document(text, document):
    again = ProvDocument.deserialize(content=document.serialize(format="json"), format="json")
    assert again == document == document.unified()
    assert json.loads(text)["prefix"]["repro"] == "urn:recsys-repro:"


def test_everything_that_is_named_is_declared(document):
    declared = {record.identifier for kind in (ProvEntity, ProvActivity, ProvAgent) for record in of(document, kind)}
    named = {
        value for record in document.get_records() if not record.identifier for _, value in record.formal_attributes
    }
    assert {item for item in named if hasattr(item, "localpart")} <= declared


def test_times_and_derivations_can_be(document):
    """No activity ends before it begins; an entity is made once, within its maker's time; nothing comes from itself."""
    activities = {item.identifier: item for item in of(document, ProvActivity)}
    assert all(item.get_startTime() <= item.get_endTime() for item in activities.values())
    made = {}
    for generation in of(document, ProvGeneration):
        entity, activity, time = generation.args
        assert entity not in made
        made[entity] = time
        assert activities[activity].get_startTime() <= time <= activities[activity].get_endTime()
    for usage in of(document, ProvUsage):
        activity, entity, time = usage.args
        assert time <= activities[activity].get_endTime()
        assert entity not in made or made[entity] <= time, "it is used after it is made"
    sources = {}
    for derivation in of(document, ProvDerivation):
        sources.setdefault(derivation.args[0], set()).add(derivation.args[1])
    for entity in sources:
        above, new = set(), sources[entity]
        while new:
            above |= new
            new = {item for each in new for item in sources.get(each, ())} - above
        assert entity not in above


def test_results_come_from_the_data_by_way_of_the_lists(document, run):
    """Data, fold, lists, table: each step of the way is there, with the agents and their versions."""
    lines = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    events = {line["event"]["event"]: line["event"] for line in lines}
    labels = {
        str(item.identifier): {str(label) for label in item.get_attribute("prov:label")}
        for item in of(document, ProvEntity)
    }
    steps = {(str(item.args[0]), str(item.args[1])) for item in of(document, ProvDerivation)}
    table = f"sha256:{events['results.written']['files']['results.parquet']}"
    data = f"sha256:{events['data.loaded']['digest']}"
    lists = next(name for name, label in labels.items() if label == {"lists of random/1"})
    assert {(table, lists), (lists, "run:fold-1-train"), ("run:fold-1-train", data)} <= steps
    agents = {str(item.identifier) for item in of(document, ProvAgent)}
    versions = events["run.started"]["versions"]
    assert agents == {
        f"repro:software/repro/{versions['repro']}",
        f"repro:software/reference/{versions['framework:reference']}",
    }
    assert sum(1 for item in of(document, ProvActivity) if "cell" in str(item.identifier)) == 4 * 2
