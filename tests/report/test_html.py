"""The report: one file, complete, and nothing in it runs that came from data."""

import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from repro import Study
from repro.report import write_report

EVIL = "<script>alert(1)</script>"


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    rows = [(f"{EVIL}{user}", f"{EVIL}{item}", 1 + (user + item) % 5) for user in range(12) for item in range(10)]
    study = Study(
        pd.DataFrame(rows, columns=["user", "item", "rating"]),
        "random-5fold",
        [{"use": "reference/popularity", "label": "popularity <b>"}, "reference/item-mean", "reference/bias"],
        ["ndcg@5", "rmse"],
        question=f"Is {EVIL} escaped?",
    )
    return write_report(study.run(tmp_path_factory.mktemp("report") / "run")).read_text()


def test_text_from_data_is_escaped(report):
    tags = Tags()
    tags.feed(report)
    assert "script" not in {tag for tag, _ in tags.found}
    assert "&lt;script&gt;" in report
    assert "popularity &lt;b&gt;" in report


def test_nothing_is_asked_from_elsewhere(report):
    tags = Tags()
    tags.feed(report)
    assert not [attrs for _, attrs in tags.found if "src" in attrs or "href" in attrs]


def cells_of(report):
    """The table of results: the names of each row, and the class and text of each number."""
    body = report.partition("<h2>Results")[2].partition("</tbody>")[0]
    return {
        tuple(re.findall(r'<th scope="row">([^<]*)</th>', row)): re.findall(r'<td class="([^"]*)">([^<]*)</td>', row)
        for row in body.split("<tr")[2:]
    }


def test_the_best_ranking_is_the_highest_and_the_best_error_the_lowest(report):
    cells = cells_of(report)
    assert set(cells) == {("popularity &lt;b&gt;",), ("reference item-mean",), ("reference bias",)}
    for column, best in ((0, max), (1, min)):
        values = {name: float(row[column][1]) for name, row in cells.items() if row[column][1] != "–"}
        marked = {name for name, row in cells.items() if row[column][0] == "number best"}
        assert marked and {values[name] for name in marked} == {best(values.values())} and len(values) == 3 - column
    assert [kind for row in cells.values() for kind, _ in row[2:]] == ["number"] * 6  # of times there is no best
    assert "fit (s)" in report and "score (s)" in report and "legend" not in report.partition("</style>")[2]


def test_the_same_algorithm_of_two_frameworks_has_one_line_in_the_figures(tmp_path):
    rows = [(user, item, 1 + (user * item + item) % 5) for user in range(12) for item in range(10)]
    study = Study(
        pd.DataFrame(rows, columns=["user", "item", "rating"]),
        "random-5fold",
        ["reference/bias", "lenskit/bias", "reference/item-mean"],
        ["rmse", "user-coverage@5"],
    )
    report = write_report(study.run(tmp_path / "run")).read_text()
    assert list(cells_of(report)) == [("bias", "reference"), ("bias", "lenskit"), ("item-mean", "reference")]
    (figure,) = re.findall(r"<figure>(.*?)</figure>", report)  # all users have lists: there is nothing to see
    assert re.findall(r'text-anchor="end">([a-z-]+)<', figure) == ["bias", "item-mean"]
    assert re.findall(r"<title>([a-z -]+):", figure) == ["reference bias", "lenskit bias", "reference item-mean"]
    colours = re.findall(r'stroke="(#[0-9A-F]+)"', figure)
    assert colours[0] == colours[2] != colours[1]
    assert re.findall(r"</svg> ([a-z]+)</span>", report) == ["lenskit", "reference"]


def test_every_decision_and_impact_is_told(report):
    for text in ("ties.break", "relevance.threshold", "data digest", "protocol hash", "What the decisions touched"):
        assert text in report
    assert "–" in report  # popularity predicts no ratings
