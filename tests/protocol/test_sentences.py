"""Decisions in sentences: none is left out, and another value is another text."""

import pytest

from repro.app import Application
from repro.errors import ProtocolError
from repro.plugin import Plugins
from repro.protocol import Protocol, protocol_names, registry
from repro.protocol.sentences import sentences

NAMES = [name for name in protocol_names() if "/" not in name]
CORE = [decision for decision in Application(Plugins()).registry.values() if decision.stage != "metric"]
CORE_IDS = {decision.id for decision in CORE}
EXTREMES = {
    "kfold-users": {"split.strategy": "kfold-users", "split.holdout": "given-n", "split.holdout_n": 3},
    "given-n": {"split.strategy": "given-n", "split.n": 1, "split.order": "time"},
    "all-but-n": {"split.strategy": "leave-one-last", "split.validation_n": 1},
    "time-point": {"split.strategy": "time-point", "split.time": 880_000_000},
    "time-users": {"split.strategy": "time-users", "split.test_users": 50, "split.clock": "each"},
    "random-n": {"split.strategy": "random-n", "split.repeats": 2},
    "candidates": {"candidates.base": "file", "candidates.file": "negatives.tsv"},
    "files": {"split.strategy": "files", "split.train_file": "a.csv", "split.test_file": "b.csv"},
    "validation": {"split.strategy": "kfold", "split.validation_share": 0.1},
    "core": {
        "data.user_core": 5,
        "data.item_core": 5,
        "data.scale": "stated",
        "data.scale_min": 0,
        "data.scale_max": 10,
    },
    "constants": {
        "missing.rank": "constant",
        "missing.constant": -1.5,
        "predict.missing": "constant",
        "predict.constant": 3,
        "predict.round": 0.5,
        "ties.precision": "decimals",
        "ties.decimals": 1,
    },
    "splitter": {"split.strategy": "surprise/KFold"},
}


def protocol_of(name):
    return Protocol.load("random-5fold").replace(EXTREMES[name]) if name in EXTREMES else Protocol.load(name)


def text_of(protocol):
    """All decisions but those of metrics, which a methods section states with each metric."""
    keys = [key for key in protocol if not key.startswith("metric.")]
    return sentences(dict(protocol), keys), keys


def test_every_decision_and_option_of_the_core_has_a_sentence():
    templates = [
        text
        for decision in CORE
        for text in (decision.sentence, *decision.texts.values(), *(option.text for option in decision.options))
    ]
    for decision in CORE:
        if any(f"{{{decision.id}" in text for text in templates):
            continue  # another decision states it: see below
        for option in decision.options:
            if not option.means and not (decision.absent and option.value == decision.default):
                assert option.text and decision.own_template(option.value), f"{decision.id} = {option.value}"
        if decision.kind == "flag":
            assert decision.own_template(True) and decision.own_template(False), decision.id
        elif decision.kind != "choice":
            assert "{value" in decision.sentence, decision.id


def test_no_text_is_of_a_value_that_is_not_allowed():
    for key, decision in registry().items():
        assert all(decision.accept(value) == value for value in decision.texts), key
        assert not (decision.absent and decision.required), key


@pytest.mark.parametrize("name", [*NAMES, *EXTREMES])
def test_every_decision_is_stated_and_another_value_is_another_text(name):
    protocol = protocol_of(name)
    stated, keys = text_of(protocol)
    assert {key for sentence in stated for key in sentence.states} == set(keys)
    for sentence in stated:
        assert sentence.text.endswith(".") and "{" not in sentence.text and "  " not in sentence.text
        assert sentence.text[0].isupper()
        own = [key for key in sentence.states if key in CORE_IDS]
        assert not any(f"({key})" in sentence.text for key in own), "it has a sentence of its own"
    known = registry()
    texts = [sentence.text for sentence in stated]
    for key in keys:
        changes = [value for value in known[key].tried if value != protocol[key]]
        if known[key].kind in ("integer", "number") and not isinstance(protocol[key], str):
            numbers = (protocol[key] + 1, protocol[key] + 2, protocol[key] / 2)
            accepted = (known[key].accept(number) for number in numbers)
            changes.append(next((value for value in accepted if value is not None), None))
        for value in (value for value in changes if value is not None):
            try:
                changed = protocol.replace({key: value})
            except ProtocolError:
                continue
            assert [sentence.text for sentence in text_of(changed)[0]] != texts, f"{key} = {value!r}"


def test_sentences_read_as_in_a_paper():
    """Worked by hand."""
    protocol = Protocol.load("cremonesi-2010-1r").replace({"candidates.sample_size": 1, "split.repeats": 3})
    texts = [sentence.text for sentence in text_of(protocol)[0]]
    assert "We held out a random 1.4% of all interactions for testing." in texts
    assert "The split was drawn anew 3 times, and every draw was evaluated." in texts
    drawn = "drawn uniformly at random and without replacement"
    assert f"Beside relevant items, a list held 1 non-relevant candidate, {drawn}." in texts
    assert "A held-out item counted as relevant for its user if its rating was at least 5." in texts
    inclusive = protocol.replace({"relevance.inclusive": False, "relevance.threshold": 3.5})
    assert "A held-out item counted as relevant for its user if its rating was above 3.5." in [
        sentence.text for sentence in text_of(inclusive)[0]
    ]


def test_what_was_not_done_is_one_sentence():
    values = {"data.min_rating": "none", "data.sample_users": 1.0, "data.user_core": 5, "data.item_core": 0}
    stated = sentences(values, values)
    assert [sentence.text for sentence in stated] == [
        "We left out users with fewer than 5 interactions.",
        "There was no lower bound on ratings, subsampling of users or minimum number of interactions for items.",
    ]
    assert stated[1].states == ("data.min_rating", "data.sample_users", "data.item_core")


def test_options_bring_what_they_cite():
    (sentence,) = sentences({"ties.break": "expected"}, ["ties.break"])
    assert sentence.cites == ("McSherry & Najork 2008",)
    (sentence,) = sentences({"split.head": 0.33}, ["split.head"])
    assert sentence.cites == ("Cremonesi et al. 2010",)


def test_a_decision_without_a_sentence_is_stated_by_its_question():
    (sentence,) = sentences({"metric.rbp.p": 0.8}, ["metric.rbp.p"])
    assert sentence.text == (
        "With which probability does the reader go on to the next item (persistence): 0.8 (metric.rbp.p)."
    )
