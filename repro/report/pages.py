"""What all pages have in common: one HTML document that needs nothing else, its tables and its figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

# Of pages that are mostly read: text, tables and figures in one column.
READING = """
:root { color-scheme: light dark; --line: #8884; }
body { font: 16px/1.55 system-ui, sans-serif; margin: 2rem auto; max-width: 54rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .5rem 0 1rem; }
th, td { padding: .2rem 1rem .2rem 0; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; } td.best { font-weight: 700; }
th[scope=row] { font-weight: 400; white-space: nowrap; }
figure { margin: 1.5rem 0 2rem; } figcaption { font-weight: 600; }
figure p { margin: .25rem 0 0; }
figure svg { max-width: 100%; height: auto; background: white; border-radius: 4px; margin-top: .5rem; }
caption { text-align: left; font-weight: 600; padding-bottom: .25rem; }
"""


def document(title: str, style: str, body: Iterable[str]) -> str:
    """The page as HTML; ``body`` is HTML already, ``title`` is text."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def table(
    header: Sequence[str], rows: Iterable[Iterable[object]], numeric: Iterable[str] = (), caption: str = ""
) -> str:
    """A table of text; the columns in ``numeric`` are aligned to the right."""
    right = set(numeric)
    kinds = [' class="number"' if name in right else "" for name in header]
    head = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(header, kinds, strict=True))
    lines = (
        "".join(f"<td{kind}>{escape(str(cell))}</td>" for cell, kind in zip(row, kinds, strict=True)) for row in rows
    )
    told = f"<caption><span>{escape(caption)}</span></caption>" if caption else ""
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>{told}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def figure(caption: str, sentence: str, svg: str) -> str:
    """A chart with what it shows and what to see in it."""
    return f"<figure><figcaption>{escape(caption)}</figcaption><p>{escape(sentence)}</p>{svg}</figure>"


def number(value: float) -> str:
    """A value of a metric; a dash where it is none."""
    return "–" if value != value else f"{value:.4f}"
