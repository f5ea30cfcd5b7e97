"""Charts: one plain look for all of them, and one way to write them.

Colours are those of Okabe and Ito (Color universal design, 2008), without the yellow that vanishes on paper: they
can be told apart in print and by people who confuse colours. The same chart gives the same bytes every time.
"""

from __future__ import annotations

import hashlib
import json
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.errors import ReproError, nearest
from repro.report.drawing import DrawingError, renderer

if TYPE_CHECKING:
    import altair as alt

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#7F7F7F")
# On pages that may be dark, where black vanishes; and shapes, for who confuses colours.
SCREEN_COLOURS = (*tuple(colour for colour in COLOURS if colour != "#000000"), "#A65628")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 1], [1, 3], [10, 2], [3, 1, 1, 1])
FORMATS = (".svg", ".png", ".html", ".json")

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
_PNG_SCALE = 2.0


def save_chart(chart: alt.TopLevelMixin, path: str | Path) -> Path:
    """Write a chart as its path ends: .svg, .png, .html (one file that needs nothing else) or .json (Vega-Lite)."""
    path = Path(path)
    kind = path.suffix.lower()
    refuse_other_formats(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == ".png":
        path.write_bytes(renderer.call("vegalite_to_png", specification(chart), scale=_PNG_SCALE))
        return path
    if kind == ".svg":
        text = chart_svg(chart)
    elif kind == ".html":
        text = renderer.call("vegalite_to_html", specification(chart), bundle=True).decode()
    else:
        text = json.dumps(specification(chart), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")
    return path


def refuse_other_formats(path: str | Path) -> None:
    """Stop where :func:`save_chart` cannot write such a file; worth asking before the work is done."""
    kind = Path(path).suffix.lower()
    if kind not in FORMATS:
        given = f"'{kind}'" if kind else "nothing"
        raise ReproError(
            f"a chart cannot be written to {path}: its name ends in {given}{nearest(kind, FORMATS)} "
            f"Give a name that ends in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
        )


def placed_svg(stated: dict[str, Any]) -> str:
    """A chart in Vega-Lite as an SVG element, or a sentence on why it is missing, for pages with several figures."""
    try:
        return drawn_svg(stated)
    except DrawingError as error:
        return f'<p class="undrawn">This figure is missing: {escape(str(error))}.</p>'


def chart_svg(chart: alt.TopLevelMixin) -> str:
    """A chart as an SVG element, to be put into a page; several of them on one page keep out of each other's way."""
    return drawn_svg(specification(chart))


def drawn_svg(stated: dict[str, Any]) -> str:
    """:func:`chart_svg` of a chart in Vega-Lite."""
    drawn = renderer.call("vegalite_to_svg", stated).decode()
    # Vega numbers clip paths through all charts of a process: they are named here by what is drawn.
    names = list(dict.fromkeys(re.findall(r'\bid="([^"]+)"', drawn)))
    for at, name in enumerate(names):
        drawn = drawn.replace(f'id="{name}"', f'id="\0{at}\0"').replace(f"url(#{name})", f"url(#\0{at}\0)")
    own = "c" + hashlib.sha256(drawn.encode()).hexdigest()[:12]
    return re.sub("\0(\\d+)\0", rf"{own}-\1", drawn)


def specification(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """The chart in Vega-Lite, with the common look where the chart has none of its own."""
    import altair

    with altair.theme.enable("none"), altair.data_transformers.enable("default", max_rows=None):
        given: dict[str, Any] = chart.to_dict()
    data = given.pop("datasets", {})
    stated: dict[str, Any] = json.loads(_numbered_from_one(json.dumps(given)))
    stated["config"] = _over(_LOOK, stated.get("config", {}))
    return stated | ({"datasets": data} if data else {})


def _numbered_from_one(text: str) -> str:
    """Altair numbers views and parameters through all charts of a process; here, through those of one chart."""
    numbers: dict[str, dict[str, int]] = {}

    def renamed(found: re.Match[str]) -> str:
        kind, number = found.groups()
        seen = numbers.setdefault(kind, {})
        return f"{kind}_{seen.setdefault(number, len(seen) + 1)}"

    return re.sub(r"\b(view|param)_(\d+)\b", renamed, text)


def _over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Settings, where those ``above`` cover those ``below``."""
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(below.get(key), dict)
        merged[key] = _over(below[key], value) if both else value
    return merged
