"""TOML from files that are not trusted: whatever is in them is read, or is a TOMLDecodeError, within a moment."""

from __future__ import annotations

import re
import tomllib
from typing import Any

DEEPEST = 100
# Names with dots between them: the time that tomllib takes grows with the square of their number.
_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{DEEPEST}}}")


def parse_toml(text: str) -> dict[str, Any]:
    """The document in ``text``."""
    if _LONG_KEY.search(text):
        raise tomllib.TOMLDecodeError(f"a key of more than {DEEPEST} parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError("lists or tables that are nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise tomllib.TOMLDecodeError(str(error).partition(";")[0]) from None
