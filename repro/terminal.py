"""Text that is safe to print: what a file says is shown, and never commands the terminal."""

from __future__ import annotations

import re

# Control characters but for the ends of lines and tabs (ESC and U+009B begin commands to a terminal, a carriage return
# writes over the line), those that change the direction of text, and halves of characters, which cannot be written.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """``text`` with each unsafe character written as in Python: ``\\x1b``, ``\\u202e``."""
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def printable_json(text: str) -> str:
    """JSON with each unsafe character as JSON writes it: the same value."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
