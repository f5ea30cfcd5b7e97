"""A few bytes that unpack to very many: refused by what comes out, whatever a header says."""

import bz2
import gzip
import io
import os
import struct
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from repro.data import archive, load_item_features, read_interactions
from repro.data.io import compressed
from repro.data.io import parquet as parquet_reader
from repro.data.io.recommendations import read_recommendations, read_truth
from repro.errors import DataError

LIMIT = 1 << 20
BOMB = b"user,item\n" + b"1,2\n" * LIMIT


@pytest.fixture(autouse=True)
def small_limit(monkeypatch):
    monkeypatch.setattr(compressed, "SIZE_LIMIT", LIMIT)


def zipped(content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("ratings.csv", content)
    return buffer.getvalue()


def zstd(content):
    return pa.Codec("zstd").compress(content, asbytes=True)


FORMS = {
    "ratings.csv.gz": gzip.compress,
    "ratings.csv.bz2": bz2.compress,
    "ratings.zip": zipped,
    "ratings.csv.zst": zstd,
}


@pytest.mark.parametrize("name", FORMS)
def test_compressed_files_of_interactions(tmp_path, name):
    file = tmp_path / name
    file.write_bytes(FORMS[name](BOMB))
    assert file.stat().st_size < LIMIT / 10
    with pytest.raises(DataError, match=r"is refused: it unpacks to more than .* GiB"):
        read_interactions(file)
    file.write_bytes(FORMS[name](BOMB[: LIMIT // 2 + 2]))  # below the limit, and whole rows
    assert len(read_interactions(file)) == LIMIT // 8 - 2


@pytest.mark.parametrize("name", ["lists.json.gz", "lists.run.gz", "lists.tsv.gz"])
def test_compressed_files_of_recommendations(tmp_path, name):
    file = tmp_path / name
    row = b"1 Q0 2 1 0.5 tag\n" if ".run" in name else b"1\t2\t3\n"
    file.write_bytes(gzip.compress(b"[" + b" " * (2 * LIMIT) + b"]" if ".json" in name else row * LIMIT))
    with pytest.raises(DataError, match=r"is refused: it unpacks to more than"):
        read_recommendations(file)


def test_a_line_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr("repro.data.io.compressed.LONGEST_LINE", 1 << 19)
    (tmp_path / "ratings.csv").write_bytes(b"x" * (2 << 20))
    with pytest.raises(DataError, match="line 1 has more than 0 MiB; a line for each row was expected"):
        read_interactions(tmp_path / "ratings.csv")


def understated(content, claimed):
    """A zip whose directory says that its member is smaller than it is."""
    whole = bytearray(zipped(content))
    at = whole.index(b"PK\x01\x02")
    whole[at + 24 : at + 28] = struct.pack("<I", claimed)
    return bytes(whole)


def test_an_archive_that_understates_its_size(tmp_path):
    """Never is more written than was claimed, or is allowed: the member is cut off there, and its checksum fails."""
    (tmp_path / "data.zip").write_bytes(understated(BOMB, 100))
    with pytest.raises(DataError, match=r"cannot be unpacked|is refused"):
        archive.extract_member(tmp_path / "data.zip", "ratings.csv", tmp_path / "out", limit=LIMIT)
    assert not (tmp_path / "out").exists() or (tmp_path / "out").stat().st_size <= LIMIT


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_a_single_file_is_cut_off_at_the_limit(tmp_path, compress):
    (tmp_path / "data").write_bytes(compress(BOMB))
    with pytest.raises(DataError, match="is refused: it unpacks to more than"):
        archive.extract_member(tmp_path / "data", "x", tmp_path / "out", limit=LIMIT)
    assert (tmp_path / "out").stat().st_size <= LIMIT


def parquet(path, rows, text=False):
    """A Parquet file of very many rows, all of them alike: a few bytes."""
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int8)), pa.array(["a" if text else 1]))
    table = pa.table({"user": column, "item": column, "rating": column, "score": column})
    pq.write_table(table, path, row_group_size=rows, compression="zstd")
    return path


READERS = {
    "interactions": read_interactions,
    "recommendations": read_recommendations,
    "truth": read_truth,
    "features": load_item_features,
    "table": parquet_reader.read_parquet,
}


@pytest.mark.parametrize("reader", READERS)
def test_a_parquet_file_is_refused_by_the_rows_that_it_declares(tmp_path, monkeypatch, reader):
    file = parquet(tmp_path / "ratings.parquet", 1_000_000, text=reader == "features")
    assert file.stat().st_size < 100_000
    monkeypatch.setattr(parquet_reader, "available_memory", lambda: 8 << 20)  # a million numbers take 8 MB, held twice
    monkeypatch.setattr(pq.ParquetFile, "read", None)  # nothing of it is read
    with pytest.raises(DataError, match=r"declares 1,000,000 rows, which take about .* GiB of memory to read, and"):
        READERS[reader](file)


def test_a_parquet_file_that_fits_is_read(tmp_path, monkeypatch):
    file = parquet(tmp_path / "ratings.parquet", 1000)
    monkeypatch.setattr(parquet_reader, "available_memory", lambda: 8 << 20)
    assert parquet_reader.read_parquet(file, ["user"]).num_rows == 1000


def test_what_does_not_fit_into_memory_is_not_called_damaged(tmp_path, monkeypatch):
    def read(self, columns=None, use_threads=True):
        raise pa.ArrowMemoryError("malloc of size 1600000000 failed")

    monkeypatch.setattr(pq.ParquetFile, "read", read)
    with pytest.raises(DataError, match="does not fit into memory: its 10 rows unpack to more than is free"):
        read_interactions(parquet(tmp_path / "ratings.parquet", 10))


def test_the_memory_that_is_free_is_known():
    assert 0 < parquet_reader.available_memory() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
