"""HTML pages made with Jinja2: plain data here, markup in the templates, all text escaped by autoescape.

This is a security boundary: names of algorithms, ids and messages come from untrusted files. Only ``Markup`` is not
escaped: SVG elements from vl-convert, and rendered templates.

A page is a list of blocks. A string is a paragraph; the classes below are the other kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from markupsafe import Markup

from repro.reports.charts import specification, vega_lite_svg
from repro.reports.charts.renderer import DrawingError

if TYPE_CHECKING:
    import altair as alt
    from jinja2 import Environment


@dataclass(frozen=True)
class Heading:
    """A heading; links refer to its ``anchor``."""

    kind: ClassVar = "heading"
    text: str
    level: int = 2
    anchor: str = ""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph with a class of the style sheet, or in bold."""

    kind: ClassVar = "paragraph"
    text: str
    css: str = ""
    strong: bool = False


@dataclass(frozen=True)
class Items:
    """A list with bullet points; one with a ``title`` is in a box."""

    kind: ClassVar = "items"
    items: Sequence[str]
    css: str = ""
    title: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell with classes, a tooltip, or a value that its column is sorted by."""

    content: object
    css: str = ""
    title: str = ""
    value: str = ""
    is_header: bool = False


@dataclass(frozen=True)
class Table:
    """A table that scrolls sideways if it is too wide; a cell is text, a number or a :class:`Cell`.

    numeric    names of the columns that are aligned to the right
    label      the name of the scrolling box for screen readers; with a label, the keyboard can reach the box
    row_css    the classes of single rows, by index
    """

    kind: ClassVar = "table"
    header: Sequence[str | Cell]
    rows: Iterable[Iterable[object]]
    numeric: Sequence[str] = ()
    caption: str = ""
    label: str = ""
    css: str = ""
    anchor: str = ""
    row_css: Mapping[int, str] = field(default_factory=dict)

    @property
    def is_number(self) -> list[bool]:
        """Whether each column is aligned to the right."""
        return [(name.content if isinstance(name, Cell) else name) in self.numeric for name in self.header]


@dataclass(frozen=True)
class Details:
    """Blocks folded below a summary."""

    kind: ClassVar = "details"
    summary: str
    blocks: Sequence[Any]
    is_open: bool = False
    css: str = ""


@dataclass(frozen=True)
class Grid:
    """Blocks side by side, if the screen is wide enough."""

    kind: ClassVar = "grid"
    blocks: Sequence[Any]


@dataclass(frozen=True)
class Figure:
    """A chart with a caption and a sentence about its main result.

    svg         the drawn chart, empty if it could not be drawn
    problem     why it could not be drawn
    vega_lite   the chart as data, if a script of the page draws it again
    """

    kind: ClassVar = "figure"
    caption: str
    sentence: str
    svg: Markup
    problem: str = ""
    vega_lite: Mapping[str, Any] | None = None


def figure(caption: str, sentence: str, chart: alt.TopLevelMixin) -> Figure:
    """A figure with an image, or with a sentence if the chart cannot be drawn."""
    return drawn_figure(caption, sentence, chart)


def drawn_figure(caption: str, sentence: str, chart: alt.TopLevelMixin, *, interactive: bool = False) -> Figure:
    """The same; an ``interactive`` figure also has the chart as data, in Vega-Lite."""
    data = None
    try:
        vega_lite = specification(chart)
        data = vega_lite if interactive else None
        svg = vega_lite_svg(vega_lite)
    except DrawingError as error:
        return Figure(caption, sentence, Markup(), str(error), data)
    if interactive:  # for screen readers the box, which has a name, is one image
        svg = svg.replace("<svg ", '<svg aria-hidden="true" ', 1)
    return Figure(caption, sentence, Markup(svg), vega_lite=data)


@cache
def environment() -> Environment:
    """The templates of this package, all with autoescape; an unknown name in a template is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("repro.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":"), "allow_nan": False}
    templates.filters["number"] = number
    return templates


def render(template: str, **content: Any) -> Markup:
    """A template of this package filled with ``content``."""
    return Markup(environment().get_template(template).render(**content))


def page(title: str, blocks: Iterable[object], styles: Sequence[str] = ("reading.css",)) -> str:
    """A self-contained page; ``styles`` are names of style sheets among the templates."""
    return str(render("page.html.j2", title=title, blocks=list(blocks), styles=styles))


def link(address: str, text: str) -> Markup:
    """A link; address and text are escaped."""
    return Markup('<a href="{}">{}</a>').format(address, text)


def number(value: float) -> str:
    """A value of a metric, or a dash if it is not a number."""
    return "–" if value != value else f"{value:.4f}"
