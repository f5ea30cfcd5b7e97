"""Negatives from files: both kinds of lines, in AR and in 1R, and what can be wrong with them."""

import bz2
import gzip
import zipfile

import pytest

from repro.errors import DataError
from repro.evaluation.candidates import plan_candidates

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
        "are read as: text separated by tabs; each line is a test pair and its negatives": (3, 3),
        "are among their own negatives and ranked once, as relevant": (1, 2),
        "are not in the file and stay empty": (2, 4),
        "serve no list": (1, 3),
        "are written more than once for a list and ranked once": (1, 7),
        "are relevant for the user, and count as not relevant beside the target": (1, 4),
    }


def test_the_head_is_taken_out_of_given_negatives(tmp_path, plan, fold, lists_of):
    (tmp_path / "negatives.txt").write_text("a 7 8\nb 7\nc 1\n")
    candidates = plan(FILE, folder=tmp_path, removed_items=fold.whole.item_codes([7]))
    assert lists_of(candidates.block(candidates.users), fold) == {"a": {3, 4, 8}, "b": {2, 6}, "c": {1}}
    assert [(i.touched, i.total) for i in candidates.impacts() if i.decision == "split.head"] == [(2, 4)]


def test_ids_with_spaces_between_tabs(tmp_path, fold_of, protocol_of, lists_of):
    fold = fold_of([("a b", "x y", 5, "test"), ("a b", "z", 5, "train"), ("c", "w w", 5, "train")])
    (tmp_path / "negatives.txt").write_text("a b\tz\tw w\n")
    candidates = plan_candidates(fold, protocol_of(FILE, folder=tmp_path), 1)
    assert lists_of(candidates.block(candidates.users), fold) == {"a b": {"x y", "z", "w w"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 7\nzed 8\n", "line 2: there is no user 'zed'"),
        ("a 7\n\nb 1 99 98\n", r"line 3: there is no item '99'.*8 items, and 2 of 4 in the file are not among them"),
        ("(a,33)\t7\n", "line 1: there is no item '33'"),
        ("a\t7\n(b,6)\t1\n", "lines of both kinds"),
        ("\n", "has no lines"),
        ("user negatives\n", "has no lines"),
        ("a 7\nb 1\na 8 2\n", "user a has two lines, line 1 and line 3"),
        ("(a,3)\t7\n(a,3)\t8\t1\n", r"the pair \(a,3\) has two lines, line 1 and line 2"),
        ("user,thing,rank\na,7,1\na,8,2\n", "has the columns user, thing, rank; of a table of negatives"),
        ("user,item,label\na,7,1\na,8,1\n", "has no row with the label 0"),
        ("user,item,label\na,7,1\na,8,no\n", "line 3: the label is 'no'; expected 0"),
        ('{"a": {"3": 7}}', "has no lists in a known form"),
        ('{"a": [7, }', "is not valid JSON"),
    ],
)
def test_files_that_cannot_be_used(given, text, message):
    with pytest.raises(DataError, match=message):
        given(text)


ONE = 'relevant = "one"'
IN_1R = {("a", 3): {3, 7, 8}, ("a", 4): {1, 4, 7}, ("b", 2): {2, 7, 8}, ("b", 6): {1, 6, 8}}


@pytest.mark.parametrize(
    "text",
    [
        PAIRS.replace(",", ", "),
        PAIRS.replace("(", "( ").replace(")", " )"),
        PAIRS.replace("(", "[").replace(")", "]"),
        "('a', '3')\t7\t8\n('a', '4')\t'1'\t'7'\n('b', '2')\t8\t7\n('b', '6')\t1\t8\n",
        '"(a, 3)",7,8\n"(a, 4)",1,7\n"(b, 2)",8,7\n"(b, 6)",1,8\n',
        PAIRS.replace("\t", ";"),
        PAIRS.replace("\t", "|"),
        PAIRS.replace("\t", "::"),
        PAIRS.replace("\t", "  \t "),
        PAIRS.replace("\t", "\t\t").replace("\n", "\t\n"),
        PAIRS.replace("\n", "\r\n"),
        "\ufeff" + PAIRS,
        "# negatives of the test pairs\n\n" + PAIRS,
        "(user,item)\tnegatives\n" + PAIRS,
        "(a,3)\t[7, 8]\n(a,4)\t[1, 7]\n(b,2)\t[8, 7]\n(b,6)\t[1, 8]\n",
        "(a,3): 7,8\n(a,4): 1,7\n(b,2): 8,7\n(b,6): 1,8\n",
        "(a,3)\t7.0\t8.0\n(a,4)\t1.0\t7.0\n(b,2)\t8.0\t7.0\n(b,6)\t1.0\t8.0\n",
        "a,3\t7\t8\na,4\t1\t7\nb,2\t8\t7\nb,6\t1\t8\n",
        "a 3 7 8\na 4 1 7\nb 2 8 7\nb 6 1 8\n",
        "user,item,neg_1,neg_2\na,3,7,8\na,4,1,7\nb,2,8,7\nb,6,1,8\n",
        "(a,3)\t7\n(a,3)\t8\n(a,4)\t1\n(a,4)\t7\n(b,2)\t8\n(b,2)\t7\n(b,6)\t1\n(b,6)\t8\n",
        "a 3 7\na 3 8\na 4 1\na 4 7\nb 2 8\nb 2 7\nb 6 1\nb 6 8\n",
        "userId,target,itemId\na,3,7\na,3,8\na,4,1\na,4,7\nb,2,8\nb,2,7\nb,6,1\nb,6,8\n",
        ",item,user,negative\n0,3,a,7\n1,3,a,8\n2,4,a,1\n3,4,a,7\n4,2,b,8\n5,2,b,7\n6,6,b,1\n7,6,b,8\n",
        '{"a": {"3": [7, 8], "4": [1, 7]}, "b": {"2": [8, 7], "6": ["1", "8"]}}',
        '{"(a, 3)": [7, 8], "(a, 4)": [1, 7], "(b, 2)": [8, 7], "(b, 6)": [1, 8]}',
        '[["a", 3, [7, 8]], ["a", 4, [1, 7]], ["b", 2, [8, 7]], ["b", 6, [1, 8]]]',
        '{"user": "a", "item": 3, "negatives": [7, 8]}\n{"user": "a", "item": 4, "negatives": [1, 7]}\n'
        '{"user": "b", "item": 2, "negatives": [8, 7]}\n{"user": "b", "item": 6, "negatives": [1, 8.0]}\n',
    ],
)
def test_pairs_in_the_forms_that_people_write(given, text):
    assert given(text, ONE)[0] == IN_1R


USERS = "a 7 8\nb 1 8\nc 1 2\n"
IN_AR = {"a": {3, 4, 7, 8}, "b": {1, 2, 6, 8}, "c": {1, 2}}


@pytest.mark.parametrize(
    "text",
    [
        *(USERS.replace(" ", mark) for mark in (";", "|", "::", "   ", " \t ", "; ")),
        "user negatives\n" + USERS,
        "user,neg1,neg2\na,7,8\nb,1,8\nc,1,2\n",
        "a\t7,8\nb\t1,8\nc\t1,2\n",
        "a\t[7, 8]\nb\t[1, 8]\nc\t[1, 2]\n",
        "a,7\na,8\nb,1\nb,8\nc,1\nc,2\n",
        "uid,iid\na,7\na,8\nb,1\nb,8\nc,1\nc,2\n",
        "user_id:token\titem_id:token\na\t7\na\t8\nb\t1\nb\t8\nc\t1\nc\t2\n",
        "user,item,label\na,3,1\na,7,0\na,8,0\nb,1,0\nb,8,0\nc,1,0\nc,2,0\nc,7,1\n",
        "a,3,1\na,7,0\na,8,0\nb,1,0\nb,8,0\nc,1,0\nc,2,0\nc,7,1\n",
        ",user,item\n0,a,7\n1,a,8\n2,b,1\n3,b,8\n4,c,1\n5,c,2\n",
        '{"a": [7, 8], "b": [1, 8], "c": [1, 2]}',
        '{"a": [7, 8]}\n{"b": [1, 8]}\n{"c": [1, 2]}\n',
        '[["a", [7, 8]], ["b", [1, 8]], ["c", [1, 2]]]',
        '{"user_id": "a", "items": [7, 8]}\n{"user_id": "b", "items": [1, 8]}\n{"user_id": "c", "items": [1, 2]}\n',
    ],
)
def test_users_in_the_forms_that_people_write(given, text):
    assert given(text)[0] == IN_AR


def test_compressed_files(given, tmp_path, plan, fold, lists_of):
    with zipfile.ZipFile(tmp_path / "negatives.txt", "w") as archive:
        archive.writestr("negatives.txt", USERS)
        archive.writestr("__MACOSX/negatives.txt", "rubbish")
    candidates = plan(FILE, folder=tmp_path)
    assert lists_of(candidates.block(candidates.users), fold) == IN_AR
    for compress in (gzip.compress, bz2.compress):
        (tmp_path / "negatives.txt").write_bytes(compress(USERS.encode()))
        candidates = plan(FILE, folder=tmp_path)
        assert lists_of(candidates.block(candidates.users), fold) == IN_AR


def sentences(candidates):
    return [impact.sentence for impact in candidates.impacts() if impact.touched]


def test_what_was_assumed_is_told(given):
    _, candidates = given("# drawn once\nuid;negatives\na;7.0;8\nb;1;8\nc;1;2\n")
    messages = sentences(candidates)
    assert messages[0] == (
        "candidates.file=negatives.txt: 3 of 3 lists of the file are read as: text separated by semicolons; 1 line "
        "that begins with # is a comment; a header (uid, negatives); each line is a user and its negatives"
    )
    assert (
        "candidates.file=negatives.txt: 1 of 6 item ids of the file are whole numbers written otherwise than in the "
        "data set (7 and 7.0), and taken for these"
    ) in messages


def test_users_and_items_that_nobody_has_are_left_out_and_told(given):
    lists, candidates = given("a 7 8 99\nb 1 8\nc 1 2\nzed 1\n")
    assert lists == IN_AR
    messages = sentences(candidates)
    assert (
        "candidates.file=negatives.txt: 1 of 4 lists of the file are of users without any row and left out, the first "
        "'zed' in line 4"
    ) in messages
    assert (
        "candidates.file=negatives.txt: 1 of 7 items of the file are of items without any row and left out, the first "
        "'99' in line 1"
    ) in messages


def test_training_items_among_the_negatives_stay_and_are_told(given):
    lists, candidates = given("a 1 7\nb 3 8\nc 1 2\n")  # 1 is a training item of a, and 3 of b
    assert lists["a"] == {1, 3, 4, 7}
    assert (
        "candidates.file=negatives.txt: 2 of 6 negatives are training items of the same user and stay in the list, as "
        "the file has it"
    ) in sentences(candidates)


def test_a_file_that_is_not_there(plan, tmp_path):
    with pytest.raises(DataError, match=r"cannot read the file of negatives .*negatives\.txt"):
        plan(FILE, folder=tmp_path)
