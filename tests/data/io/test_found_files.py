"""Files as others publish them: delimiters, headers, comments, lists, JSON; and the notes about each."""

import bz2
import gzip
import io
import json
import zipfile

import pytest

from repro.data import read_interactions
from repro.data.io.options import ReadOptions
from repro.data.io.tables import read_with_notes
from repro.errors import DataError

ROWS = [[196, 242, 3, 881250949], [186, 302, 3, 891717742], [22, 377, 1, 878887116]]
TABS = "".join("\t".join(map(str, row)) + "\n" for row in ROWS)
COMMAS = TABS.replace("\t", ",")


def rows(data):
    return data.to_frame().to_numpy().tolist()


def zipped(*members):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in members:
            archive.writestr(name, text)
    return content.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("ml-1m.train.rating", TABS),
        ("a.txt", TABS.replace("\t", ";")),
        ("a.txt", TABS.replace("\t", "|")),
        ("a.txt", TABS.replace("\t", "  ")),
        ("a.txt", TABS.replace("\t", " \t ")),
        ("a.txt", "  " + TABS.replace("\t", "   ").replace("\n", " \r\n")),
        ("a.txt", TABS.replace("\t", " ", 1)),  # a blank where the others have tabs
        ("a.txt", "\ufeff" + TABS.replace("\n", "\r\n")),
        ("a.txt", TABS.replace("\n", "\t\n")),
        ("a.csv", "user,item,rating,timestamp,\n" + COMMAS.replace("\n", ",\n")),
        ("a.csv", "user,item,rating,timestamp\n" + COMMAS.replace("\n", ",\n")),
        ("a.csv", "# from somewhere\n#\nuser,item,rating,timestamp\n" + COMMAS),
        ("a.csv", "# user, item, rating, timestamp\n" + COMMAS),
        ("a.csv", "# half of it\n" + COMMAS.replace("186", "# the other half\n186")),
        ("a.csv", ",USER_ID,ItemID,Rating,TS\n" + "".join(f"{n},{x}\n" for n, x in enumerate(COMMAS.split()))),
        ("a.csv", "Unnamed: 0,uid,sid,score,ts\n" + "".join(f"{n},{x}\n" for n, x in enumerate(COMMAS.split()))),
        ("a.csv", "uid,sid,score,ts\n" + "".join(f'"{n}",{x}\n' for n, x in enumerate(COMMAS.split(), 1))),
        ("a.csv", "timestamp,rating,movie_id,userId\n" + "".join(",".join(map(str, r[::-1])) + "\n" for r in ROWS)),
        ("a.csv", "".join(",".join(f"'{cell}'" for cell in row) + "\n" for row in ROWS)),
        ("a.txt", "".join(" ".join(f'"{cell}"' for cell in row) + "\n" for row in ROWS)),
        ("a.csv.bz2", bz2.compress(COMMAS.encode())),
        ("a.csv", gzip.compress(COMMAS.encode())),
        ("a.zip", zipped(("in/a.csv", COMMAS), ("__MACOSX/in/a.csv", "rubbish"))),
        ("a.json", json.dumps([dict(zip(("user", "movieId", "stars", "time"), row, strict=True)) for row in ROWS])),
        ("a.jsonl", "\n".join(json.dumps({"uid": u, "iid": i, "score": r, "date": t}) for u, i, r, t in ROWS)),
        ("a.json", json.dumps(ROWS)),
        ("a.json", json.dumps(dict(zip(("user", "item", "rating", "ts"), zip(*ROWS, strict=True), strict=True)))),
    ],
    ids=lambda value: "packed" if isinstance(value, bytes) else None,  # which has the time in it
)
def test_the_same_rows_in_every_form(write, name, content):
    assert rows(read_interactions(write(name, content))) == ROWS


def notes_of(path, **options):
    return "; ".join(read_with_notes(path, ReadOptions(**options)).notes)


@pytest.mark.parametrize(
    ("content", "notes"),
    [
        (
            TABS,
            "text separated by tabs without a header; taken are column 1 for user, column 2 for item, column 3 for "
            "rating, column 4 for timestamp; user ids are whole numbers; item ids are whole numbers",
        ),
        (
            "# by hand\n,uid,sid,title\n0,u1,7,x\n",
            "text separated by commas with a header; taken are uid for user, sid for item; 1 line that begins with # "
            "is a comment; the first column has no name and is passed over; not used: title; user ids are text; item "
            "ids are whole numbers",
        ),
        (
            "1  2 \n# no row here\n3 4\n",
            "text separated by white space without a header; taken are column 1 for user, column 2 for item; 1 line "
            "that begins with # is a comment among the rows, the first '# no row here'; user ids are whole numbers; "
            "item ids are whole numbers",
        ),
        (
            "1 2 3\n4\n5 6\n",
            "text separated by white space; each line is a user and its items; 1 users have no items in their lines, "
            "the first in line 2; user ids are whole numbers; item ids are whole numbers",
        ),
        (
            '{"u": {"i": 3}}',
            "JSON; {user: {item: rating}}; user ids are text; item ids are text",
        ),
    ],
)
def test_what_was_assumed_is_told(write, content, notes):
    assert notes_of(write("a.txt", content)) == notes


@pytest.mark.parametrize(
    "content",
    [
        "0 5 6 7\n1 8\n2 9 5\n",
        "0\t5\t6\t7\n1\t8\n2\t9\t5\n",
        "0,5,6,7\n1,8\n2,9,5\n",
        "0: 5 6 7\n1: 8\n2: 9 5\n",
        "0 5 6 7 \n1 8 \n2 9 5\n3 \n",
        '{"0": [5, 6, 7], "1": [8], "2": [9, 5], "3": []}',
        '{"user": 0, "items": [5, 6, 7]}\n{"user": 1, "items": [8]}\n{"user": 2, "items": [9, 5]}\n',
    ],
)
def test_a_line_for_each_user(write, content):
    result = read_with_notes(write("train.txt", content))
    assert rows(result.interactions) == [[0, 5], [0, 6], [0, 7], [1, 8], [2, 9], [2, 5]]
    assert result.format == "lists"


def test_lists_of_ids_in_words(write):
    data = read_interactions(write("train.txt", "ann x y\nbob z\ncat y z x\n"))
    assert rows(data) == [["ann", "x"], ["ann", "y"], ["bob", "z"], ["cat", "y"], ["cat", "z"], ["cat", "x"]]


def test_lists_may_be_stated(write):
    data = read_interactions(write("train.txt", "0 5 6\n1 7 8\n"), format="lists")
    assert rows(data) == [[0, 5], [0, 6], [1, 7], [1, 8]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 5 3\n1 6\n2 7 3\n", "line 2 has 2 columns where 3 were expected"),  # user 1 has two lines
        ("1 5 3\n2 6 3\n3 7 3\n4 8 3\n5 9\n", "line 5 has 2 columns where 3"),  # a table with one broken line
        ("a 5 6\nb 7\n", "line 2 has 2 columns where 3 were expected"),
    ],
)
def test_broken_tables_are_no_lists(write, content, message):
    with pytest.raises(DataError, match=message):
        read_interactions(write("a.txt", content))


def test_ids_that_begin_like_a_comment_are_rows(write):
    assert rows(read_interactions(write("a.csv", "user,item\nu,1\n#v,2\n"))) == [["u", 1], ["#v", 2]]


def test_line_numbers_count_comments(write):
    with pytest.raises(DataError, match="rating is 'good', not a finite number in line 5"):
        read_interactions(write("a.csv", "# c\nuser,item,rating\n1,2,3\n# d\n1,3,good\n"))


def test_archives_that_hold_other_than_one_file(write):
    with pytest.raises(DataError, match=r"a.zip holds 2 files \(a.csv, b.csv\), and one was expected"):
        read_interactions(write("a.zip", zipped(("a.csv", COMMAS), ("b.csv", COMMAS))))
    archive = zipped(("a.csv", COMMAS * 100))
    with pytest.raises(DataError, match="cannot unpack"):
        read_interactions(write("a.zip", archive[: len(archive) // 2]))


def test_json_that_is_no_table(write):
    with pytest.raises(DataError, match="has no lists in a known form"):
        read_interactions(write("a.json", "[1, 2]"))
    with pytest.raises(DataError, match="has items for pairs of a user and an item"):
        read_interactions(write("a.json", '{"a": {"b": [1]}}'))
