"""From how the code cites ("Cremonesi et al. 2010, section 4") to entries of a BibTeX file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_ENTRY = re.compile(r"^@(\w+)\{([\w-]+),\n(.*?)^\}$", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^ {2}(\w+) = \{(.*)\},$", re.MULTILINE)
_YEAR = re.compile(r"\(?\b((?:1[89]|20)\d\d)\b\)?")
_DOI = re.compile(r"\bdoi:(\S+)")
_WITHIN = re.compile(r"^(section|table|eq\.|chapter|lemma)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Entry:
    """One entry of a BibTeX file; its fields are LaTeX."""

    kind: str
    key: str
    fields: Mapping[str, str]

    def bibtex(self) -> str:
        lines = [f"  {name} = {{{value}}}," for name, value in self.fields.items()]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])

    def plain(self) -> str:
        """As a line of a list of references."""
        from pylatexenc.latex2text import LatexNodes2Text

        fields = {name: LatexNodes2Text().latex_to_text(value) for name, value in self.fields.items()}
        where = next((fields[name] for name in ("journal", "booktitle", "school", "publisher") if name in fields), "")
        volume = fields.get("volume", "") + (f"({fields['number']})" if "number" in fields else "")
        pages = fields.get("pages", "").replace("--", "–")
        rest = ", ".join(filter(None, (" ".join(filter(None, (where, volume))), pages, fields.get("year", ""))))
        address = f"https://doi.org/{fields['doi']}" if "doi" in fields else fields.get("howpublished", "")
        parts = (_names(fields.get("author", "")), fields.get("title", ""), rest, fields.get("note", ""), address)
        return ". ".join(part.rstrip(".") for part in parts if part) + "."


@dataclass(frozen=True)
class Citation:
    """An entry that is cited, and where in it."""

    key: str
    where: str = ""


@cache
def entries() -> Mapping[str, Entry]:
    """All that may be cited, by key."""
    text = (files("repro.export") / "references.bib").read_text(encoding="utf-8")
    found = [Entry(kind, key, dict(_FIELD.findall(body))) for kind, key, body in _ENTRY.findall(text)]
    return {entry.key: entry for entry in found}


def citations(cite: str) -> list[Citation]:
    """The entries that a text such as ``Fisher 1935; Bellogín 2012, table 4.2`` cites; of none known, none."""
    return [citation for part in cite.split(";") for citation in _of_part(part.strip()) if citation.key in entries()]


def _of_part(part: str) -> Iterator[Citation]:
    first = _YEAR.search(part)
    if not first:
        return
    rest = part[first.end() :].strip(" ,")
    where = next((text for text in re.split(r",\s*", rest) if _WITHIN.match(text)), "")
    if (doi := _DOI.search(part)) and (known := _by_doi().get(doi[1])):
        yield Citation(known, where)
        return
    surname = re.split(r",| & | et al\.| and ", part[: first.start()])[0].strip()
    further = rest.split(", ") if re.fullmatch(r"\d{4}(, \d{4})*", rest) else ()
    for year in (first[1], *further):
        yield Citation(_plain_letters(surname) + year, where)


@cache
def _by_doi() -> Mapping[str, str]:
    """The key of each entry that has a DOI."""
    return {entry.fields["doi"]: key for key, entry in entries().items() if "doi" in entry.fields}


def _plain_letters(text: str) -> str:
    """Letters without accents, blanks and capitals."""
    return re.sub(r"[^a-z]", "", unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower())


def _names(author: str) -> str:
    """``Steck, Harald and Koren, Yehuda`` as people write it in a list."""
    people = [" ".join(reversed(name.split(", ", 1))) for name in author.split(" and ")] if author else []
    return f"{', '.join(people[:-1])} and {people[-1]}" if len(people) > 1 else "".join(people)
