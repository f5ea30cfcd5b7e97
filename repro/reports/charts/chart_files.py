"""Charts as files and as SVG elements of pages."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.errors import ReproError, nearest
from repro.reports.charts.look import specification
from repro.reports.charts.renderer import renderer

if TYPE_CHECKING:
    import altair as alt

FORMATS = (".svg", ".png", ".html", ".json")
_PNG_SCALE = 2.0


def save_chart(chart: alt.TopLevelMixin, path: str | Path) -> Path:
    """Write a chart in the format of its suffix: .svg, .png, .html (self-contained) or .json (Vega-Lite)."""
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
    """Raise an error if :func:`save_chart` cannot write such a file; called before a long computation."""
    kind = Path(path).suffix.lower()
    if kind not in FORMATS:
        ending = f"'{kind}'" if kind else "nothing"
        raise ReproError(
            f"a chart cannot be written to {path}: its name ends in {ending}{nearest(kind, FORMATS)} "
            f"Give a name that ends in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
        )


def chart_svg(chart: alt.TopLevelMixin) -> str:
    """A chart as an SVG element of a page; several charts on one page do not interfere with each other."""
    return vega_lite_svg(specification(chart))


def vega_lite_svg(vega_lite: dict[str, Any]) -> str:
    """:func:`chart_svg` of a chart in Vega-Lite."""
    svg = renderer.call("vegalite_to_svg", vega_lite).decode()
    # Vega numbers clip paths through all charts of a process: here they are named by the content of the chart.
    names = list(dict.fromkeys(re.findall(r'\bid="([^"]+)"', svg)))
    for number, name in enumerate(names):
        svg = svg.replace(f'id="{name}"', f'id="\0{number}\0"').replace(f"url(#{name})", f"url(#\0{number}\0)")
    prefix = "c" + hashlib.sha256(svg.encode()).hexdigest()[:12]
    return re.sub("\0(\\d+)\0", rf"{prefix}-\1", svg)
