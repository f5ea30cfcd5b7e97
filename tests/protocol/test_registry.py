"""The registry: complete, consistent, and the source of the JSON Schema."""

import tomllib

import jsonschema
import pytest

from repro.plugin import FEATURES
from repro.protocol import STAGES, Decision, json_schema, protocol_folder, protocol_names, read_protocol, registry


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


def test_every_decision_belongs_to_a_stage_and_only_data_and_split_need_a_refit():
    known = registry()
    assert {decision.stage for decision in known.values()} == set(STAGES)
    assert sorted(key for stage in STAGES for key in known.of_stages(stage)) == sorted(known)
    for key, decision in known.items():
        assert decision.needs_refit == key.startswith(("data.", "split.")), key
        assert known.stage_of(key) == decision.stage
    assert known.stage_of("metric.not_installed.variant") == "metric"
    assert known.stage_of("elsewhere.decision") is None


def test_a_decision_whose_id_names_no_stage_must_state_one():
    with pytest.raises(ValueError, match="state its own_stage"):
        _ = Decision("elsewhere.decision", "Which?", "flag", default=False).stage
    assert Decision("elsewhere.decision", "Which?", "flag", default=False, own_stage="ties").stage == "ties"


def test_features_that_decisions_act_on_are_those_of_evaluators():
    for decision in registry().values():
        assert set(decision.acts_on) <= FEATURES.keys(), decision.id


def test_neutral_values_are_of_decisions_without_a_default():
    for decision in registry().values():
        if decision.neutral is not None:
            assert decision.required and decision.accept(decision.neutral) == decision.neutral, decision.id


def test_conditions_name_decisions_and_values_that_exist():
    known = registry()

    def check(condition):
        for alternative in getattr(condition, "conditions", [condition]):
            for value in alternative.values:
                assert known[alternative.decision].accept(value) is not None, (alternative.decision, value)

    for decision in known.values():
        for condition in decision.when:
            check(condition)


@pytest.mark.parametrize("name", [name for name in protocol_names() if "/" not in name])
def test_the_schema_accepts_every_protocol_file_of_the_suite(name):
    text = (protocol_folder() / f"{name}.toml").read_text()
    jsonschema.Draft202012Validator(json_schema()).validate(tomllib.loads(text))


def test_the_schema_accepts_every_protocol_of_the_suite():
    schema = jsonschema.Draft202012Validator(json_schema())
    for name in protocol_names():
        assert schema.is_valid(tomllib.loads(read_protocol(name).to_toml())), name


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


def test_lists_depend_on_relevance_where_an_option_of_the_candidates_reads_it():
    """Worked by hand for every option of the decisions about candidates."""
    plain = read_protocol("bellogin-ai-an").replace({"candidates.exclude_train": "all"})
    assert not plain.reads("candidates", "relevance")
    for changes in (
        {"candidates.base": "file", "candidates.file": "negatives.tsv"},
        {"candidates.relevant": "one"},
        {"candidates.negatives": "sampled", "candidates.sample_size": 5},
        {"candidates.rated_negatives": "exclude"},
        {"candidates.exclude_train": "relevant"},
    ):
        assert plain.replace(changes).reads("candidates", "relevance"), changes
    for changes in (
        {"candidates.base": "test-items"},
        {"candidates.base": "train-items"},
        {"candidates.base": "user-test-items"},
        {"candidates.exclude_train": "none"},
        {"ties.break": "expected"},
    ):
        assert not plain.replace(changes).reads("candidates", "relevance"), changes
