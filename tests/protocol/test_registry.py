"""The registry: complete, consistent, and the source of the JSON Schema."""

import tomllib

import jsonschema
import pytest

from repro.protocol import json_schema, protocol_folder, protocol_names, read_protocol, registry


def test_declarations_hold_together():
    known = registry()
    for decision in known.values():
        assert decision.question.endswith("?"), decision.id
        assert (decision.kind == "choice") == bool(decision.options), decision.id
        if not decision.required:
            assert decision.accept(decision.default) == decision.default, decision.id
        for option in decision.options:
            assert option.meaning, (decision.id, option.value)
            for target, value in option.means.items():
                assert known[target].accept(value) is not None
                assert not getattr(known[target].option(value), "means", None), "a shorthand of a shorthand"


def test_conditions_name_decisions_and_values_that_exist():
    known = registry()

    def check(condition):
        for one in getattr(condition, "conditions", [condition]):
            for value in one.values:
                assert known[one.decision].accept(value) is not None, (one.decision, value)

    for decision in known.values():
        for condition in decision.when:
            check(condition)


@pytest.mark.parametrize("name", protocol_names())
def test_the_schema_accepts_every_protocol_of_the_suite(name):
    text = (protocol_folder() / f"{name}.toml").read_text()
    jsonschema.Draft202012Validator(json_schema()).validate(tomllib.loads(text))
    assert jsonschema.Draft202012Validator(json_schema()).is_valid(tomllib.loads(read_protocol(name).to_toml()))


@pytest.mark.parametrize(
    "document",
    [
        {"split": {"strategy": "kfild"}},
        {"split": {"stratgy": "kfold"}},
        {"data": {"user_core": -1}},
        {"open": ["ties.brek"]},
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(document):
    assert not jsonschema.Draft202012Validator(json_schema()).is_valid(document)
