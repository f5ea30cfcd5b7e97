"""The methods section of a run as Markdown and as LaTeX, with its references and the checklist."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repro.data import Dataset
from repro.export.bibliography import Citation, Entry, citations, entries
from repro.export.checklist import checklist_markdown
from repro.export.latex_text import latex_text
from repro.export.methods_text import Section, sections
from repro.export.source import read_run
from repro.protocol.sentences import Sentence

_CITED = re.compile(r" ?⟦(.*?)⟧")
_OF_DATA = "data:"


def write_methods(folder: Path, target: Path, **settings: Any) -> None:
    """``methods.md``, ``methods.tex``, ``references.bib`` and ``checklist.md``."""
    run = read_run(folder)
    text = sections(run, **settings)
    references = References(run.dataset)
    markdown = _markdown(text, references)
    latex = _latex(text, references)
    target.mkdir()
    written = {
        "methods.md": markdown,
        "methods.tex": latex,
        "references.bib": "\n\n".join(entry.bibtex() for entry in references.entries) + "\n",
        "checklist.md": checklist_markdown(run),
    }
    for name, content in written.items():
        (target / name).write_text(content, encoding="utf-8")


@dataclass(frozen=True, eq=False)
class References:
    """What a text cites, numbered in the order in which it is first cited."""

    dataset: Dataset | None
    found: dict[str, Entry] = field(default_factory=dict)

    @property
    def entries(self) -> list[Entry]:
        return list(self.found.values())

    def cited(self, cites: Iterable[str]) -> tuple[list[Citation], list[str]]:
        """The citations of several texts, each once, and those texts that name nothing known."""
        known: dict[Citation, None] = {}
        unknown = []
        for cite in cites:
            got = [self._data()] if cite.startswith(_OF_DATA) else citations(cite)
            known |= dict.fromkeys(got)
            unknown += [] if got else [cite]
        for citation in known:
            self.found.setdefault(citation.key, entries().get(citation.key) or _data_entry(self.dataset))
        return list(known), unknown

    def number(self, citation: Citation) -> int:
        return list(self.found).index(citation.key) + 1

    def _data(self) -> Citation:
        assert self.dataset is not None
        return Citation(f"data-{self.dataset.name}")


def _data_entry(dataset: Dataset | None) -> Entry:
    """A data set as it wants to be cited."""
    assert dataset is not None
    fields = {
        "title": f"{{{latex_text(dataset.title)}}}",
        "note": latex_text(dataset.citation),
        "howpublished": dataset.home,
    }
    return Entry("misc", f"data-{dataset.name}", fields)


def _woven(sentence: Sentence, put: Callable[[Sequence[str]], str], escape: Callable[[str], str]) -> str:
    """The sentence with what it cites in place, and what its decisions cite before its full stop."""
    parts = _CITED.split(sentence.text)
    text = "".join(put([part]) if place % 2 else escape(part) for place, part in enumerate(parts))
    return f"{text.removesuffix('.')}{put(sentence.cites)}." if sentence.cites else text


def _markdown(text: Sequence[Section], references: References) -> str:
    def put(cites: Sequence[str]) -> str:
        known, unknown = references.cited(cites)
        marks = [", ".join(filter(None, (str(references.number(one)), one.where))) for one in known]
        return (f" [{'; '.join(marks)}]" if marks else "") + "".join(f" ({cite})" for cite in unknown)

    paragraphs = [
        f"**{section.title}.** " + " ".join(_woven(sentence, put, _markdown_text) for sentence in section.sentences)
        for section in text
    ]
    listed = [f"{number}. {_markdown_text(entry.plain())}" for number, entry in enumerate(references.entries, 1)]
    return "\n\n".join(["# Methods", *paragraphs, "## References", "\n".join(listed) or "None."]) + "\n"


def _markdown_text(text: str) -> str:
    """Text in which nothing is markup."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", " ".join(text.split(" ")))


def _latex(text: Sequence[Section], references: References) -> str:
    def put(cites: Sequence[str]) -> str:
        known, unknown = references.cited(cites)
        plain = ",".join(one.key for one in known if not one.where)
        marks = [f"\\cite{{{plain}}}"] if plain else []
        marks += [f"\\cite[{latex_text(one.where)}]{{{one.key}}}" for one in known if one.where]
        return "".join(f"~{mark}" for mark in marks) + "".join(f" ({latex_text(cite)})" for cite in unknown)

    paragraphs = [
        f"\\paragraph{{{latex_text(section.title)}.}}\n"
        + "\n".join(_woven(sentence, put, _with_blanks) for sentence in section.sentences)
        for section in text
    ]
    head = "% Read it with \\input{methods}; references.bib has what it cites."
    return "\n\n".join([head, *paragraphs]) + "\n"


def _with_blanks(text: str) -> str:
    """LaTeX, in which blanks at either end are kept."""
    return (" " if text[:1] == " " else "") + latex_text(text) + (" " if text[1:].endswith(" ") else "")
