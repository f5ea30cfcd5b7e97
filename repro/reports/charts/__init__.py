"""Charts: their look, how they are drawn and written, and those that several reports share."""

from repro.reports.charts.chart_files import FORMATS, chart_svg, refuse_other_formats, save_chart, vega_lite_svg
from repro.reports.charts.look import COLOURS, DASHES, SCREEN_COLOURS, SHAPES, cycle_to, short_names, specification

__all__ = [
    "COLOURS",
    "DASHES",
    "FORMATS",
    "SCREEN_COLOURS",
    "SHAPES",
    "chart_svg",
    "cycle_to",
    "refuse_other_formats",
    "save_chart",
    "short_names",
    "specification",
    "vega_lite_svg",
]
