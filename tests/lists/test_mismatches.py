"""Inputs that hardly mean what they were given for: frames, files and commands say so, in the same words, once."""

import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import repro
from repro import Interactions, Study
from repro.cli import cli
from repro.errors import DataError, ReproWarning

TRUTH = pd.DataFrame({"user": [1, 1, 2, 3], "item": [7, 8, 7, 9], "rating": [5.0, 4.0, 3.0, 5.0]})
LISTS = pd.DataFrame({"user": [1, 1, 2, 2, 3, 3], "item": [7, 9, 8, 7, 9, 8], "score": [3.0, 2.0, 3.0, 1.0, 2.0, 1.0]})


def text(frame, column, form):
    return frame.assign(**{column: [form.format(value) for value in frame[column]]})


# Each defect of the recommendations, and what the sentence about it says.
DEFECTS = {
    "zeros in front of users": (text(LISTS, "user", "0{}"), "no user of {} is in the truth", "zeros in front"),
    "zeros in front of items": (text(LISTS, "item", "0{}"), "no item of {} is in the truth", "zeros in front"),
    "items with decimals": (text(LISTS, "item", "{}.0"), "no item of {} is in the truth", "they have decimals"),
    "items as the text of bytes": (text(LISTS, "item", "b'{}'"), "no item of {} is in the truth", "they are bytes"),
    "items with other names": (text(LISTS, "item", "item {}"), "no item of {} is in the truth", "like 'item 7' there"),
    "no rows": (LISTS.head(0), "{} has no rows, so all lists are empty", ""),
    "no scores": (LISTS.assign(score=np.nan), "{} has no score that is a number", 'missing.rank = "last"'),
    "scores that say n/a": (LISTS.assign(score="n/a"), "{} has no score that is a number", 'ties.break = "item-asc"'),
    "a user without a list": (LISTS[LISTS["user"] != 3], "1 of 3 users in the truth have no list in {}", "no_list"),
}


def warned(function, *arguments, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*arguments, **options)
    return [str(warning.message) for warning in caught if issubclass(warning.category, ReproWarning)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TRUTH.to_csv("truth.csv", index=False)
    return tmp_path


def called(name, *arguments):
    done = CliRunner().invoke(cli, [name, "--run", "given.csv", "--truth", "truth.csv", *arguments])
    assert done.exit_code == 0, done.output
    return [line.removeprefix("note: ") for line in done.stderr.splitlines() if line.startswith("note: ")]


@pytest.mark.parametrize("defect", DEFECTS)
def test_frames_files_and_commands_say_the_same_once(files, defect):
    given, start, further = DEFECTS[defect]
    given.to_csv("given.csv", index=False)
    sentences = warned(repro.evaluate, given, TRUTH)
    assert (
        len([text for text in sentences if text.startswith(start.format("recommendations")) and further in text]) == 1
    )
    assert warned(repro.evaluate, "given.csv", "truth.csv") == sentences
    as_command = [text.replace("recommendations", "given.csv", 1) for text in sentences]
    assert called("evaluate") == as_command
    if defect not in ("zeros in front of users", "no rows"):  # without any list there is no curve
        assert warned(repro.curves, given, TRUTH, "roc", "lengths") == sentences
        assert called("curve", "--kind", "roc", "--join", "lengths") == [
            text.replace("given.csv", "given") for text in as_command
        ]


@pytest.mark.parametrize("word", ["", "n/a", "N/A", "NA", "#N/A", "NULL", "null", "None", "nan", "<NA>"])
def test_words_for_no_score_mean_the_same_in_frames_and_files(files, word):
    given = LISTS.assign(score=["1.5", word, "2", word, "0", "1"])
    given.to_csv("given.csv", index=False)
    expected = repro.evaluate(LISTS.assign(score=[1.5, np.nan, 2, np.nan, 0, 1]), TRUTH)
    pd.testing.assert_frame_equal(repro.evaluate(given, TRUTH), expected)
    pd.testing.assert_frame_equal(repro.evaluate("given.csv", TRUTH), expected)


def test_bytes_and_text_are_other_ids(files):
    given = LISTS.assign(item=[str(item).encode() for item in LISTS["item"]])
    (sentence,) = warned(repro.evaluate, given, TRUTH)
    assert "they are bytes there: decode them" in sentence


def test_what_is_right_is_not_warned_of(files):
    LISTS.to_csv("given.csv", index=False)
    assert warned(repro.evaluate, LISTS, TRUTH) == warned(repro.curves, "given.csv", "truth.csv") == []
    assert called("evaluate") == called("curve") == []
    assert warned(repro.evaluate, LISTS.astype({"item": float}), TRUTH.astype({"item": str})) == []


BIG = 2**53


@pytest.mark.parametrize("kind", ["float64", "float32", "float16", "object", "Float64"])
@pytest.mark.parametrize("column", ["user", "item"])
@pytest.mark.parametrize("table", ["recommendations", "truth", "train"])
def test_float_ids_that_stand_for_several_numbers_are_refused(kind, column, table):
    limit = {"float32": 2**24, "float16": 2**11}.get(kind, BIG)
    tables = {"recommendations": LISTS, "truth": TRUTH, "train": TRUTH}

    def with_id(value):
        ids = [float(value), *(float(id_) for id_ in tables[table][column][1:])]
        made = pd.Series(ids, dtype=object if kind == "object" else kind)
        return tables | {table: tables[table].assign(**{column: made})}

    with pytest.raises(
        DataError, match=rf"{column} is .*which stands for several whole numbers.*keep ids as"
    ) as caught:
        repro.evaluate(**with_id(limit))
    assert "row 1" in str(caught.value)
    warned(repro.evaluate, **with_id(limit - 1))  # the last that stands for itself alone
    if table == "truth":
        with pytest.raises(DataError, match="which stands for several whole numbers"):
            Interactions.from_frame(with_id(limit)["truth"])
        with pytest.raises(DataError, match="which stands for several whole numbers"):
            Study(with_id(limit)["truth"], "random-5fold", ["reference/popularity"], ["hit@1"]).run()


def test_a_float_id_beyond_its_precision_in_a_file_is_refused(tmp_path):
    pd.DataFrame({"user": [1], "item": [float(BIG)], "score": [1.0]}).to_parquet(tmp_path / "given.parquet")
    with pytest.raises(DataError, match="which stands for several whole numbers"):
        repro.evaluate(tmp_path / "given.parquet", TRUTH)


@pytest.mark.parametrize("first", ["int64", "uint64", "Int64", "object", "string"])
@pytest.mark.parametrize("second", ["int64", "uint64", "Int64", "object", "string"])
def test_whole_ids_of_any_size_match_themselves_alone(first, second):
    """Beside them are floats, which must not make floats of them."""

    def ids(values, kind):
        return pd.Series([str(value) for value in values] if kind == "string" else values, dtype=kind)

    lists = pd.DataFrame({"user": [1, 1], "item": ids([BIG + 1, BIG + 3], first), "score": [2.0, 1.0]})
    truth = pd.DataFrame({"user": [1.0], "item": ids([BIG + 2], second)})
    other = truth.assign(item=ids([BIG + 3], second))
    train = pd.DataFrame({"user": [1.0], "item": [2.0], "rating": [1.0]})
    for held_out, value in ((truth, 0.0), (other, 1.0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert repro.evaluate(lists, held_out, metrics=["hit@2"], train=train)["value"][0] == value


@pytest.mark.parametrize(
    "listed, held_out, sentence",
    [
        (
            ["007", "8", "9"],
            ["7", "8", "9"],
            "item '7' of the truth is written '007' in recommendations (zeros in front",
        ),
        (
            ["A1", "b", "c"],
            ["a1", "b", "c"],
            "item 'a1' of the truth is written 'A1' in recommendations (they differ in",
        ),
        (
            ["a.0", "b", "c"],
            ["a", "b", "c"],
            "item 'a' of the truth is written 'a.0' in recommendations (they have decimals",
        ),
        (["x", "b", "c"], ["a", "b", "c"], None),
    ],
)
def test_some_ids_that_are_written_otherwise(listed, held_out, sentence):
    lists = pd.DataFrame({"user": [1, 2, 3], "item": listed, "score": 1.0})
    messages = warned(repro.evaluate, lists, pd.DataFrame({"user": [1, 2, 3], "item": held_out}), metrics=["hit@1"])
    written = [message for message in messages if "is written" in message]
    assert len(written) == (sentence is not None)
    assert all(message.startswith(sentence) for message in written)
