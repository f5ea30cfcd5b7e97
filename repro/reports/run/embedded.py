"""Content embedded in a page: the chart library and the journal, compressed, and the script of the page."""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import tempfile
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from markupsafe import Markup

from repro.extras import missing
from repro.reports.charts.renderer import DrawingError, renderer
from repro.reports.html import render

NOTICE = (
    "Charts are drawn by Vega, Vega-Lite and Vega-Embed, copyright University of Washington Interactive Data Lab and "
    "contributors; the script inside begins with their licence (BSD 3-Clause)."
)

_NO_CHARTS = "throw new Error('no charts');"


def packed(name: str, content: bytes) -> Markup:
    """An element that holds ``content``, compressed; the same bytes every time."""
    text = base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()
    return render("run_packed.html.j2", name=name, text=text)


@cache
def own(name: str) -> str:
    """A file of this package."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def script_hash(text: str) -> str:
    """The name of a script in a content security policy that allows it to run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy(scripts: list[str]) -> str:
    """Allow no loading and no scripts except these: not even a script that got past the escaping."""
    allowed = " ".join(script_hash(text) for text in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


@cache
def vega() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script.

    Bundling takes seconds, so the result is cached for the user, by the version of vl-convert.
    """
    from platformdirs import user_cache_path

    if missing("report", "a chart"):
        return _NO_CHARTS
    cached = user_cache_path("repro") / "report" / f"vega-{version('vl-convert-python')}.js"
    if cached.is_file():
        return cached.read_text(encoding="utf-8")
    try:
        script = renderer.call("javascript_bundle", "window.vegaEmbed = vegaEmbed;").decode()
    except DrawingError:  # the page still has images of its figures
        return _NO_CHARTS
    bundle = f"/*\n{own('vega-licence.txt')}*/\n(() => {{{script}}})();\n"
    _write_cache(cached, bundle)
    return bundle


def _write_cache(path: Path, text: str) -> None:
    """Write the file completely or not at all; a cache that is not writable is ignored."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        Path(temporary).replace(path)
    except OSError:
        pass
