"""Entries of the BibTeX file that citations in the code ("Cremonesi et al. 2010, section 4") refer to."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from repro.extras import needed_for

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
        """The entry as BibTeX. The writer of pybtex is not used: it encodes LaTeX again (``\\&`` becomes ``\\\\&``)."""
        lines = [f"  {name} = {{{value}}}," for name, value in self.fields.items()]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])

    def plain(self) -> str:
        """The entry as a line of a list of references."""
        with needed_for("a list of references"):
            from pylatexenc.latex2text import LatexNodes2Text

        fields = {name: LatexNodes2Text().latex_to_text(value) for name, value in self.fields.items()}
        where = next((fields[name] for name in ("journal", "booktitle", "school", "publisher") if name in fields), "")
        volume = fields.get("volume", "") + (f"({fields['number']})" if "number" in fields else "")
        pages = fields.get("pages", "").replace("--", "–")
        rest = ", ".join(filter(None, (" ".join(filter(None, (where, volume))), pages, fields.get("year", ""))))
        address = f"https://doi.org/{fields['doi']}" if "doi" in fields else fields.get("howpublished", "")
        parts = (self.authors, fields.get("title", ""), rest, fields.get("note", ""), address)
        return ". ".join(part.rstrip(".") for part in parts if part) + "."

    @property
    def authors(self) -> str:
        """The authors as plain text: ``Harald Steck and Yehuda Koren``."""
        with needed_for("a list of authors"):
            from pybtex.bibtex.utils import split_name_list
            from pybtex.database import Person
            from pylatexenc.latex2text import LatexNodes2Text

        people = [Person(name) for name in split_name_list(self.fields.get("author", ""))]
        parts = [
            (person.first_names + person.middle_names, person.prelast_names + person.last_names + person.lineage_names)
            for person in people
        ]
        plain = LatexNodes2Text().latex_to_text
        names = [" ".join(filter(None, (str(plain(" ".join(part))) for part in each))) for each in parts]
        return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


@dataclass(frozen=True)
class Citation:
    """The key of a cited entry, and the cited part of it."""

    key: str
    where: str = ""


@cache
def entries() -> Mapping[str, Entry]:
    """All entries, by key."""
    with needed_for("a bibliography"):
        from pybtex.database import parse_string

    text = (files("repro.exports") / "references.bib").read_text(encoding="utf-8")
    parsed = parse_string(text, "bibtex").entries
    return {
        key: Entry(entry.type, key, {"author": " and ".join(map(str, entry.persons["author"])), **entry.fields})
        for key, entry in parsed.items()
    }


def citations(cite: str) -> list[Citation]:
    """The known entries that a text such as ``Fisher 1935; Bellogín 2012, table 4.2`` cites."""
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
