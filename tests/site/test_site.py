"""The site builds without a warning, its links lead somewhere, and its pages load nothing from elsewhere."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "embed": "src",
    "object": "data",
    "link": "href",
}


def build(into, *options):
    """Build the site into a folder: the exit status, and what was printed."""
    command = [sys.executable, str(ROOT / "docs" / "generate"), "--into", str(into), *options]
    done = subprocess.run(command, cwd=into.parent, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


class Page(HTMLParser):
    """The ids of a page, the addresses that it links to, and those that it loads."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.add(values["href"])
        address = values.get(LOADED.get(tag, ""))
        if address and (tag != "link" or values.get("rel") not in ("canonical", "search", "next", "prev", "index")):
            self.loaded.add(address)


def broken(folder):
    """The links of all pages of a folder that lead nowhere, and what pages load from outside of it."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    wrong = []
    for path, page in pages.items():
        for address in page.links | page.loaded:
            parts = urlsplit(address)
            if parts.scheme == "data" or (parts.scheme and address in page.links - page.loaded):
                continue
            if parts.scheme or parts.netloc:
                wrong.append(f"{path.relative_to(folder)} loads {address}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                wrong.append(f"{path.relative_to(folder)} links to {address}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                wrong.append(f"{path.relative_to(folder)} links to {address}, which has no such anchor")
    for style in folder.rglob("*.css"):
        for address in re.findall(r"url\(['\"]?([^)'\"]+)|@import ['\"]([^'\"]+)", style.read_text(encoding="utf-8")):
            if re.match(r"(https?:)?//", "".join(address)):
                wrong.append(f"{style.relative_to(folder)} loads {''.join(address)}")
    return sorted(wrong)


def test_every_page_is_read_without_a_warning(tmp_path):
    status, output = build(tmp_path / "site", "--fast")
    assert status == 0, output


@pytest.mark.slow
def test_the_whole_site_builds_with_its_examples_and_all_links_lead_somewhere(tmp_path):
    status, output = build(tmp_path / "site")
    assert status == 0, output
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 200
    assert not broken(tmp_path / "site")
    tutorial = (tmp_path / "site" / "tutorial.html").read_text(encoding="utf-8")
    assert "ranx-evaluate-ndcg@k 0.4193" in tutorial and "lenskit-RunAnalysis-NDCG 0.5" in tutorial


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ('<a href="gone.html">x</a>', "links to gone.html"),
        ('<a href="#gone">x</a>', "no such anchor"),
        ('<script src="https://example.org/x.js"></script>', "loads https://example.org/x.js"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "loads //example.org/x.css"),
    ],
)
def test_a_broken_link_and_a_foreign_file_are_noticed(tmp_path, page, sentence):
    (tmp_path / "index.html").write_text(page)
    [problem] = broken(tmp_path)
    assert sentence in problem


def test_a_good_page_has_no_problem(tmp_path):
    (tmp_path / "index.html").write_text('<h1 id="top">x</h1><a href="#top">x</a><a href="https://example.org">y</a>')
    assert not broken(tmp_path)
