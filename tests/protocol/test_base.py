"""Protocol files that state only what differs from another protocol."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.errors import ProtocolError
from repro.protocol import Protocol, parse_protocol, read_protocol, registry

NAMES = ("random-5fold", "bellogin-1r-ti-nn", "gunawardana-time", "valcarce-2018-allitems")
KEYS = ("ties.break", "missing.rank", "average.no_list", "metric.ndcg.gain", "relevance.grades", "data.duplicates")


def change(key):
    options = [option.value for option in registry()[key].options if not (option.means or option.when)]
    return st.tuples(st.just(key), st.sampled_from(options))


CHANGES = st.lists(st.sampled_from(KEYS).flatmap(change), unique_by=lambda pair: pair[0]).map(dict)


@given(base=st.sampled_from(NAMES), changes=CHANGES)
def test_a_file_with_a_base_is_the_protocol_that_states_everything(base, changes):
    if changes.get("missing.rank") == "constant":
        changes["missing.constant"] = 1.0
    lines = [f'base = "{base}"', *(f"{key} = {value!r}" for key, value in changes.items())]
    protocol = parse_protocol("\n".join(lines), "mine.toml")
    complete = Protocol.load(base).replace(changes)
    assert protocol == complete and protocol.hash == complete.hash
    again = parse_protocol(protocol.to_toml(), "again.toml")
    assert again == protocol and again.hash == protocol.hash
    for number, key in enumerate(changes, 2):
        if key in protocol:
            assert protocol.origins[key] == f"mine.toml:{number}"
    stated = {key for key, origin in Protocol.load(base).origins.items() if origin != "default"}
    assert all(protocol.origins[key] != "default" for key in stated & protocol.keys())


def test_headers_are_of_the_file_and_open_decisions_are_inherited(tmp_path):
    (tmp_path / "one.toml").write_text('base = "random-5fold"\nname = "one"\ntitle = "One"\nopen = ["ties.break"]')
    (tmp_path / "two.toml").write_text('base = "one.toml"\nsplit.folds = 3')
    (tmp_path / "three.toml").write_text('base = "two.toml"\nopen = []')
    first, second, third = (read_protocol(tmp_path / f"{name}.toml") for name in ("one", "two", "three"))
    assert (first.name, first.title, first.open) == ("one", "One", ("ties.break",))
    assert (second.name, second.title, second.open) == ("", "", ("ties.break",))
    assert third.open == () and third["split.folds"] == 3
    assert second.origins["split.folds"] == third.origins["split.folds"] == f"{tmp_path / 'two.toml'}:2"


def test_files_that_decisions_name_are_found_from_the_file_that_states_them(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "base.toml").write_text('base = "random-5fold"\ndata.item_features = "features.csv"')
    (tmp_path / "mine.toml").write_text('base = "deep/base.toml"\n[candidates]\nbase = "file"\nfile = "negatives.csv"')
    files = read_protocol(tmp_path / "mine.toml").files
    assert files["data.item_features"] == {"": tmp_path / "deep" / "features.csv"}
    assert files["candidates.file"] == {"": tmp_path / "negatives.csv"}


def test_what_has_no_effect_any_more_is_dropped_and_what_is_stated_without_effect_is_rejected(tmp_path):
    dropped = parse_protocol('base = "random-5fold"\nsplit.strategy = "user-ratio"', "mine.toml")
    assert "split.folds" not in dropped
    with pytest.raises(ProtocolError, match=r"mine.toml:2: split.test_ratio = 0.3 has no effect here"):
        parse_protocol('base = "random-5fold"\nsplit.test_ratio = 0.3', "mine.toml")


@pytest.mark.parametrize("ring", [("a",), ("a", "b"), ("a", "b", "c")])
def test_a_base_that_leads_back_is_rejected_with_the_whole_way(tmp_path, ring):
    for name, base in zip(ring, (*ring[1:], ring[0]), strict=True):
        (tmp_path / f"{name}.toml").write_text(f'name = "{name}"\nbase = "{base}.toml"')
    with pytest.raises(ProtocolError) as caught:
        read_protocol(tmp_path / "a.toml")
    message = str(caught.value)
    assert f"{tmp_path / (ring[-1] + '.toml')}:2: the base a.toml builds on this file: " in message
    assert " -> ".join([*(str(tmp_path / f"{name}.toml") for name in ring), "a.toml"]) in message


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('base = "random-4fold"', "mine.toml:2: base = \"random-4fold\": there is no protocol 'random-4fold'"),
        ('base = "nowhere.toml"', "mine.toml:2: there is no file nowhere.toml, which base names"),
        ("base = 5", "mine.toml:2: base must be text, not int"),
    ],
)
def test_a_base_that_is_not_there_is_named_with_its_line(line, sentence):
    with pytest.raises(ProtocolError) as caught:
        parse_protocol(f'name = "mine"\n{line}', "mine.toml")
    assert sentence in str(caught.value)


def test_a_mistake_in_a_base_is_named_with_both_lines(tmp_path):
    (tmp_path / "base.toml").write_text('base = "random-5fold"\nties.brek = "random"')
    (tmp_path / "mine.toml").write_text('base = "base.toml"')
    with pytest.raises(ProtocolError) as caught:
        read_protocol(tmp_path / "mine.toml")
    message = str(caught.value)
    assert f"{tmp_path / 'mine.toml'}:1: base = " in message
    assert f"{tmp_path / 'base.toml'}:2: unknown decision 'ties.brek'" in message


def test_long_chains_are_rejected(tmp_path):
    for number in range(60):
        base = "random-5fold" if number == 59 else f"{number + 1}.toml"
        (tmp_path / f"{number}.toml").write_text(f'base = "{base}"')
    assert read_protocol(tmp_path / "30.toml") == Protocol.load("random-5fold")
    with pytest.raises(ProtocolError, match="more than 50 protocols build on each other"):
        read_protocol(tmp_path / "0.toml")
