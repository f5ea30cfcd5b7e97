"""Charts as files, and inside of pages."""

import json
import re

import altair
import pandas as pd
import pytest

from repro.errors import ReproError
from repro.reports.charts import COLOURS, chart_svg, save_chart
from repro.reports.charts.curve_chart import curve_chart

POINTS = pd.DataFrame({"x": [0.0, 0.5, 1.0], "y": [0.0, 0.8, 1.0], "who": ["view_3", "view_3", "b"]})


def chart(data=POINTS, title="Who is who"):
    return altair.Chart(data, title=title).mark_line(clip=True).encode(x="x", y="y", color="who").interactive()


@pytest.mark.parametrize("ending", [".svg", ".png", ".html", ".json", ".SVG"])
def test_the_same_chart_gives_the_same_bytes(tmp_path, ending):
    first = save_chart(chart(), tmp_path / "new folder" / f"a{ending}")
    second = save_chart(chart(), tmp_path / f"b{ending}")
    assert first.read_bytes() == second.read_bytes()


def test_what_each_format_holds(tmp_path):
    assert save_chart(chart(), tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert save_chart(chart(), tmp_path / "a.svg").read_text().startswith("<svg")
    page = save_chart(chart(), tmp_path / "a.html").read_text()
    assert "Who is who" in page
    assert not re.search(r"<(script|link)[^>]*(src|href)=", page), "it must need nothing else"
    stated = json.loads(save_chart(chart(), tmp_path / "a.json").read_text())
    assert "vega-lite" in stated["$schema"]
    assert stated["config"]["range"]["category"] == list(COLOURS)


def test_names_in_the_data_stay_as_they_are(tmp_path):
    stated = json.loads(save_chart(chart(), tmp_path / "a.json").read_text())
    (rows,) = stated["datasets"].values()
    assert [row["who"] for row in rows] == ["view_3", "view_3", "b"]


def test_a_chart_may_differ_from_the_common_look(tmp_path):
    own = chart().configure_axis(gridColor="red")
    config = json.loads(save_chart(own, tmp_path / "a.json").read_text())["config"]
    assert config["axis"]["gridColor"] == "red"
    assert config["axis"]["titleFontSize"] == 12


def test_two_charts_on_a_page_do_not_share_names():
    names = [set(re.findall(r'id="([^"]+)"', chart_svg(chart(title=title)))) for title in ("one", "two")]
    assert names[0] and not names[0] & names[1]
    drawn = chart_svg(chart())
    assert set(re.findall(r"url\(#([^)]+)\)", drawn)) <= set(re.findall(r'id="([^"]+)"', drawn))


def test_more_rows_than_altair_takes_by_itself():
    many = pd.DataFrame({"x": range(6000), "y": range(6000), "who": "a"})
    assert chart_svg(chart(many)).startswith("<svg")


@pytest.mark.parametrize("name", ["a.pdf", "a", "a.svgz"])
def test_other_formats_are_refused_with_those_there_are(tmp_path, name):
    with pytest.raises(ReproError, match=r"Give a name that ends in \.svg, \.png, \.html or \.json"):
        save_chart(chart(), tmp_path / name)


def test_curves_are_drawn_with_chance_and_the_perfect_curve():
    table = pd.DataFrame({"n": [0, 1], "fpr": [0.0, 1.0], "tpr": [0.0, 1.0], "users": [3, 3]})
    drawn = chart_svg(curve_chart(table.assign(perfect_fpr=[0.0, 0.0], perfect_tpr=[0.0, 1.0]), "ROC"))
    for words in ("ROC", "chance", "perfect", "false positive rate", "true positive rate"):
        assert words in drawn
    two = pd.concat([table.assign(curve="knn"), table.assign(curve="svd")])
    drawn = chart_svg(curve_chart(two))
    assert "knn" in drawn and "svd" in drawn


def test_a_single_precision_recall_curve_needs_no_legend():
    table = pd.DataFrame({"recall": [0.5, 1.0], "precision": [1.0, 0.5], "users": [3, 3]})
    drawn = chart_svg(curve_chart(table))
    assert "precision" in drawn and "chance" not in drawn and "role-legend" not in drawn
