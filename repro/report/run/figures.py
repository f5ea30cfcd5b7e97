"""Sections and figures of a report: a chart is there twice, drawn, for print and without scripts, and as data.

The script of the page draws it again from the data, as wide as the screen is, with tooltips. Colours of text and lines
are those of the page, light or dark: the style sheet replaces the two that :mod:`repro.report.charts` draws with.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from repro.report.charts import placed_svg, specification

if TYPE_CHECKING:
    import altair as alt

WIDE, NARROW = 720, 460
_LABELS = 220  # pixels that names of algorithms may take


def section(name: str, title: str, body: Iterable[str]) -> str:
    """A part of the page with its heading; ``body`` is HTML."""
    inside = "\n".join(body)
    return f'<section id="{name}"><h2>{title}</h2>\n{inside}\n</section>'


def wide(html: str, label: str) -> str:
    """A box that scrolls by itself where ``html`` is wider than the screen; by keyboard too."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{escape(label)}">{html}</div>'


def figure(caption: str, sentence: str, chart: alt.TopLevelMixin, width: int = WIDE) -> str:
    """A chart of one view, with what it shows and what to see in it; both are text."""
    own = chart.properties(width=width, autosize={"type": "fit-x", "contains": "padding"}, background="transparent")
    own = own.configure(aria=False).configure_axis(labelLimit=_LABELS, labelSeparation=6).configure_legend(labelLimit=0)
    stated, said = specification(own), f"{caption}. {sentence}"
    still = placed_svg(stated).replace("<svg ", '<svg aria-hidden="true" ', 1)  # one image, not a hundred marks
    return (
        f"<figure><figcaption>{escape(caption)}</figcaption><p>{escape(sentence)}</p>"
        f'<div class="chart" role="img" aria-label="{escape(said)}"><div class="still">{still}</div></div>'
        f'<script type="application/json">{inert_json(stated)}</script></figure>'
    )


def inert_json(value: Any) -> str:
    """JSON that can stand in a page: nothing in it ends the element that it is in, or begins a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
