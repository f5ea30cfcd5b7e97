"""Parquet files, read only if the rows that they declare fit into memory: a few bytes may declare very many."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from repro.errors import DataError
from repro.system import memory

if TYPE_CHECKING:
    import pyarrow.parquet as pq

# A table is in memory twice for a moment, as Arrow columns and as arrays.
_HELD = 2
_GIB = 1 << 30
_SMALL = 50_000  # rows
_TEXT_WIDTH = 16  # least bytes of a text


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """The table in a Parquet file, or some of its ``columns``.

    A file that declares more rows than fit into the memory of this machine is refused before they are read.
    """
    import pyarrow.parquet as pq  # takes as long as all of this package's own modules for a table

    with pq.ParquetFile(path) as file:
        needed, free = _HELD * _declared_bytes(file, columns), available_memory()
        if needed > free:
            raise DataError(
                f"{path} declares {file.metadata.num_rows:,} rows, which take about {needed / _GIB:,.1f} GiB of memory "
                f"to read, and {free / _GIB:,.1f} GiB are free; select the rows that you need, or use a machine with "
                "more memory"
            )
        try:
            # Threads cost more than they gain on small tables.
            several = file.metadata.num_rows > _SMALL
            return file.read(columns=None if columns is None else list(columns), use_threads=several)
        except MemoryError:
            raise DataError(
                f"{path} does not fit into memory: its {file.metadata.num_rows:,} rows unpack to more than is free"
            ) from None


def column_names(path: Path) -> list[str]:
    """The names of the columns of a Parquet file."""
    import pyarrow.parquet as pq

    names: list[str] = pq.read_schema(path).names
    return names


def _declared_bytes(file: pq.ParquetFile, columns: Sequence[str] | None) -> int:
    """The least memory of the columns in bytes, by the rows and sizes that the file declares."""
    about, total = file.metadata, 0
    for place in range(about.num_columns):
        column = about.schema.column(place)
        if columns is not None and column.path.partition(".")[0] not in columns:
            continue
        width = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 8}.get(column.physical_type)
        chunks = [about.row_group(group).column(place) for group in range(about.num_row_groups)]
        values = sum(chunk.num_values for chunk in chunks)
        packed = sum(chunk.total_uncompressed_size for chunk in chunks)
        total += max(max(values, about.num_rows) * (width or _TEXT_WIDTH), packed)
    return total


def available_memory() -> int:
    """The bytes of memory that this process may still use: of the machine, and of its control group."""
    free = [_number("/proc/meminfo", "MemAvailable:", memory() or sys.maxsize)]
    for limit, used in (("memory.max", "anon"), ("memory/memory.limit_in_bytes", "total_rss")):
        path = Path("/sys/fs/cgroup") / limit
        most = _number(str(path), "", -1)
        if most >= 0:
            free.append(most - _number(str(path.with_name("memory.stat")), used, 0))
    return max(0, min(free))


def _number(path: str, name: str, default: int) -> int:
    """The number of bytes after ``name`` in a file of the kernel, with a line for each figure."""
    try:
        for line in Path(path).read_text().splitlines():
            words = line.removeprefix(name).split()
            if line.startswith(name) and words and words[0].isdigit():
                return int(words[0]) << (10 if words[1:] == ["kB"] else 0)
    except OSError:
        pass
    return default
