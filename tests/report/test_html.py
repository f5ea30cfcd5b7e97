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
        [{"use": "reference/popularity", "label": "popularity <b>"}, "reference/item-mean"],
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


def test_the_best_value_is_the_lowest_error(report):
    """item-mean predicts ratings, and alone does; both rank."""
    rows = dict(re.findall(r'<tr><th scope="row">([^<]*)</th>(.*?)</tr>', report.partition("<h2>Results")[2]))
    assert re.findall(r'class="number( best)?"', rows["reference item-mean"])[1:] == [" best", "", ""]
    assert "fit (s)" in report and "score (s)" in report


def test_every_decision_and_impact_is_told(report):
    for text in ("ties.break", "relevance.threshold", "data digest", "protocol hash", "What the decisions touched"):
        assert text in report
    assert "–" in report  # popularity predicts no ratings
