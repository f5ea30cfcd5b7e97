"""Files that nobody wrote: any bytes, and valid files with parts of them changed, doubled, moved or left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import strategies as st

from repro.errors import ReproError

# What has broken readers before: ends of lines and of quotes, marks of other encodings, numbers that are none.
TOKENS = (
    *(
        b"\n",
        b"\r",
        b"\r\n",
        b"\0",
        b'"',
        b"'",
        b"\t",
        b",",
        b"::",
        b";",
        b" ",
        b"#",
        b"\\",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
    ),
    *(
        b"nan",
        b"inf",
        b"-1",
        b"1e999",
        b"99999999999999999999",
        b"0x10",
        b"[",
        b"]",
        b"{",
        b"}",
        b"[[",
        b"=",
        b":",
        b".",
    ),
    *(
        b"null",
        b"true",
        b"\xe2\x80\xa8",
        b"\xed\xa0\x80",
        b"PK\x03\x04",
        b"\x1f\x8b",
        b"BZh",
        b"PAR1",
        b"user",
        b"item",
    ),
)


def changed(valid: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Any bytes, or one of the valid files with a few edits."""
    place = st.floats(0, 1, exclude_max=True)
    edit = st.tuples(place, st.integers(0, 30), st.sampled_from(TOKENS) | st.binary(max_size=8) | st.none())

    def edited(content: bytes, edits: list[tuple[float, int, bytes | None]]) -> bytes:
        for where, length, new in edits:
            at = int(where * (len(content) + 1))
            piece = content[at : at + length] * 2 if new is None else new  # doubled, or replaced
            content = content[:at] + piece + content[at + (0 if length > 20 else length) :]
        return content

    return st.binary(max_size=200) | st.builds(edited, st.sampled_from(valid), st.lists(edit, max_size=6))


@pytest.fixture
def edited() -> Callable[[Sequence[bytes]], st.SearchStrategy[bytes]]:
    return changed


@pytest.fixture
def refuses_or_reads(tmp_path: Path) -> Callable[[Callable[[Path], object], str, bytes], object]:
    """Reads a file of these bytes: what is wrong with them must be a sentence of ours."""

    def read(reader: Callable[[Path], object], name: str, content: bytes) -> object:
        file = tmp_path / name
        file.write_bytes(content)
        try:
            return reader(file)
        except ReproError as error:
            assert str(error).strip()
            assert len(str(error)) < 20_000
            return None

    return read
