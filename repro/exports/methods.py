"""The methods section of a run as Markdown and as LaTeX, with its references and the checklist."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repro.data import Dataset
from repro.exports.bibliography import Citation, Entry, citations, entries
from repro.exports.checklist import checklist_markdown
from repro.exports.latex_text import latex_text
from repro.exports.methods_text import Section, sections
from repro.protocol.sentences import Sentence
from repro.runs.run import Run

_CITED = re.compile(r" ?⟦(.*?)⟧")
_OF_DATA = "data:"


def write_methods(run: Run, target: Path, **settings: Any) -> None:
    """``methods.md``, ``methods.tex``, ``references.bib`` and ``checklist.md``."""
    text = sections(run, **settings)
    references = References(run.dataset)
    markdown = _markdown(text, references)
    latex = _latex(text, references)
    target.mkdir()
    written = {
        "methods.md": markdown,
        "methods.tex": latex,
        "references.bib": "\n\n".join(entry.bibtex() for entry in references.entries.values()) + "\n",
        "checklist.md": checklist_markdown(run),
    }
    for name, content in written.items():
        (target / name).write_text(content, encoding="utf-8")


@dataclass(frozen=True, eq=False)
class References:
    """The entries that a text cites, numbered in the order of their first citation."""

    dataset: Dataset | None
    entries: dict[str, Entry] = field(default_factory=dict)

    def cited(self, cites: Iterable[str]) -> tuple[list[Citation], list[str]]:
        """The citations of several texts, each once, and the texts without a known entry."""
        known: dict[Citation, Entry] = {}
        unknown = []
        for cite in cites:
            if cite.startswith(_OF_DATA):
                entry = _data_entry(self.dataset)
                matches = {Citation(entry.key): entry}
            else:
                matches = {citation: entries()[citation.key] for citation in citations(cite)}
            known |= matches
            unknown += [] if matches else [cite]
        for citation, entry in known.items():
            self.entries.setdefault(citation.key, entry)
        return list(known), unknown

    def number(self, citation: Citation) -> int:
        return list(self.entries).index(citation.key) + 1


def _data_entry(dataset: Dataset | None) -> Entry:
    """The citation that a data set asks for."""
    assert dataset is not None
    fields = {
        "title": f"{{{latex_text(dataset.title)}}}",
        "note": latex_text(dataset.citation),
        "howpublished": dataset.home,
    }
    return Entry("misc", f"data-{dataset.name}", fields)


def _woven(sentence: Sentence, put: Callable[[Sequence[str]], str], escape: Callable[[str], str]) -> str:
    """The sentence with its own citations in place, and those of its decisions before the full stop."""
    parts = _CITED.split(sentence.text)
    text = "".join(put([part]) if place % 2 else escape(part) for place, part in enumerate(parts))
    return f"{text.removesuffix('.')}{put(sentence.cites)}." if sentence.cites else text


def _markdown(text: Sequence[Section], references: References) -> str:
    def put(cites: Sequence[str]) -> str:
        known, unknown = references.cited(cites)
        marks = [", ".join(filter(None, (str(references.number(each)), each.where))) for each in known]
        return (f" [{'; '.join(marks)}]" if marks else "") + "".join(f" ({cite})" for cite in unknown)

    paragraphs = [
        f"**{section.title}.** " + " ".join(_woven(sentence, put, _markdown_text) for sentence in section.sentences)
        for section in text
    ]
    listed = [
        f"{number}. {_markdown_text(entry.plain())}" for number, entry in enumerate(references.entries.values(), 1)
    ]
    return "\n\n".join(["# Methods", *paragraphs, "## References", "\n".join(listed) or "None."]) + "\n"


def _markdown_text(text: str) -> str:
    """Text with markup characters escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", " ".join(text.split(" ")))


def _latex(text: Sequence[Section], references: References) -> str:
    def put(cites: Sequence[str]) -> str:
        known, unknown = references.cited(cites)
        keys = ",".join(citation.key for citation in known if not citation.where)
        marks = [f"\\cite{{{keys}}}"] if keys else []
        marks += [f"\\cite[{latex_text(each.where)}]{{{each.key}}}" for each in known if each.where]
        return "".join(f"~{mark}" for mark in marks) + "".join(f" ({latex_text(cite)})" for cite in unknown)

    paragraphs = [
        f"\\paragraph{{{latex_text(section.title)}.}}\n"
        + "\n".join(_woven(sentence, put, _with_blanks) for sentence in section.sentences)
        for section in text
    ]
    head = "% Read it with \\input{methods}; references.bib has what it cites."
    return "\n\n".join([head, *paragraphs]) + "\n"


def _with_blanks(text: str) -> str:
    """LaTeX that keeps blanks at either end."""
    return (" " if text[:1] == " " else "") + latex_text(text) + (" " if text[1:].endswith(" ") else "")
