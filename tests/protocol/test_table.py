"""Tables of protocols: every protocol that goes into one comes out of it, and damaged tables are rejected."""

from dataclasses import replace

import pytest

from repro.errors import ProtocolError
from repro.protocol import Protocol, protocol_names, read_table, table_text

NAMES = [name for name in protocol_names() if "/" not in name]


def test_every_protocol_of_the_literature_goes_through_a_table(tmp_path):
    protocols = {name: Protocol.load(name) for name in NAMES}
    path = tmp_path / "table.toml"
    path.write_text(table_text(protocols, "random-5fold", "What {source} says"), encoding="utf-8")
    table = read_table(path)
    assert list(table) == NAMES and len(table) == len(NAMES)
    for name, protocol in protocols.items():
        assert dict(table[name]) == dict(protocol) and table[name].hash == protocol.hash
        assert set(table[name].open) == set(protocol.open) & set(protocol), "what has no effect is not open"
        assert table[name].title == f"What {protocol.source} says"


def test_a_row_states_only_what_differs():
    base = replace(Protocol.load("random-5fold"), source="")
    text = table_text({"a b": base.replace({"ties.break": "random"}), "c": base}, "random-5fold", "")
    assert '"a b" = {source = "", ties = {break = "random"}}' in text
    assert 'c = {source = ""}' in text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("base = ", "is not valid TOML"),
        ("[protocols]", "base must be the name of a protocol"),
        ('base = "inferred/a"\n[protocols]', "base must be the name of a protocol"),
        ('base = "random-5fold"', r"it has no \[protocols\]"),
        ('base = "random-5fold"\nprotocols = 1', r"it has no \[protocols\]"),
        ('base = "random-5fold"\nprotocols = {a = 1}', r"it has no \[protocols\]"),
        ('base = "random-5fold"\nopen = 1\n[protocols]', "open must be a list of decisions"),
        ('base = "random-5fold"\n[protocols]\na = {open = "x"}', "open must be a list of decisions"),
        ('base = "random-5fold"\n[protocols]\na = {ties = {brake = "x"}}', "unknown decision 'ties.brake'"),
        ('base = "random-5fold"\n[protocols]\na = {ties = {break = "x"}}', "table.toml, a: .* is not allowed"),
        ('base = "nothing"\n[protocols]\na = {}', "there is no protocol 'nothing'"),
    ],
)
def test_a_damaged_table_is_rejected(tmp_path, text, problem):
    path = tmp_path / "table.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ProtocolError, match=problem):
        list(read_table(path).values())
