"""The report as a file: complete, the same every time, and nothing in it can run that came from data."""

import base64
import gzip
import hashlib
import html
import json
import re

import pandas as pd
import pytest

from repro import Study
from repro.errors import JournalError, StudyError
from repro.reports import write_report
from repro.reports.html import environment
from repro.reports.run.embedded import vega
from repro.runs.run import Run

from .conftest import EVIL, small_study


def packed(text, name):
    return gzip.decompress(base64.b64decode(re.search(rf'id="{name}">([^<]*)<', text)[1]))


@pytest.fixture(scope="module")
def text(page):
    return page.read_text()


@pytest.fixture(scope="module")
def elements(text, elements_of):
    return elements_of(text)


def row_of(text, label):
    """The cells of an algorithm in the table of results: class and number of each."""
    body = text.partition('<section id="results">')[2].partition("</tbody>")[0]
    (row,) = [row for row in body.split("<tr")[2:] if re.search(rf'<th scope="row">{re.escape(label)}( ?<)', row)]
    return re.findall(r'<td class="(number[^"]*)"[^>]*>([^<]*)', row)


def test_the_best_ranking_is_the_highest_and_the_best_error_the_lowest(text, finished):
    table = finished.table()
    for place, (metric, best) in enumerate({"ndcg@5": "idxmax", "rmse": "idxmin"}.items()):
        winner = getattr(table[metric], best)()
        for label in table.index:
            kind, number = row_of(text, label)[place and 3]
            value = table[metric][label]
            assert number == ("–" if value != value else f"{value:.4f}")
            assert ("best" in kind) == (label == winner)


def test_the_page_is_read_in_order(elements):
    headings = [name for name, _, _ in elements.all if re.fullmatch(r"h\d", name)]
    assert headings[0] == "h1" and set(headings[1:]) == {"h2"}
    for landmark in ("header", "nav", "main", "footer"):
        assert len(elements.named(landmark)) == 1
    sections = {attrs["id"] for attrs, _ in elements.named("section")}
    output = {attrs["id"] for attrs, _ in elements.named("p") if "id" in attrs}
    assert {attrs["href"] for attrs, _ in elements.named("a")} == {f"#{name}" for name in (*sections, *output)}
    assert sections >= {"answer", "touched", "distributions", "differences", "significance", "tradeoffs", "timing"}
    assert sections >= {"curves", "protocol", "identity", "journal"}


def test_who_listens_hears_what_tables_and_charts_are_about(elements):
    assert len(elements.named("caption")) == len(elements.named("table")) > 5
    assert all("scope" in attrs for attrs, _ in elements.named("th"))
    charts = [attrs for attrs, _ in elements.named("div") if attrs.get("class") == "chart"]
    assert len(charts) > 8
    assert all(chart["role"] == "img" and len(chart["aria-label"]) > 40 for chart in charts)


def test_nothing_is_asked_from_elsewhere_and_only_its_own_scripts_may_run(text, elements):
    for _, attrs, _ in elements.all:
        assert not attrs.keys() & {"src", "srcset", "action", "data", "poster", "background"}
        assert attrs.get("href", "#").startswith("#")
        assert not [name for name in attrs if name.startswith("on")]
    (policy,) = [attrs["content"] for attrs, _ in elements.named("meta") if "http-equiv" in attrs]
    assert policy.startswith("default-src 'none'; ") and "unsafe-eval" not in policy
    scripts = re.search(r"script-src ([^;]*)", policy)[1]
    (own,) = [script for attrs, script in elements.named("script") if not attrs]
    known = [own, packed(text, "vega").decode()]
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in known]
    assert scripts == " ".join(f"'sha256-{digest}'" for digest in digests)


def test_the_same_run_gives_the_same_bytes(page, finished):
    before, journal = page.read_bytes(), (finished.folder / "journal.jsonl").read_bytes()
    assert write_report(Run(finished.folder)).read_bytes() == before
    assert (finished.folder / "journal.jsonl").read_bytes() == journal


def test_the_whole_journal_is_inside_to_the_byte(text, finished):
    lines = (finished.folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
    result = [line for line in lines if json.loads(line)["event"]["event"] != "report.written"]
    assert len(result) == len(lines) - 1
    assert packed(text, "journal-lines") == b"".join(result)


def test_no_text_of_the_data_becomes_an_element(hostile, page, elements_of):
    text = hostile.read_text()
    elements, plain = elements_of(text), elements_of(page.read_text())
    assert {name for name, _, _ in elements.all} <= {name for name, _, _ in plain.all}
    assert len([1 for attrs, _ in elements.named("script") if not attrs]) == 1
    assert "img" not in {name for name, _, _ in elements.all}
    assert not [attrs for _, attrs, _ in elements.all for name in attrs if name.startswith("on")]
    for attrs, spec in elements.named("script"):
        if attrs.get("type") == "application/json":
            assert "<" not in spec and json.loads(spec)["width"]


def test_json_in_a_page_reads_back_and_ends_nothing():
    value = {"a": [*EVIL, "\u2028", "&lt;"]}
    written = environment().from_string("{{ value | tojson }}").render(value=value)
    assert json.loads(written) == value
    assert not set("<>&") & set(written)


def test_the_same_algorithm_of_two_frameworks_has_one_line_in_the_charts(tmp_path):
    rows = [(user, item, 1 + (user * item + item) % 5) for user in range(12) for item in range(10)]
    study = Study(
        pd.DataFrame(rows, columns=["user", "item", "rating"]),
        "random-5fold",
        ["reference/bias", "lenskit/bias", "reference/item-mean"],
        ["rmse", "user-coverage@5"],
    )
    text = write_report(study.run(tmp_path / "run")).read_text()
    assert '<td class="extra">lenskit</td>' in text
    (figure,) = re.findall(r"<figcaption>rmse</figcaption>.*?</figure>", text)
    assert "<figcaption>user-coverage@5" not in text  # all users have lists: there is nothing to see
    spec = json.loads(re.search(r'"application/json">(.*?)</script>', figure)[1])
    assert spec["encoding"]["y"]["scale"]["domain"] == ["bias", "item-mean"]
    colour = spec["encoding"]["color"]["scale"]
    assert colour["domain"] == ["lenskit", "reference"] and len(set(colour["range"])) == 2
    assert "The answer is about agreement, as 1 algorithm of the study comes from several frameworks." in text
    (lenskit, reference) = (Run(tmp_path / "run").table()["rmse"][f"{name} bias"] for name in ("lenskit", "reference"))
    cells = re.findall(r'<th scope="row">bias</th><td class="extra">reference, lenskit</td><td[^>]*>([^<]*)', text)[:1]
    gap = abs(lenskit - reference)
    if gap <= 0.5e-4:
        decimals = max(d for d in range(4, 15) if gap <= 0.5 * 10.0**-d)
        assert cells == [f"agree to {decimals} decimals"] or (decimals > 11 and cells == ["identical"])
    else:
        assert cells[0].startswith(f"differ by {gap:.4f}")
    # Each framework has one colour and one mark, whatever the chart.
    styles = {}
    for shown in map(json.loads, re.findall(r'"application/json">(.*?)</script>', text)):
        for view in (shown, *shown.get("layer", ())):
            for channel, encoding in view.get("encoding", {}).items():
                if isinstance(encoding, dict) and encoding.get("field") == "framework":
                    for name, style in zip(encoding["scale"]["domain"], encoding["scale"]["range"], strict=True):
                        styles.setdefault((channel, name), set()).add(style)
    assert set(styles) == {(channel, name) for channel in ("color", "shape") for name in ("lenskit", "reference")}
    assert all(len(of_framework) == 1 for of_framework in styles.values())


def test_a_named_baseline_is_what_gains_are_over(tmp_path):
    results = small_study(["ndcg@5", "rmse"], baseline="popularity").run(tmp_path / "run")
    text = html.unescape(write_report(results).read_text())
    assert "The answer is about gains over a baseline, as the study names one." in text
    (sentence,) = re.findall(r'<p class="answer">(By ndcg@5, .*?)</p>', text)
    assert f"the baseline reference popularity has {results.table()['ndcg@5']['reference popularity']:.4f}." in sentence
    pairs = results.compare("ndcg@5", baseline="reference popularity").comparison.pairs.set_index("a")
    better = pairs[pairs["significant"] & (pairs["difference"] > 0)]
    assert ("No algorithm is better" in sentence) == better.empty
    for label, row in pairs.iterrows():
        cells = re.search(rf'<th scope="row">{label}</th><td class="number">([^<]*)</td>(.*?)</tr>', text)
        assert cells[1] == f"{row['difference']:+.4f}" and row["verdict"] in cells[2]
        assert label in sentence
    (other,) = re.findall(r'<p class="answer">(By rmse, .*?)</p>', text)
    assert other == "By rmse, there are no gains: the baseline reference popularity has no value."


def test_without_either_the_answer_is_the_best_algorithm(text):
    assert "as no algorithm comes from several frameworks and the study names no baseline" in text


@pytest.mark.parametrize(
    ("metrics", "algorithms", "changes", "phrase"),
    [
        (["rmse", "mae"], ["reference/bias", "reference/item-mean"], {}, "predictions and no lists"),
        (["ndcg@5"], ["reference/popularity"], {}, "there is no other algorithm to compare it with"),
        (["catalogue-coverage@5"], ["reference/popularity", "reference/bias"], {}, "there is no number for each user"),
        (["ndcg@5"], ["reference/popularity", "reference/bias"], {"ties__break": "expected"}, "share ranks"),
        (
            ["hit@5", "rr"],
            ["reference/popularity", "reference/bias"],
            {"candidates__relevant": "one"},
            "Precision against recall",
        ),
        (["rmse"], ["reference/popularity"], {}, "No algorithm has a number on all folds"),
    ],
)
def test_runs_of_every_kind_have_a_report(tmp_path, metrics, algorithms, changes, phrase):
    results = small_study(metrics, algorithms, changes={"split__folds": 2} | changes).run(tmp_path / "run")
    assert phrase in write_report(results).read_text()


@pytest.mark.parametrize("others", [["reference/popularity", "reference/bias"], []])
def test_cells_that_failed_are_told_before_the_table(tmp_path, others):
    worse = {"use": "reference/item-knn", "label": "none", "parameters": {"k": 0}}
    with pytest.raises(StudyError, match="cells failed"):
        small_study(["ndcg@5", "rmse"], [*others, worse]).run(tmp_path / "run")
    text = write_report(Run(tmp_path / "run")).read_text()
    warning = text.partition('class="warning"')[2].partition("<table")[0]
    assert "none/1: " in warning and "none/2: " in warning


def test_a_report_elsewhere_leaves_the_run_as_it_is(finished, page, tmp_path):
    journal = (finished.folder / "journal.jsonl").read_bytes()
    other = write_report(finished, tmp_path / "new" / "other.html")
    assert other.read_bytes() == page.read_bytes()
    assert (finished.folder / "journal.jsonl").read_bytes() == journal
    with pytest.raises(StudyError, match="cannot be written to"):
        write_report(finished, other / "file.html")


def test_a_run_without_its_artefacts_is_refused_with_what_to_do(tmp_path):
    results = small_study(["ndcg@5"]).run(tmp_path / "run")
    for path in (tmp_path / "run" / "artifacts").iterdir():
        path.unlink()
    with pytest.raises(JournalError, match=r"are no longer in .*--resume"):
        write_report(results)


def test_a_cache_that_cannot_be_written_to_is_done_without(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: blocked)
    vega.cache_clear()
    assert "vegaEmbed" in vega()
