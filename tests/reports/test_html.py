"""Pages escape every text: whatever a file of strangers says, it is never markup."""

import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup

import repro.reports
from repro.reports import html

TEMPLATES = Path(repro.reports.__file__).parent / "templates"
EVIL = "<evil onload='1'>\"'><evil>&amp;</title></style></script><!--"
SVG = Markup("<svg></svg>")


class Elements(HTMLParser):
    """The elements of a page, their attributes, and its visible text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data)


def blocks(text):
    """One block of each kind with ``text`` in all its places."""
    table = html.Table([text, html.Cell(text, title=text)], [[text, html.Cell(text, text, text, text)]], [text], text)
    figure = html.Figure(text, text, SVG)
    return [
        text,
        html.Heading(text, anchor=text),
        html.Paragraph(text, css=text),
        html.Paragraph(text, strong=True),
        html.Items([text], css=text, title=text),
        dataclasses.replace(table, label=text, css=text, anchor=text, row_css={0: text}),
        html.Details(text, [text], css=text),
        html.Grid([text]),
        figure,
        dataclasses.replace(figure, problem=text),
        dataclasses.replace(figure, vega_lite={text: text}),
        html.Paragraph(html.link(f"#{text}", text)),
    ]


def kinds():
    result = [item for item in vars(html).values() if isinstance(item, type) and hasattr(item, "kind")]
    assert len(result) == 7
    return result


def test_each_kind_of_block_is_tried_below():
    assert {type(block) for block in blocks("text")} >= set(kinds())


@pytest.mark.parametrize("block", blocks(EVIL), ids=lambda block: type(block).__name__)
def test_a_block_with_hostile_text_has_the_elements_of_one_with_plain_text(block):
    plain = next(plain for plain, evil in zip(blocks("text"), blocks(EVIL), strict=True) if evil == block)
    expected, page = Elements(html.page("text", [plain])), Elements(html.page(EVIL, [block]))
    assert page.tags == expected.tags
    assert [name for name, _ in page.attributes] == [name for name, _ in expected.attributes]


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_any_text_is_read_back_as_it_was(text):
    page = Elements(html.page(text, [text, html.Table([], [[html.Cell("", title=text)]])]))
    assert ("title", text) in page.attributes
    assert page.texts.count(text) >= 2 or text in "".join(page.texts)
    assert set(page.tags) <= {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "p",
        "div",
        "table",
        "tbody",
        "tr",
        "td",
    }


def test_no_template_turns_escaping_off():
    templates = sorted(TEMPLATES.glob("*.j2"))
    assert len(templates) > 5
    for template in templates:
        source = template.read_text(encoding="utf-8")
        assert not re.search(r"\bsafe\b|autoescape", source.partition("#}")[2] or source), template.name
    assert html.environment().autoescape is True


def test_modules_of_the_reports_escape_nothing_by_hand():
    for module in TEMPLATES.parent.rglob("*.py"):
        assert "html import escape" not in module.read_text(encoding="utf-8"), module
