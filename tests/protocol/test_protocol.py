"""Protocols: what is refused, with which sentence; what is the same protocol."""

import pytest

from repro.errors import ProtocolError
from repro.protocol import Protocol, parse_protocol, registry

MINIMAL = """
[split]
strategy = "kfold"
[relevance]
rule = "any"
[candidates]
base = "all-items"
"""


def parse(text: str) -> Protocol:
    return parse_protocol(text, "mine.toml")


def test_every_decision_in_effect_is_stated_with_its_origin():
    protocol = parse(MINIMAL)
    assert protocol["split.strategy"] == "kfold"
    assert protocol.origins["split.strategy"] == "mine.toml:3"
    assert protocol["split.folds"] == 5
    assert protocol.origins["split.folds"] == "default"
    assert set(protocol) == {d.id for d in registry().values() if registry().active(d, dict(protocol))}


def test_a_decision_without_effect_is_not_part_of_a_protocol():
    protocol = parse(MINIMAL)
    assert "relevance.threshold" not in protocol
    with pytest.raises(KeyError, match=r"applies when relevance.rule is \"threshold\""):
        protocol["relevance.threshold"]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('[ties]\nbreek = "random"', "mine.toml:9: unknown decision 'ties.breek'; did you mean 'ties.break'?"),
        ('[ties]\nbreak = "rendom"', 'mine.toml:9: ties.break = "rendom" is not allowed; allowed: "item-asc"'),
        ('[ties]\nbreak = "rendom"', "did you mean 'random'?"),
        ("[ties]\nbreak = 3", "ties.break = 3 is not allowed"),
        ("[data]\nuser_core = -1", "data.user_core = -1 is not allowed; allowed: a whole number of at least 0"),
        ("[data]\nuser_core = 2.5", "data.user_core = 2.5 is not allowed"),
        ("[data]\nsample_users = 1.5", "allowed: a number from 0 to 1"),
        ("[data]\nmin_rating = true", 'data.min_rating = true is not allowed; allowed: a number or "none"'),
        ("[data]\nmin_rating = nan", "data.min_rating = nan is not allowed"),
        (
            "[ties]\ndecimals = 3",
            'ties.decimals = 3 has no effect here: it applies when ties.precision is "decimals"',
        ),
        ("[data]\nmin_rating = 4\nmax_rating = 2", "data.min_rating = 4.0 and data.max_rating = 2.0 contradict"),
        ('[data]\nscale = "stated"\nscale_min = 5\nscale_max = 1', "the scale is empty"),
        ('[data]\nscale = "stated"\nscale_min = 5', "data.scale_max is not stated and has no default"),
        ("[[data]]\nx = 1", "unknown decision 'data'"),
    ],
)
def test_what_is_refused_is_named_with_line_value_and_what_is_allowed(line, sentence):
    with pytest.raises(ProtocolError) as caught:
        parse(MINIMAL + line)
    assert sentence in str(caught.value)


def test_all_problems_are_told_at_once():
    with pytest.raises(ProtocolError) as caught:
        parse("[split]\nstrateg = 'kfold'\n[ties]\nbreak = 'x'")
    lines = str(caught.value).splitlines()
    assert any("split.strateg'" in line for line in lines)
    assert any("ties.break" in line for line in lines)
    assert any(line.startswith("relevance.rule is not stated and has no default") for line in lines)


SAMPLED_1R = {"candidates.relevant": "one", "candidates.negatives": "sampled", "candidates.sample_size": 10}
P1R = SAMPLED_1R | {"candidates.strata": "popularity"}
RATIO, STATED = {"split.strategy": "ratio"}, {"data.scale": "stated"}
# For each pair of decisions that may contradict: changes that contradict, and changes nearby that do not.
CONTRADICTIONS = {
    ("split.test_ratio", "split.validation_ratio"): (
        [RATIO | {"split.test_ratio": 0.5, "split.validation_ratio": 0.5}],
        [RATIO | {"split.test_ratio": 0.5, "split.validation_ratio": 0.49}],
    ),
    ("data.scale_min", "data.scale_max"): (
        [STATED | {"data.scale_min": 5, "data.scale_max": 5}, STATED | {"data.scale_min": 6, "data.scale_max": 5}],
        [STATED | {"data.scale_min": 1, "data.scale_max": 5}],
    ),
    ("data.min_rating", "data.max_rating"): (
        [{"data.min_rating": 4, "data.max_rating": 3}],
        [{"data.min_rating": 4, "data.max_rating": 4}, {"data.min_rating": 4, "data.max_rating": "none"}],
    ),
    ("data.from_time", "data.to_time"): (
        [{"data.from_time": 4, "data.to_time": 3}],
        [{"data.from_time": 4, "data.to_time": 4}, {"data.from_time": "none", "data.to_time": 4}],
    ),
    ("candidates.base", "candidates.relevant"): (
        [{"candidates.base": "user-test-items", "candidates.relevant": "one"}],
        [{"candidates.base": "user-test-items"}, {"candidates.relevant": "one"}],
    ),
    ("candidates.strata", "average.no_relevant"): (
        [P1R | {"average.no_relevant": value} for value in ("zero", "one", "nan")],
        [P1R, SAMPLED_1R | {"average.no_relevant": "zero"}],
    ),
}


def test_the_examples_are_about_all_contradictions_that_are_declared():
    declared = {(key, rule.other) for key, decision in registry().items() for rule in decision.contradicts}
    assert declared == set(CONTRADICTIONS)


@pytest.mark.parametrize("pair", CONTRADICTIONS)
def test_decisions_that_contradict_are_named_with_their_values(pair):
    wrong, right = CONTRADICTIONS[pair]
    first, second = pair
    for changes in wrong:
        with pytest.raises(ProtocolError) as caught:
            parse(MINIMAL).replace(changes)
        assert f"{first} = " in str(caught.value) and f" and {second} = " in str(caught.value)
        assert "contradict: " in str(caught.value)
    for changes in right:
        parse(MINIMAL).replace(changes)


def test_a_shorthand_and_what_it_means_are_one_protocol():
    short = parse(MINIMAL.replace('"kfold"', '"leave-one-last"'))
    long = parse(MINIMAL.replace('strategy = "kfold"', 'strategy = "all-but-n"\nn = 1\norder = "time"'))
    assert short == long
    assert short.hash == long.hash
    trec = parse(MINIMAL + '[ties]\nbreak = "trec"')
    spelled = parse(MINIMAL + '[ties]\nbreak = "item-desc"\nid_order = "text"\nprecision = "single"')
    assert trec.hash == spelled.hash != parse(MINIMAL).hash


def test_a_shorthand_contradicted_by_what_it_sets_is_refused():
    with pytest.raises(ProtocolError, match=r"split.n = 2 contradicts split.strategy = \"leave-one-last\""):
        parse(MINIMAL.replace('strategy = "kfold"', 'strategy = "leave-one-last"\nn = 2'))


def test_the_hash_is_of_the_meaning():
    base = parse(MINIMAL)
    assert parse(MINIMAL + "[data]\nsample_users = 1").hash == base.hash  # the default, as a whole number
    assert parse('name = "x"\ntitle = "y"\n' + MINIMAL).hash == base.hash
    assert (
        parse("relevance.rule = 'any'\ncandidates.base = 'all-items'\nsplit = {strategy = 'kfold'}").hash == base.hash
    )
    assert parse(MINIMAL + "[data]\nsample_users = 0.5").hash != base.hash


def test_a_resolved_protocol_reads_back_as_the_same():
    protocol = parse(MINIMAL + '[ties]\nbreak = "trec"')
    again = parse(protocol.to_toml())
    assert again == protocol
    assert again.hash == protocol.hash
    assert "default" not in again.origins.values()


def test_replacing_a_decision_drops_what_loses_its_effect():
    protocol = parse(MINIMAL.replace('"kfold"', '"kfold"\nfolds = 3'))
    assert protocol["split.folds"] == 3
    other = protocol.replace({"split.strategy": "user-ratio"})
    assert "split.folds" not in other
    assert other["split.test_ratio"] == 0.2
    with pytest.raises(ProtocolError, match="has no effect"):
        protocol.replace({"split.test_ratio": 0.1})


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ProtocolError, match="did you mean 'random-5fold'"):
        Protocol.load("random-5fald")
    with pytest.raises(ProtocolError, match="cannot read the protocol file"):
        Protocol.load(tmp_path / "none.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("[split\n")
    with pytest.raises(ProtocolError, match=r"broken.toml is not valid TOML: .*line 1"):
        Protocol.load(broken)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ProtocolError, match="not a text file in UTF-8"):
        Protocol.load(binary)


def test_open_names_only_decisions():
    with pytest.raises(ProtocolError, match=r"unknown decision 'ties\.brek'; did you mean 'ties\.break'"):
        parse('open = ["ties.brek"]\n' + MINIMAL)


def test_zero_has_one_form():
    assert Protocol.load("random-5fold", relevance__threshold=-0.0).hash == (
        Protocol.load("random-5fold", relevance__threshold=0).hash
    )


def test_a_changed_protocol_does_not_go_by_the_name_of_the_original():
    original = Protocol.load("random-5fold")
    assert original.replace({"split.folds": 5}).name == "random-5fold"
    changed = original.replace({"split.folds": 3})
    assert changed.name == "random-5fold, changed"
    assert changed.replace({"split.folds": 4}).name == "random-5fold, changed"


def test_origins_of_named_protocols_are_the_same_on_every_machine():
    assert Protocol.load("random-5fold").origins["split.strategy"].startswith("protocols/random-5fold.toml:")
