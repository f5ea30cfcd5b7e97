"""Sections of a report and their figures: each chart is included twice, as an image and as data.

The image is for print and for readers without scripts. The script of the page draws the chart again from the data, as
wide as the screen, with tooltips. Text and lines have the colours of the page, light or dark: the style sheet replaces
the two colours that :mod:`repro.reports.charts` draws with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from repro.reports.charts import SCREEN_COLOURS
from repro.reports.html import Figure, drawn_figure

if TYPE_CHECKING:
    import altair as alt

WIDE, NARROW = 720, 460
_LABELS = 220  # most pixels of the names of algorithms


@dataclass(frozen=True)
class Section:
    """A section: its anchor, its title, and its blocks (:mod:`repro.reports.html`)."""

    name: str
    title: str
    blocks: Sequence[object]


def figure(caption: str, sentence: str, chart: alt.TopLevelMixin, width: int = WIDE) -> Figure:
    """A chart of one view, with a caption and a sentence about its main result."""
    fitted = chart.properties(width=width, autosize={"type": "fit-x", "contains": "padding"}, background="transparent")
    fitted = fitted.configure(aria=False).configure_axis(labelLimit=_LABELS, labelSeparation=6)
    fitted = fitted.configure_legend(labelLimit=0).configure_mark(color=SCREEN_COLOURS[0])
    return drawn_figure(caption, sentence, fitted, interactive=True)
