"""Pages, read back."""

from html.parser import HTMLParser

import pytest


class Elements(HTMLParser):
    """The elements of a page in order, with their attributes and the text right inside."""

    def __init__(self, text):
        super().__init__()
        self.all = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.all.append([tag, dict(attrs), ""])
        self.open = True

    def handle_data(self, data):
        if self.all and self.open:
            self.all[-1][2] += data

    def handle_endtag(self, tag):
        self.open = False

    def named(self, tag):
        return [(attrs, text) for name, attrs, text in self.all if name == tag]


@pytest.fixture(scope="session")
def elements_of():
    """``elements_of(text)``: the elements of a page."""
    return Elements
