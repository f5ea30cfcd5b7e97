"""Studies on splits and negatives that others published: numbers worked out by hand, and all assumptions told."""

import hashlib
import math

import pytest
from click.testing import CliRunner

from repro import Study
from repro.cli import cli
from repro.errors import ProtocolError
from repro.runs.journal import read_journal
from repro.study import run_study

SECOND = 1 / math.log2(3)  # the gain of rank 2

# Popularity is 4, 3, 2 and 1 for the items 10, 11, 12 and 13.
NCF_TRAIN = """1 10 5 100
1 11 3 101
1 12 4 102
2 10 4 103
2 11 5 104
2 12 1 105
3 10 2 106
3 11 3 107
4 10 4 108
4 13 5 109
""".replace(" ", "\t")
NCF_TEST = "1\t13\t4\t200\n2\t13\t5\t201\n3\t12\t3\t202\n4\t11\t5\t203\n"
# Lists: 10 12 13*, 11 13* (which is among its own negatives), 10 12* 13 and 11* 12 13.
NCF_NEGATIVES = "(1,13)\t10\t12\n(2,13)\t11\t13\n(3,12)\t13\t10\n(4,11)\t12\t13\n"

NCF_PROTOCOL = """
[relevance]
rule = "any"
[split]
strategy = "files"
train_file = "ml.train.rating"
test_file = "ml.test.rating"
[candidates]
base = "file"
file = "ml.test.negative"
"""

LISTS_PROTOCOL = """
[relevance]
rule = "any"
[split]
strategy = "files"
train_file = "train.txt"
test_file = "test.txt"
[candidates]
base = "train-items"
"""


@pytest.fixture
def study(tmp_path):
    """A study in a folder with these files."""

    def make(protocol, metrics, data, **files):
        for name, text in {"protocol.toml": protocol, **files}.items():
            (tmp_path / name).write_text(text)
        (tmp_path / "study.toml").write_text(
            f'data = "{data}"\nmetrics = {metrics!r}\n[protocol]\nbase = "protocol.toml"\n'
            '[[algorithms]]\nuse = "reference/popularity"\n'.replace("'", '"')
        )
        return tmp_path / "study.toml"

    return make


@pytest.fixture
def ncf(study):
    files = {"ml.train.rating": NCF_TRAIN, "ml.test.rating": NCF_TEST, "ml.test.negative": NCF_NEGATIVES}

    def make(protocol=NCF_PROTOCOL, metrics=("hit@2", "ndcg@2"), **others):
        return study(protocol, list(metrics), "ml.train.rating", **{**files, **others})

    return make


def values(folder):
    (cell,) = read_journal(folder / "journal.jsonl").events("cell.finished")
    return {value.metric.partition("@")[0].partition("[")[0]: value.value for value in cell.values}


def test_the_files_of_ncf(ncf, tmp_path):
    done = CliRunner().invoke(cli, ["run", str(ncf()), "--workers", "1", "--quiet"])
    assert done.exit_code == 0, done.output
    actual = values(tmp_path / "run")
    assert actual["hit"] == pytest.approx(3 / 4)
    assert actual["ndcg"] == pytest.approx((0 + SECOND + SECOND + 1) / 4)
    for sentence in (
        "split.train_file=ml.train.rating: 10 of 10 rows are used, read as: text separated by tabs without a header; "
        "taken are column 1 for user, column 2 for item, column 3 for rating, column 4 for timestamp; user ids are "
        "whole numbers; item ids are whole numbers",
        "candidates.file=ml.test.negative: 4 of 4 lists of the file are read as: text separated by tabs; each line is "
        "a test pair and its negatives",
        "candidates.base=file: 1 of 4 relevant test items are among their own negatives and ranked once, as relevant",
        "negatives are training items of the same user and stay in the list, as the file has it",
    ):
        assert sentence in done.output
    journal = read_journal(tmp_path / "run" / "journal.jsonl")
    assert journal.events("data.loaded")[0].files == {
        decision: hashlib.sha256(text.encode()).hexdigest()
        for decision, text in (
            ("split.train_file", NCF_TRAIN),
            ("split.test_file", NCF_TEST),
            ("candidates.file", NCF_NEGATIVES),
        )
    }


def test_a_test_file_without_ratings_beside_a_training_file_with_ratings(ncf, tmp_path):
    implicit = "".join("\t".join(line.split()[:2]) + "\n" for line in NCF_TEST.splitlines())
    run_study(Study.load(ncf(**{"ml.test.rating": implicit})), tmp_path / "run")
    assert values(tmp_path / "run")["hit"] == pytest.approx(3 / 4)
    for metric in ("rmse", "ndpm"):
        with pytest.raises(ProtocolError, match=f"metric {metric} compares .*ratings, and held-out rows have none"):
            run_study(Study.load(ncf(metrics=[metric], **{"ml.test.rating": implicit})), tmp_path / "other")


def test_a_pair_that_is_trained_on_and_tested(ncf, tmp_path):
    """(4,13) is in both files: in a list of negatives it is found; among all items it is left out as known."""
    both = NCF_TEST.replace("4\t11", "4\t13")
    negatives = NCF_NEGATIVES.replace("(4,11)\t12\t13", "(4,13)\t12\t11")
    files = {"ml.test.rating": both, "ml.test.negative": negatives}
    run_study(Study.load(ncf(**files)), tmp_path / "given")
    assert values(tmp_path / "given")["hit"] == pytest.approx(2 / 4)  # 11 12 13*: user 4 now misses
    protocol = NCF_PROTOCOL.replace('base = "file"\nfile = "ml.test.negative"', 'base = "all-items"')
    results = run_study(Study.load(ncf(protocol, **files)), tmp_path / "all")
    # Without what they know, user 1 has 13, user 2 has 13, user 3 has 12 and 13, and user 4 can find nothing.
    assert values(tmp_path / "all")["hit"] == pytest.approx(3 / 4)
    sentences = results.most_touched()
    assert any(
        "1 of 4 rows are of a user and item that split.train_file has too, and stay in both" in s for s in sentences
    )
    assert any(
        "1 of 4 relevant test items are training items of the same user and can never be found" in s for s in sentences
    )


def test_the_files_of_lightgcn(study, tmp_path):
    """Popularity is 4, 3, 2 and 1 again. User 2 has a line and nothing to test."""
    train = "0 10 11\n1 10 12\n2 10 11 13\n3 10 11 12\n"
    path = study(
        LISTS_PROTOCOL, ["hit@1", "ndcg@2"], "train.txt", **{"train.txt": train, "test.txt": "0 13\n1 13\n2\n3 13\n"}
    )
    done = CliRunner().invoke(cli, ["run", str(path), "--workers", "1", "--quiet"])
    assert done.exit_code == 0, done.output
    actual = values(tmp_path / "run")  # 12 13*, 11 13* and 13*
    assert actual["hit"] == pytest.approx(1 / 3)
    assert actual["ndcg"] == pytest.approx((SECOND + SECOND + 1) / 3)
    assert "split.train_file=train.txt: 10 of 10 rows are used, read as: text separated by white space" in done.output
    assert "each line is a user and its items; 1 users have no items in their lines, the first in line 3" in done.output
