"""Tables of LaTeX sources, parsed by pylatexenc: spans, nested tables, macros, mathematics and marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from repro.extras import needed_for
from repro.replications.drafts.macros import Macro, braced, defined_macros, expanded
from repro.replications.drafts.raw import RawTable

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_TABULAR = r"(?:tabular[xy*]?|longtable\*?|supertabular\*?|tabu|longtabu|NiceTabular[*X]?|tblr|array)"
_BEGIN_END = re.compile(rf"\\(begin|end)\{{({_TABULAR})\}}")
_FLOAT = re.compile(r"\\(begin|end)\{((?:side(?:ways)?)?(?:wrap)?table\*?|figure\*?)\}")
_RULES = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hhline|hline|Xhline|hdashline|firsthline|lasthline|endhead|endfirsthead|endfoot|endlastfoot"
    r"|centering|small|footnotesize|scriptsize|tiny|noalign|cmidrule|cdashline|cline|addlinespace|specialrule|morecmidrules)"
    r"(?![A-Za-z])\s*(?:\([^)]*\)|\[[^\]]*\]|\{[^{}]*\})*"
)
# Arguments of macros as pylatexenc writes them; of the first only the last argument is text, of the others nothing.
_LAST_IS_TEXT = {
    **dict.fromkeys(("textcolor", "colorbox", "rotatebox", "href", "adjustbox"), "[{{"),
    **dict.fromkeys(("scalebox", "reflectbox"), "{[{"),
    **dict.fromkeys(("resizebox", "resizebox*", "fcolorbox"), "{{{"),
    **dict.fromkeys(("makecell", "thead", "shortstack", "rothead"), "*[{"),
    "multicolumn": "{{{",
    "multirow": "[{[{[{",
    "raisebox": "{[[{",
    "parbox": "[[[{{",
    "rot": "{",
    "turnbox": "{{",
}
_DROPPED = {
    **dict.fromkeys(("cite", "citep", "citet", "citealp", "citeauthor", "citeyear", "autocite", "textcite"), "*[[{"),
    **dict.fromkeys(("footnote", "footnotetext", "rowcolor", "cellcolor", "color", "arrayrulecolor"), "[{"),
    **dict.fromkeys(("label", "tnote", "textsuperscript", "phantom", "hphantom", "vphantom", "tablefootnote"), "{"),
    **dict.fromkeys(("vspace", "hspace"), "*{"),
    "footnotemark": "[",
    "rule": "[{{",
    "includegraphics": "*[[{",
    "setlength": "{{",
    "ref": "{",
    "Cref": "{",
}
_SIGNS = {
    "pm": "±",
    "times": "×",
    "cdot": "·",
    "uparrow": "↑",
    "downarrow": "↓",
    "checkmark": "✓",
    "dots": "…",
    "ldots": "…",
    "dagger": "†",
    "ddagger": "‡",
    "textdagger": "†",
    "textdaggerdbl": "‡",
    "ast": "*",
    "star": "*",
    "bullet": "*",
    "textasteriskcentered": "*",
    "triangle": "*",
    "diamond": "*",
    "circ": "*",
    "textpm": "±",
    "textbar": "|",
    **dict.fromkeys(("quad", "qquad", ";", ":", " ", "enspace", "thinspace", "\n"), " "),
    **dict.fromkeys(("!", ",", "left", "right", "displaystyle", "/"), ""),
}


def latex_tables(text: str, place: str, macros: Mapping[str, Macro] | None = None) -> Iterator[RawTable]:
    """The outermost tables of a source, in order; ``macros`` are those that other files of the paper define."""
    text = "\n".join(_COMMENT.sub(r"\1", line) for line in text.splitlines())
    macros = {**(macros or {}), **defined_macros(text)}
    found = list(_outermost(text))
    for start, end, name in [table for table in found if table[2] != "array"] or found:
        content = _without_arguments(text[start:end], name)
        rows = _rows(expanded(content, macros))
        if rows:
            line = text.count("\n", 0, start) + 1
            yield RawTable(rows, _caption(text, start, macros), f"{place}:{line}")


def lines_of_table(text: str, place: str) -> RawTable:
    """Rows of a table without its environment."""
    text = "\n".join(_COMMENT.sub(r"\1", line) for line in text.splitlines())
    return RawTable(_rows(expanded(text, defined_macros(text))), "", place)


def _outermost(text: str) -> Iterator[tuple[int, int, str]]:
    """The beginning and end of the content of each tabular that is in no other one, and the name of its environment."""
    depth, start, name = 0, 0, ""
    for match in _BEGIN_END.finditer(text):
        if match[1] == "begin":
            if not depth:
                start, name = match.end(), match[2]
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield start, match.start(), name


def _without_arguments(content: str, name: str) -> str:
    """The rows of a tabular, without the arguments before them: {lrr}, or {\\textwidth}{lrr}, or [t]{lrr}."""
    rest = content.lstrip()
    required = 2 if name in ("tabular*", "tabularx", "tabulary", "NiceTabular*", "NiceTabularX") else 1
    while rest[:1] in ("[", "{") and required:
        if rest[0] == "[":
            rest = rest[rest.find("]") + 1 :].lstrip()
            continue
        _, end = braced(rest, 0)
        rest, required = rest[end:].lstrip(), required - 1
    return rest


def _caption(text: str, start: int, macros: Mapping[str, Macro]) -> str:
    """The caption of the float around a position; empty if it has none."""
    opened = list(_FLOAT.finditer(text, 0, start))
    begin = opened[-1].start() if opened and opened[-1][1] == "begin" else -1
    if begin < 0:
        return ""
    end = next((match.start() for match in _FLOAT.finditer(text, start) if match[1] == "end"), len(text))
    for match in re.finditer(r"\\caption(?:of\{\w+\})?\*?\s*(?:\[[^\]]*\])?\s*(?=\{)", text[begin:end]):
        caption, _ = braced(text, begin + match.end())
        return _text(_nodes(expanded(caption, macros)))
    return ""


def _rows(content: str) -> list[list[str]]:
    """The cells of each row as plain text, cells over several columns or rows repeated in each of them."""
    rows: list[list[str]] = []
    down: dict[int, tuple[int, str]] = {}  # by column: how many more rows a cell spans, and its text
    for row in _split(_nodes(_RULES.sub(" ", content))):
        cells: list[str] = []
        for nodes in row:
            text, wide, high = _cell(nodes)
            for _ in range(wide):
                remaining, above = down.get(len(cells), (0, ""))
                if remaining and not text:
                    down[len(cells)] = (remaining - 1, above)
                    cells.append(above)
                    continue
                down[len(cells)] = (high - 1, text)
                cells.append(text)
        if any(_cell(nodes)[0] for nodes in row):
            rows.append(cells)
    return rows


def _split(nodes: Sequence[Any]) -> Iterator[list[list[Any]]]:
    """The cells of each row, as lists of nodes."""
    row: list[list[Any]] = [[]]
    for node in nodes:
        macro = getattr(node, "macroname", None)
        if getattr(node, "specials_chars", "") == "&":
            row.append([])
        elif macro in ("\\", "tabularnewline", "cr"):
            yield row
            row = [[]]
        else:
            row[-1].append(node)
    yield row


def _cell(nodes: Sequence[Any]) -> tuple[str, int, int]:
    """The text of a cell, and how many columns and rows it spans."""
    spans = [node for node in nodes if getattr(node, "macroname", "") in ("multicolumn", "multirow")]
    if len(spans) == 1 and not _text([node for node in nodes if node is not spans[0]]):
        arguments = spans[0].nodeargd.argnlist
        inside, wide, high = _cell(_inner(arguments[-1]))
        count = re.search(r"\d+", _text([next(a for a in arguments if a is not None and _is_group(a))]))
        number = int(count[0]) if count else 1
        number = min(max(number, 1), 100)
        return (inside, number, high) if spans[0].macroname == "multicolumn" else (inside, wide, number)
    return _text(nodes), 1, 1


def _is_group(node: Any) -> bool:
    return (type(node).__name__ == "LatexGroupNode" and node.delimiters[0] == "{") or type(
        node
    ).__name__ == "LatexCharsNode"


def _inner(node: Any) -> Sequence[Any]:
    return node.nodelist if type(node).__name__ == "LatexGroupNode" else [node]


def _text(nodes: Sequence[Any]) -> str:
    """The plain text of nodes."""
    text = "".join(map(_node_text, nodes))
    text = re.sub(r"\s*×\s*10\^?(-?\d+)", r"e\1", text).replace("_±", "±").replace("^±", "±")
    return re.sub(r"\s+", " ", re.sub(r"(?<=[\d%])\s*±\s*(?=[\d.])", " ± ", text)).strip()


def _node_text(node: Any) -> str:
    match type(node).__name__:
        case "LatexCharsNode":
            return str(node.chars)
        case "LatexGroupNode" | "LatexMathNode":
            return "".join(map(_node_text, node.nodelist))
        case "LatexSpecialsNode":
            return {"~": " ", "&": " ", "--": "–", "---": "—"}.get(node.specials_chars, node.specials_chars)
        case "LatexEnvironmentNode":
            return " ".join(filter(None, (_text(cell) for row in _split(node.nodelist) for cell in row)))
        case "LatexMacroNode":
            return _macro_text(node)
    return ""


def _macro_text(node: Any) -> str:
    name = node.macroname
    if name in _SIGNS:
        return _SIGNS[name]
    if name in _DROPPED:
        return ""
    arguments = [argument for argument in (node.nodeargd.argnlist if node.nodeargd else ()) if argument is not None]
    if name in _LAST_IS_TEXT:
        return _node_text(arguments[-1]) if arguments else ""
    if name in ("\\", "newline", "linebreak"):
        return " "
    if arguments:
        groups = [argument for argument in arguments if _is_group(argument)]
        known = _converter().node_to_text(node)
        return known if _is_accent(name) else "".join(map(_node_text, groups))
    return str(_converter().node_to_text(node))


def _is_accent(name: str) -> bool:
    return name in tuple("'`^\"~=.uvHcdbrkt")


@cache
def _converter() -> Any:
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text(strict_latex_spaces=False, keep_comments=False)


@cache
def _context() -> Any:
    from pylatexenc.latexwalker import get_default_latex_context_db
    from pylatexenc.macrospec import MacroSpec

    context = get_default_latex_context_db()
    known = {**_LAST_IS_TEXT, **_DROPPED}
    context.add_context_category("tables", prepend=True, macros=[MacroSpec(*macro) for macro in known.items()])
    return context


def _nodes(text: str) -> Sequence[Any]:
    with needed_for("A table in LaTeX"):
        from pylatexenc.latexwalker import LatexWalker
    nodes: Sequence[Any] = LatexWalker(text, latex_context=_context(), tolerant_parsing=True).get_latex_nodes()[0]
    return nodes
