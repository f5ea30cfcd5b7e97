"""Protocols, studies and claims that are written read back equal, whatever they hold."""

import re
import tomllib
from dataclasses import replace
from datetime import UTC

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from repro.data import synthetic_interactions
from repro.errors import ReproError
from repro.plugin import Algorithm, Framework, Parameter, plugins
from repro.protocol import Protocol, parse_protocol, protocol_names, registry, toml_value
from repro.protocol.toml import Inline, write_toml
from repro.replications.claims.unfilled import is_unfilled
from repro.replications.drafts.draft import Draft, claim_text
from repro.replications.drafts.raw import RawTable
from repro.study import Study
from repro.study.model import read_study
from repro.verification import verify

# Line breaks, quotes, backslashes, control characters, other alphabets: all but halves of surrogate pairs.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ['a "quoted"\nline\r\n', "C:\\new\\table", "\x00\x07\x1b\x7f\x85\u2028", "'''", '"""', "# no comment", "日本 é 🙂"]
)
# Python's times can be the second of two that are called the same; TOML's cannot.
MOMENTS = (st.times() | st.datetimes() | st.datetimes(timezones=st.just(UTC))).map(
    lambda element: element.replace(fold=0)
)
SCALARS = st.one_of(
    TEXT,
    st.integers(),
    st.floats(),
    st.booleans(),
    st.dates(),
    MOMENTS,
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
TABLES = st.recursive(
    st.dictionaries(TEXT, VALUES, max_size=3),
    lambda inner: st.dictionaries(TEXT, VALUES | inner | inner.map(Inline) | st.lists(inner, max_size=2), max_size=3),
    max_leaves=6,
)


def places(value, at=()):
    """The place of every key in a document, outside of lists that are not tables."""
    for key, inner in value.items():
        yield (*at, key)
        if isinstance(inner, dict):
            yield from places(inner, (*at, key))


@given(value=VALUES)
def test_a_value_in_one_line(value):
    written = toml_value(value)
    assert "\n" not in written
    # By repr: what is not a number equals nothing, 1 equals True, and the order of keys counts.
    assert repr(tomllib.loads(f"value = {written}")["value"]) == repr(value)


@settings(max_examples=300)
@given(document=TABLES, data=st.data())
def test_a_document_with_comments(document, data):
    known = list(places(document))
    some = st.lists(st.sampled_from(known), max_size=3) if known else st.just([])
    comments = {position: data.draw(st.text(max_size=8)) for position in data.draw(some)}
    remarks = {position: data.draw(st.lists(st.text(max_size=8), max_size=2)) for position in data.draw(some)}
    plain = tomllib.loads(write_toml(document))
    assert repr(sorted_keys(plain)) == repr(sorted_keys(document))
    assert repr(tomllib.loads(write_toml(document, comments, remarks))) == repr(plain)


def sorted_keys(value):
    """Values are written before tables, so the order of keys may be another one."""
    if isinstance(value, dict):
        return {key: sorted_keys(value[key]) for key in sorted(value)}
    return [sorted_keys(element) for element in value] if isinstance(value, list) else value


@pytest.mark.parametrize("value", [b"bytes", object(), {1: 2}, "\ud800", 1j])
def test_what_toml_cannot_hold_is_refused_with_a_sentence(value):
    with pytest.raises(ReproError, match="cannot be written to a TOML file"):
        write_toml({"value": Inline(value) if isinstance(value, dict) else value})


@pytest.mark.parametrize("name", protocol_names()[:20])
def test_a_protocol_of_the_suite_reads_back(name):
    protocol = Protocol.load(name)
    again = parse_protocol(protocol.to_toml(), "again")
    assert (again, again.hash, again.name, again.open) == (protocol, protocol.hash, protocol.name, protocol.open)


@given(
    texts=st.fixed_dictionaries(dict.fromkeys(("name", "title", "source", "notes"), TEXT)),
    left_open=st.lists(st.sampled_from(sorted(registry())), max_size=3),
    origin=st.text(max_size=20),
    features=TEXT.filter(bool),
)
def test_any_protocol_reads_back(texts, left_open, origin, features):
    changes = {"data.item_features": features, "relevance.threshold": 3.5, "candidates.base": "train-items"}
    protocol = replace(Protocol.load("random-5fold").replace(changes, origin), open=tuple(left_open), **texts)
    written = protocol.to_toml()
    again = parse_protocol(written, "again")
    assert dict(again) == dict(protocol)
    assert {key: getattr(again, key) for key in texts} == texts
    assert again.open == tuple(left_open)
    shown = "".join(c if c.isprintable() or c in " \t" else " " for c in origin).split()
    lines = [line for line in written.splitlines() if line.startswith("threshold = 3.5  # ")]
    assert not shown or any(re.search(re.escape(shown[0]), line) for line in lines)


@given(value=SCALARS)
def test_true_and_one_are_not_written_alike(value):
    assert {toml_value(1), toml_value(1.0), toml_value(True)} == {"1", "1.0", "true"}
    assert type(tomllib.loads(f"v = {toml_value(value)}")["v"]) is type(value)


# An algorithm with a parameter of each type, and one that it cannot express.
ALL_TYPES = Algorithm(
    "all-types",
    "for tests",
    lambda **_: None,
    (Parameter("text", "", ""), Parameter("whole", 1, ""), Parameter("real", 1.0, ""), Parameter("flag", True, "")),
    unmapped={"other": "it has none"},
)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
PARAMETERS = st.fixed_dictionaries(
    {}, optional={"text": TEXT, "whole": st.integers(), "real": FINITE, "flag": st.booleans(), "other": VALUES}
)
IN_LABELS = st.characters(min_codepoint=0x20, exclude_categories=["Cs"], exclude_characters="/")
LABELS = st.text(IN_LABELS, min_size=1, max_size=12)
ENTRIES = st.lists(
    st.fixed_dictionaries(
        {"use": st.just("toy/all-types"), "label": LABELS},
        optional={
            "parameters": PARAMETERS,
            "seed": st.just("study") | st.integers(0, 2**31 - 1),
            "tune": st.just(False),
        },
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda entry: entry["label"],
)
SPACES = st.fixed_dictionaries(
    {"real": st.just({"low": 0.5, "high": 1e22, "log": True}) | st.just([1.0, -0.5e-300])},
    optional={
        "text": st.lists(TEXT, min_size=1, unique=True, max_size=3),
        "whole": st.just({"low": -3, "high": 10**20}),
        "flag": st.just([True, False]),
        "other": VALUES,
    },
)
TUNE = st.fixed_dictionaries(
    {
        "metric": st.sampled_from(["ndcg@10", "ndcg[gain=exp2]@3"]),
        "trials": st.integers(1, 10**6),
        "space": st.dictionaries(st.sampled_from(["all-types", "toy/all-types"]), SPACES, min_size=1),
    },
    optional={"seconds": st.floats(0.001, 1e300)},
)
# Decisions of a study on top of its base, written inline.
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "ties": st.just({"break": "expected"}),
        "metric": st.just({"ndcg": {"gain": "exp2"}}),
        "data": st.fixed_dictionaries({"item_features": TEXT.filter(bool)}),
    },
)
METRICS = ["ndcg@10", "ndcg[discount=log-base]@3", "auc", "rmse", "map@5", "half-life[alpha=2.5]", "user-coverage@10"]
STUDIES = st.fixed_dictionaries(
    {
        "data": st.fixed_dictionaries(
            {"name": TEXT},
            optional={"columns": st.dictionaries(TEXT, TEXT, max_size=3), "delimiter": TEXT, "users": VALUES},
        ),
        "protocol": st.sampled_from(["random-5fold", "gunawardana-time"])
        | CHANGES.map(lambda changes: {"base": "random-5fold", **changes}),
        "algorithms": ENTRIES,
        "metrics": st.lists(st.sampled_from(METRICS), min_size=1, unique=True, max_size=4),
    },
    optional={"question": TEXT, "seed": st.integers(0), "tune": TUNE},
)


@pytest.fixture(scope="module")
def toy():
    """A framework with that algorithm, without a plug-in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(plugins().frameworks, "toy", Framework("toy", "1", "for tests", (ALL_TYPES,)))
        yield


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(document=STUDIES)
def test_every_study_that_can_be_read_reads_back_equal(toy, tmp_path_factory, document):
    folder = tmp_path_factory.getbasetemp()
    try:
        study = read_study(document, "", folder / "first.toml")
    except ReproError:  # it is refused when it is read: there is nothing left to tune, say
        assume(False)
    read_back_equal(study, folder)


def read_back_equal(study, folder):
    (folder / "study.toml").write_bytes(study.to_toml().encode())
    (folder / "protocol.toml").write_bytes(study.protocol.to_toml().encode())
    again = Study.load(folder / "study.toml")
    # By repr, as what is not a number equals nothing.
    assert repr(parts(again)) == repr(parts(study))
    assert again.digest == study.digest


def parts(study):
    """All that a study says, but for whether a parameter was stated or is a default."""
    return {
        "question": study.question,
        "seed": study.seed,
        "data": study.data,
        "options": sorted_keys(study.data_options),
        "protocol": dict(study.protocol),
        "texts": [getattr(study.protocol, key) for key in ("name", "title", "source", "notes", "open")],
        "metrics": [measure.full_name for measure in study.measures],
        "entries": [replace(entry, stated=frozenset()) for entry in study.entries],
        "tune": study.tune and study.tune.describe(),
        "spaces": study.tune and study.tune.spaces,
    }


def test_a_study_with_everything_in_it_reads_back_equal(toy, tmp_path):
    document = {
        "question": 'Which "one"\nis it?',
        "seed": 3,
        "data": {"name": "a b.csv", "columns": {"user": "uid", "item": 'the "item"'}, "delimiter": "\t"},
        "protocol": {"base": "random-5fold", "split": {"validation_share": 0.1}, "data": {"item_features": "f\n.csv"}},
        "algorithms": [
            {"use": "toy/all-types", "label": 'a"b', "parameters": {"whole": 7, "other": {"a": [1]}}},
            {"use": "toy/all-types", "label": "b", "tune": False, "seed": "study"},
        ],
        "metrics": METRICS,
        "tune": {"metric": "ndcg@10", "trials": 3, "space": {"all-types": {"text": ["C:\\x\ny", "y"], "other": [1]}}},
    }
    study = read_study(document, "", tmp_path / "first.toml")
    assert study.entries[0].unmapped == {"other": "it has none"} and study.entries[1].tune is False
    read_back_equal(study, tmp_path)


@pytest.mark.parametrize("labels", [{"a"}, {"b"}, {"a", "c"}])
def test_a_study_of_some_of_the_algorithms_reads_back_equal(toy, tmp_path, labels):
    uses = {"a": "toy/all-types", "b": "reference/popularity", "c": "reference/item-knn"}
    study = Study(
        "synthetic",
        Protocol.load("random-5fold", split__validation_share=0.1),
        [{"use": use, "label": label} for label, use in uses.items()],
        ["ndcg@10"],
        tune={
            "metric": "ndcg@10",
            "trials": 2,
            "space": {"all-types": {"flag": [True, False]}, "item-knn": {"k": [1, 2]}},
        },
    )
    some = study.only(labels)
    assert some.entries == tuple(
        replace(entry, stated=other.stated)
        for entry, other in zip((e for e in study.entries if e.label in labels), some.entries, strict=True)
    )
    assert (some.tune is None) == (labels == {"b"})
    read_back_equal(some, tmp_path)


NUMBERS = st.sampled_from(["0.934", "12.5%", ".5"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.fixed_dictionaries({"title": TEXT, "source": TEXT, "data": TEXT, "protocol": TEXT}),
    labels=st.lists(st.text("ABCxyz", min_size=2, max_size=6), min_size=1, max_size=3, unique_by=str.lower),
    numbers=st.lists(NUMBERS, min_size=3, max_size=3),
    caption=TEXT,
    place=TEXT,
)
def test_every_claim_that_is_written_reads_back(texts, labels, numbers, caption, place):
    rows = [(label, "0.25", number) for label, number in zip(labels, numbers, strict=False)]
    draft = Draft(**texts, table=RawTable([("Method", "RMSE", "MAE"), *rows], caption, place))
    document = tomllib.loads(claim_text(draft))
    filled = {"title": texts["title"] or caption, "source": texts["source"]}
    for key, text in filled.items():
        assert document[key] == text or (not text and is_unfilled(document[key]))
    for section, key, text in (("data", "name", texts["data"]), ("protocol", "base", texts["protocol"])):
        assert document[section][key] == text or (not text and is_unfilled(document[section][key]))
    assert [element["label"] for element in document["algorithms"]] == labels
    assert document["table"]["metrics"] == ["rmse", "mae"]
    assert {label: tuple(document["table"][label]) for label in labels} == {label: tuple(row) for label, *row in rows}


def test_a_run_with_tables_and_line_breaks_in_its_study_is_verified_from_its_files(tmp_path):
    data = synthetic_interactions(users=20, items=15, ratings=150, seed=1).to_frame()
    data.rename(columns={"user": "uid", "item": "the item"}).to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "protocol.toml").write_text(
        'notes = """two\nlines"""\n'
        '[split]\nstrategy = "kfold"\nfolds = 2\n[candidates]\nbase = "all-items"\n[relevance]\nrule = "any"\n'
    )
    (tmp_path / "study.toml").write_text(
        'question = """Which "one",\nand why?\\u0007"""\nmetrics = ["ndcg@10"]\nprotocol = "protocol.toml"\n'
        '[data]\nname = "data.csv"\ncolumns = { user = "uid", item = "the item" }\n'
        '[[algorithms]]\nuse = "reference/popularity"\n'
    )
    study = Study.load(tmp_path / "study.toml")
    study.run(tmp_path / "run", keep_scores=True)
    assert (again := Study.load(tmp_path / "run" / "study.toml")).question == 'Which "one",\nand why?\x07'
    assert again.data_options == {"columns": {"user": "uid", "item": "the item"}}
    assert again.protocol.notes == "two\nlines"
    actual = verify(tmp_path / "run", "rescore")
    assert actual.holds and not actual.unchecked
