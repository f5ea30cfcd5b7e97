"""Arbitrary text as LaTeX that every engine can typeset."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from repro.extras import needed_for

if TYPE_CHECKING:
    from pylatexenc.latexencode import UnicodeToLatexEncoder

# Letters that all fonts of LaTeX have, and common punctuation. The oldest encoding, which is still the default, lacks
# some Latin letters.
_LATIN = set(map(chr, range(0xC0, 0x180))) - set("×÷ÐÞðþĄąĐđĘęĮįŉŊŋŲųſ")
_GREEK = {chr(code) for code in (*range(0x391, 0x3AA), *range(0x3B1, 0x3CA)) if code != 0x3A2}
_SAFE = {*map(chr, range(0x20, 0x7F)), *_LATIN, *_GREEK, *"–—‘’“”…≤≥"}


def latex_text(text: str) -> str:
    """``text`` with every special character escaped; a character that fonts may lack is replaced by its code."""
    plain = " ".join(unicodedata.normalize("NFC", text).split())
    return "".join(_encoder().unicode_to_latex(char) if char in _SAFE else f"[U+{ord(char):04X}]" for char in plain)


@cache
def _encoder() -> UnicodeToLatexEncoder:
    with needed_for("text in LaTeX"):
        from pylatexenc.latexencode import RULE_DICT, UnicodeToLatexConversionRule, UnicodeToLatexEncoder

    # Fonts in LaTeX's oldest encoding have a dash where the bar should be.
    bar = UnicodeToLatexConversionRule(RULE_DICT, {ord("|"): r"\textbar"})
    return UnicodeToLatexEncoder(conversion_rules=[bar, "defaults"], replacement_latex_protection="braces-all")
