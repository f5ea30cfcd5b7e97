"""Negatives from files: both kinds of lines, in AR and in 1R, and what can be wrong with them."""

from __future__ import annotations

import pytest

from repro.candidates import plan_candidates
from repro.errors import DataError

FILE = 'base = "file"\nfile = "negatives.txt"\n'


@pytest.fixture
def given(tmp_path, plan, fold, lists_of):
    """The lists from a file with this text."""

    def make(text, decisions=""):
        (tmp_path / "negatives.txt").write_text(text)
        candidates = plan(FILE + decisions, folder=tmp_path)
        return lists_of(candidates.block(candidates.users), fold), candidates

    return make


@pytest.mark.parametrize("mark", ["\t", ",", " ", ", "])
def test_user_lines_in_ar(given, mark):
    lists, candidates = given("a 7 8\nb 1 8\nc 1 2\n".replace(" ", mark))
    assert lists == {"a": {3, 4, 7, 8}, "b": {1, 2, 6, 8}, "c": {1, 2}}
    assert candidates.items.tolist() == [0, 1, 2, 3, 5, 6, 7]  # items 1 2 3 4 6 7 8


def test_user_lines_in_1r(given):
    lists, _ = given("a\t7\t8\nb\t1\t8\n", 'relevant = "one"')
    assert lists == {("a", 3): {3, 7, 8}, ("a", 4): {4, 7, 8}, ("b", 2): {1, 2, 8}, ("b", 6): {1, 6, 8}}


PAIRS = "(a,3)\t7\t8\n(a,4)\t1\t7\n(b,2)\t8\t7\n(b,6)\t1\t8\n"


@pytest.mark.parametrize("mark", ["\t", ",", " "])
def test_pair_lines_in_1r(given, mark):
    lists, _ = given(PAIRS.replace("\t", mark), 'relevant = "one"')
    assert lists == {("a", 3): {3, 7, 8}, ("a", 4): {1, 4, 7}, ("b", 2): {2, 7, 8}, ("b", 6): {1, 6, 8}}


def test_pair_lines_in_ar_are_joined_by_user(given):
    lists, _ = given(PAIRS + "(c,7)\t1\n")
    assert lists == {"a": {1, 3, 4, 7, 8}, "b": {1, 2, 6, 7, 8}, "c": {1}}


def test_what_the_file_does_not_say_and_says_in_vain_is_counted(given):
    lists, candidates = given("(a,3)\t7\t3\t7\n(a,4)\t3\t8\n(d,1)\t2\t5\n", 'relevant = "one"')
    assert lists == {("a", 3): {3, 7}, ("a", 4): {3, 4, 8}, ("b", 2): set(), ("b", 6): set()}
    impacts = {i.note: (i.touched, i.total) for i in candidates.impacts()}
    assert impacts == {
        "have no list": (1, 3),
        "are among their own negatives and ranked once, as relevant": (1, 2),
        "are not in the file and stay empty": (2, 4),
        "serve no list": (1, 3),
        "are written more than once for a list and ranked once": (1, 7),
        "are relevant for the user, and count as not relevant beside the target": (1, 4),
    }


def test_the_head_is_taken_out_of_given_negatives(tmp_path, plan, fold, lists_of):
    (tmp_path / "negatives.txt").write_text("a 7 8\nb 7\nc 1\n")
    candidates = plan(FILE, folder=tmp_path, removed_items=fold.everything.item_codes([7]))
    assert lists_of(candidates.block(candidates.users), fold) == {"a": {3, 4, 8}, "b": {2, 6}, "c": {1}}
    assert [(i.touched, i.total) for i in candidates.impacts() if i.decision == "split.head"] == [(2, 4)]


def test_ids_with_spaces_between_tabs(tmp_path, fold_of, protocol_of, lists_of):
    fold = fold_of([("a b", "x y", 5, "test"), ("a b", "z", 5, "train"), ("c", "w w", 5, "train")])
    (tmp_path / "negatives.txt").write_text("a b\tz\tw w\n")
    candidates = plan_candidates(fold.train, fold.test, protocol_of(FILE, folder=tmp_path), 1)
    assert lists_of(candidates.block(candidates.users), fold) == {"a b": {"x y", "z", "w w"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 7\nzed 8\n", "line 2: there is no user 'zed'"),
        ("a 7\n\nb 1 99\n", "line 3: there is no item '99'"),
        ("(a,33)\t7\n", "line 1: there is no item '33'"),
        ("a\t7\n(b,6)\t1\n", "lines of both kinds"),
        ("\n", "has no lines"),
        ("a 7\nb 1\na 8\n", "user a has two lines, 1 and 3"),
        ("(a,3)\t7\n(a,3)\t8\n", r"the pair \(a,3\) has two lines, 1 and 2"),
    ],
)
def test_files_that_cannot_be_used(given, text, message):
    with pytest.raises(DataError, match=message):
        given(text)


def test_a_file_that_is_not_there(plan, tmp_path):
    with pytest.raises(DataError, match=r"cannot read the file of negatives .*negatives\.txt"):
        plan(FILE, folder=tmp_path)
