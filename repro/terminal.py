"""Text that is safe to print: control characters from files never reach the terminal."""

from __future__ import annotations

import re

# Control characters except line ends and tabs (ESC and U+009B start commands to a terminal, a carriage return goes back
# to the start of the line), characters that change the direction of text, and surrogates, which cannot be encoded.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """``text`` with each unsafe character written as in Python: ``\\x1b``, ``\\u202e``."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def printable_json(text: str) -> str:
    """JSON with each unsafe character as a JSON escape: the same value."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
