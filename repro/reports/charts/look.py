"""The common look of all charts.

Colours are those of Okabe and Ito (Color universal design, 2008), without the yellow that vanishes on paper: they are
distinct in print and for people with colour blindness. The same chart gives the same bytes every time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from repro.reports.charts.renderer import refuse_without_library

if TYPE_CHECKING:
    import altair as alt

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#7F7F7F")
# On pages that may be dark, where black vanishes; shapes help people with colour blindness.
SCREEN_COLOURS = (*tuple(colour for colour in COLOURS if colour != "#000000"), "#A65628")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 1], [1, 3], [10, 2], [3, 1, 1, 1])

LONGEST_NAME = 34  # characters of the name of an algorithm in a chart

Style = TypeVar("Style")

_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
_INK, _LINE = "#222222", "#D9D9D9"
_LOOK: dict[str, Any] = {
    "background": "white",
    "font": _FONT,
    "view": {"continuousWidth": 420, "continuousHeight": 320, "stroke": None},
    "axis": {
        "labelColor": _INK,
        "titleColor": _INK,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "gridColor": _LINE,
        "domainColor": _INK,
        "tickColor": _INK,
    },
    "legend": {"labelColor": _INK, "titleColor": _INK, "labelFontSize": 11, "titleFontSize": 12, "labelLimit": 0},
    "title": {"anchor": "start", "color": _INK, "fontSize": 14, "fontWeight": "bold", "offset": 12},
    "header": {"labelColor": _INK, "titleColor": _INK, "labelFontSize": 12},
    "line": {"color": COLOURS[0], "strokeWidth": 2},
    "point": {"color": COLOURS[0], "filled": True, "size": 50},
    "bar": {"color": COLOURS[0]},
    "rect": {"color": COLOURS[0]},
    "range": {
        "category": list(COLOURS),
        "ordinal": {"scheme": "cividis"},
        "ramp": {"scheme": "cividis"},
        "heatmap": {"scheme": "cividis"},
        "diverging": {"scheme": "blueorange"},
    },
}


def cycle_to(styles: Sequence[Style], length: int) -> list[Style]:
    """``length`` styles, from the beginning again after the last."""
    return [styles[index % len(styles)] for index in range(length)]


def short_names(names: Iterable[str], most: int = LONGEST_NAME) -> dict[str, str]:
    """Names of at most ``most`` characters, all different: the middle of longer ones is left out."""
    short: dict[str, str] = {}
    for name in dict.fromkeys(names):
        text, number = name if len(name) <= most else _cut(name, most, ""), 1
        while text in short.values():
            number += 1
            text = _cut(name, most, f" ({number})")
        short[name] = text
    return short


def _cut(name: str, most: int, end: str) -> str:
    """The start and the end of a name, and ``end``."""
    kept = most - len(end) - 1
    return f"{name[: kept - kept // 2]}…{name[len(name) - kept // 2 :]}{end}"


def specification(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """The chart in Vega-Lite, with the common look as far as the chart does not set its own."""
    from repro.reports.charts.library import alt

    refuse_without_library()
    with alt.theme.enable("none"), alt.data_transformers.enable("default", max_rows=None):
        content: dict[str, Any] = chart.to_dict()
    data = content.pop("datasets", {})
    vega_lite: dict[str, Any] = json.loads(_numbered_from_one(json.dumps(content)))
    vega_lite["config"] = _merged(_LOOK, vega_lite.get("config", {}))
    return vega_lite | ({"datasets": data} if data else {})


def _numbered_from_one(text: str) -> str:
    """Altair numbers views and parameters through all charts of a process; here, through those of one chart."""
    numbers: dict[str, dict[str, int]] = {}

    def renamed(name: re.Match[str]) -> str:
        kind, number = name.groups()
        of_kind = numbers.setdefault(kind, {})
        return f"{kind}_{of_kind.setdefault(number, len(of_kind) + 1)}"

    return re.sub(r"\b(view|param)_(\d+)\b", renamed, text)


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Settings, where those ``above`` override those ``below``."""
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(below.get(key), dict)
        merged[key] = _merged(below[key], value) if both else value
    return merged
