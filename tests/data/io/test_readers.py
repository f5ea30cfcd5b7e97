"""Files of interactions, and the messages about bad ones."""

import gzip

import pandas as pd
import pytest

from repro.data import read_interactions
from repro.errors import DataError

U_DATA = "196\t242\t3\t881250949\n186\t302\t3\t891717742\n22\t377\t1\t878887116\n"
INTER = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n" + U_DATA
DAT = U_DATA.replace("\t", "::")
CSV = "userId,movieId,rating,timestamp\n" + U_DATA.replace("\t", ",")
QUOTED = "\n".join(";".join(f'"{cell}"' for cell in line.split(",")) for line in CSV.splitlines())
SPACES = U_DATA.replace("\t", " ")
ROWS = [[196, 242, 3, 881250949], [186, 302, 3, 891717742], [22, 377, 1, 878887116]]


def rows(data):
    return data.to_frame().to_numpy().tolist()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("u.data", U_DATA),
        ("ml.inter", INTER),
        ("no-suffix", INTER),
        ("ratings.dat", DAT),
        ("ratings.csv", CSV),
        ("ratings.txt", SPACES),
        ("ratings.csv", CSV.replace("\n", "\r\n")),
        ("ratings.csv", "\ufeff" + CSV),
        ("ratings.csv", CSV.replace(",", ", ")),
        ("ratings.csv.gz", gzip.compress(CSV.encode(), mtime=0)),
        ("ratings.csv", CSV + "\n\n"),
        ("quoted.csv", QUOTED),
    ],
)
def test_the_same_interactions_in_every_form(write, name, content):
    data = read_interactions(write(name, content))
    assert rows(data) == ROWS
    assert data.digest == read_interactions(write("plain.data", U_DATA)).digest


@pytest.mark.parametrize(
    "header",
    [
        "user,item,rating,timestamp",
        "uid,iid,score,ts",
        "user_id,item_id,Stars,time",
        "User-ID,ISBN,Book-Rating,Date",
    ],
)
def test_columns_by_what_people_call_them(write, header):
    assert rows(read_interactions(write("a.csv", header + "\n" + U_DATA.replace("\t", ",")))) == ROWS


def test_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    frame = pd.DataFrame(ROWS, columns=["user", "item", "rating", "timestamp"])
    frame.assign(item=frame.item.astype(str).astype("category")).to_parquet(path)
    assert rows(read_interactions(path)) == ROWS


def test_parquet_is_known_by_its_content_too(tmp_path):
    path = tmp_path / "a.data"
    pd.DataFrame(ROWS, columns=["user", "item", "rating", "timestamp"]).to_parquet(path)
    assert rows(read_interactions(path)) == ROWS


def test_qrels(write):
    data = read_interactions(write("test.qrels", "u1 0 i7  3\nu1\tQ0\ti8 0\n\nu2 0 i7 1\n"))
    assert rows(data) == [["u1", "i7", 3], ["u1", "i8", 0], ["u2", "i7", 1]]
    assert data.timestamps is None


def test_book_crossing_as_it_is(write):
    text = '"User-ID";"ISBN";"Book-Rating"\n"276725";"034545104X";"0"\n"276726";"\\"ü155061224";"5"\n'
    data = read_interactions(write("bx.csv", text, "latin-1"), encoding="latin-1", escape="\\")
    assert rows(data) == [[276725, "034545104X", 0], [276726, '"ü155061224', 5]]


def test_columns_in_order_without_header(write):
    file = write("plays.tsv", 'u1\tm1\tThe "Who\t12\nu2\t\tCan\t3\nu3\tm3\t\t4\n')
    stated = {"columns": ["user", "-", "item", "rating"], "quote": ""}
    assert rows(read_interactions(file, empty_ids="drop", **stated)) == [["u1", 'The "Who', 12], ["u2", "Can", 3]]
    with pytest.raises(DataError, match="item is empty in line 3"):
        read_interactions(file, **stated)


def test_columns_by_name_and_dates_in_another_form(write):
    file = write("t.csv", "TRANSACTION_DT,CUSTOMER_ID,PRODUCT_ID,AMOUNT\n11/1/2000,1,2,3\n")
    columns = {"timestamp": "TRANSACTION_DT", "rating": "AMOUNT"}
    data = read_interactions(file, columns=columns, time_format="%m/%d/%Y")
    assert rows(data) == [[1, 2, 3, 973036800]]  # date -u -d 2000-11-01 +%s


def test_iso_times_and_a_rating_left_out(write):
    file = write("t.csv", "time,user,item,rating\n1970-01-01T01:00:00Z,u,i,2\n")
    data = read_interactions(file, columns={"rating": ""})
    assert data.timestamps.tolist() == [3600]
    assert not data.explicit


def test_two_columns_of_text_have_no_header(write):
    assert rows(read_interactions(write("a.csv", "u1,i1\nu2,i2\n"))) == [["u1", "i1"], ["u2", "i2"]]


def test_leading_zeros_are_part_of_an_id(write):
    data = read_interactions(write("a.csv", "user,item\n007,1\n7,1\n 7,2\n"))
    assert rows(data) == [["007", 1], ["7", 1], ["7", 2]]


def refused(path, **options):
    with pytest.raises(DataError) as caught:
        read_interactions(path, **options)
    message = str(caught.value)
    assert path.name in message
    return message


def test_missing_file(write):
    write("ratings.csv", CSV)
    message = refused(write("x", "").with_name("rating.csv"))
    assert "there is no file" in message
    assert "did you mean 'ratings.csv'" in message


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_empty_file(write, content):
    assert "is empty" in refused(write("a.csv", content))


def test_header_and_no_rows(write):
    assert "has no rows" in refused(write("a.csv", "user,item,rating\n"))


def test_missing_column(write):
    message = refused(write("a.csv", "usr,item,rating\n1,2,3\n"))
    assert "no column 'user'; it has usr, item, rating; did you mean 'usr'?" in message


def test_header_of_unknown_names(write):
    assert "no column 'user'; it has person, thing, liking" in refused(write("a.csv", "person,thing,liking\n1,2,3\n"))


def test_stated_column_that_is_not_there(write):
    message = refused(write("a.csv", CSV), columns={"item": "movie_id"})
    assert (
        "no column 'movie_id' for item; it has userId, movieId, rating, timestamp; did you mean 'movieId'?" in message
    )


def test_missing_column_in_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"user": [1], "rating": [1.0]}).to_parquet(path)
    assert "no column 'item'; it has user, rating" in refused(path)


def test_text_in_a_numeric_column_counts_lines_as_people_do(write):
    message = refused(write("a.csv", "user,item,rating\n1,2,3\n\n1,3,good\n"))
    assert "rating is 'good', not a finite number in line 4 (1 such row)" in message


def test_nan_rating(write):
    message = refused(write("a.csv", "user,item,rating\n1,2,NaN\n1,3,\n"))
    assert "rating is missing (NaN) in line 2 (2 such rows)" in message


def test_infinite_rating(write):
    assert "rating is 'inf', not a finite number in line 1" in refused(write("a.csv", "1,2,inf\n"))


def test_nan_rating_in_parquet_counts_rows(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"user": [1, 2], "item": [1, 2], "rating": [1.0, None]}).to_parquet(path)
    assert "rating is missing (NaN) in row 2" in refused(path)


def test_text_among_timestamps(write):
    assert "timestamp is 'noon', not a finite number in line 2" in refused(write("a.csv", "1,2,3,4\n1,3,3,noon\n"))


def test_times_in_an_unknown_form(write):
    message = refused(write("a.csv", "user,item,time\n1,2,1/2/2000\n"))
    assert "timestamp is '1/2/2000', not a number or an ISO 8601 time in line 2" in message
    assert "state time_format" in message


def test_empty_user(write):
    assert "user is empty in line 3" in refused(write("a.csv", "user,item\n1,2\n,3\n"))


@pytest.mark.parametrize(("line", "columns"), [("1,3,4", 3), ("1,3,4,5,6", 5)])
def test_wrong_number_of_columns(write, line, columns):
    message = refused(write("a.csv", f"{CSV}{line}\n"))
    assert f"line 5 has {columns} columns where 4 were expected" in message
    assert repr(line) in message


def test_wrong_number_of_columns_in_qrels(write):
    assert "line 2 has 3 columns where 4 were expected" in refused(write("a.qrels", "u 0 i 1\nu 0 i\n"))


def test_single_column(write):
    assert "single column" in refused(write("a.csv", "1\n2\n"))


def test_more_columns_than_can_be_guessed(write):
    assert "has no column 'user'; it has column 1, column 2" in refused(write("a.csv", "1,2,3,4,5\n"))


def test_columns_stated_for_another_width(write):
    assert "3 columns are stated (user, item, rating), but the first line has 4" in refused(
        write("a.csv", CSV), columns=["user", "item", "rating"]
    )


def test_truncated_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"user": range(100), "item": range(100)}).to_parquet(path)
    path.write_bytes(path.read_bytes()[:-30])
    assert "is not a complete Parquet file" in refused(path)


def test_recbole_file_without_types(write):
    assert "begins with a header such as" in refused(write("a.inter", U_DATA))


def test_wrong_encoding(write):
    text = "user,item\n1,Müller\n"
    assert "state its encoding" in refused(write("a.csv", text, "latin-1"))


def test_unknown_format(write):
    with pytest.raises(DataError, match="no format 'parket'; did you mean 'parquet'"):
        read_interactions(write("a.csv", CSV), format="parket")


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(DataError, match="is not a file but a folder; name the file in it"):
        read_interactions(tmp_path)


def test_compressed_file_that_is_cut_short(write):
    compressed = gzip.compress(CSV.encode() * 50)
    with pytest.raises(DataError, match=r"cannot read .*ratings\.csv\.gz \(.*copy it again"):
        read_interactions(write("ratings.csv.gz", compressed[: len(compressed) // 2]))
    with pytest.raises(DataError, match=r"cannot read .*plain\.csv\.gz"):
        read_interactions(write("plain.csv.gz", CSV))


def test_a_file_that_is_no_text(write):
    with pytest.raises(DataError, match=r"noise\.csv"):
        read_interactions(write("noise.csv", bytes(range(256)) * 20))


def test_unknown_encoding(write):
    with pytest.raises(DataError, match="there is no encoding 'utf8-ish'"):
        read_interactions(write("ratings.csv", CSV), encoding="utf8-ish")


def test_two_columns_of_one_name(write):
    with pytest.raises(DataError, match="several columns called 'item' for item"):
        read_interactions(write("ratings.csv", "user,item,item\n1,2,3\n"))


@pytest.mark.parametrize("option", [{"delimiter": ""}, {"quote": "''"}, {"escape": "--"}])
def test_marks_of_an_impossible_length(write, option):
    with pytest.raises(DataError, match="a delimiter has at least one character, the others at most one"):
        read_interactions(write("ratings.csv", CSV), **option)


def test_a_rating_with_a_zero_byte_is_named(tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_bytes(b"user,item,rating\n7,1,4\n7,2,3.5\x00\n")
    with pytest.raises(DataError, match=r"rating is '3\.5.x00', not a finite number in line 3"):
        read_interactions(file)
