"""Text of any kind as LaTeX that every engine can set."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pylatexenc.latexencode import UnicodeToLatexEncoder

# Latin letters, Greek letters without accents, and common punctuation: what all fonts of LaTeX have.
_LATIN = range(0x20, 0x180)
_ALSO = {*range(0x391, 0x3A2), *range(0x3A3, 0x3AA), *range(0x3B1, 0x3CA), *map(ord, "–—‘’“”…≤≥")}
_NEVER = {0x7F, *range(0x80, 0xA0), 0xAD, 0x149}


def latex_text(text: str) -> str:
    """``text`` with every special character escaped; a character that LaTeX may not have is named by its code."""
    plain = " ".join(unicodedata.normalize("NFC", text).split())
    return "".join(_encoder().unicode_to_latex(one) if _is_safe(ord(one)) else f"[U+{ord(one):04X}]" for one in plain)


def _is_safe(code: int) -> bool:
    return (code in _LATIN or code in _ALSO) and code not in _NEVER


@cache
def _encoder() -> UnicodeToLatexEncoder:
    from pylatexenc.latexencode import RULE_DICT, UnicodeToLatexConversionRule, UnicodeToLatexEncoder

    # Fonts in LaTeX's oldest encoding have a dash where the bar should be.
    bar = UnicodeToLatexConversionRule(RULE_DICT, {ord("|"): r"\textbar"})
    return UnicodeToLatexEncoder(conversion_rules=[bar, "defaults"], replacement_latex_protection="braces-all")
