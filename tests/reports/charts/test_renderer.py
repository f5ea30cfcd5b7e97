"""The process that draws charts may end at any moment: then a figure is missing, with a sentence, and no more."""

import altair as alt
import pandas as pd
import pytest

import repro
from repro.data import synthetic_interactions
from repro.protocol import Protocol
from repro.reports import write_report
from repro.reports.charts import chart_svg, save_chart, specification
from repro.reports.charts import renderer as drawing
from repro.reports.charts.renderer import DrawingError, Renderer
from repro.reports.html import figure, page
from repro.runs.run import Run
from repro.verification import verify

ABORTS = "import os, sys; sys.stdin.readline(); os.abort()"


@pytest.fixture
def chart():
    return alt.Chart(pd.DataFrame({"x": [1, 2], "y": [3, 4]})).mark_point().encode(x="x", y="y")


@pytest.fixture
def aborting(monkeypatch, tmp_path):
    """In place of what draws, a process that aborts natively at every chart."""
    script = tmp_path / "aborts.py"
    script.write_text(ABORTS)
    monkeypatch.setattr(drawing, "SCRIPT", str(script))
    drawing.renderer._end()
    yield
    drawing.renderer._end()


def test_a_chart_is_that_of_the_library(chart):
    import vl_convert

    drawn = Renderer().call("vegalite_to_svg", specification(chart)).decode()
    assert drawn == vl_convert.vegalite_to_svg(specification(chart))


def test_what_the_library_refuses_is_said_and_the_next_chart_is_drawn(chart):
    own = Renderer()
    with pytest.raises(DrawingError, match="the chart cannot be drawn: "):
        own.call("vegalite_to_svg", {"mark": 7})
    assert own.call("vegalite_to_svg", specification(chart)).startswith(b"<svg")


def test_a_native_abort_is_an_error_with_a_sentence(chart, aborting, tmp_path):
    with pytest.raises(DrawingError, match=r"the process that draws it was ended by SIGABRT \(out of memory\?\)"):
        chart_svg(chart)
    with pytest.raises(DrawingError):
        save_chart(chart, tmp_path / "chart.png")
    assert "This figure is missing: the chart cannot be drawn" in page("Title", [figure("Caption", "Text.", chart)])


def test_a_process_that_was_killed_is_started_again(chart):
    own = Renderer()
    first = own.call("vegalite_to_svg", specification(chart))
    own._process.kill()
    own._process.wait()
    assert own.call("vegalite_to_svg", specification(chart)) == first


def test_a_report_without_its_figures_has_everything_else(aborting, tmp_path):
    rows = synthetic_interactions(users=30, items=20, ratings=300, alpha=1.0, seed=4)
    protocol = Protocol.load("random-5fold", split__folds=2)
    study = repro.Study(rows, protocol, ["reference/popularity", "reference/bias"], ["ndcg@5"], seed=3, question="Why?")
    run = study.run(tmp_path / "run").folder
    page = write_report(Run(run)).read_text()
    assert "This figure is missing: the chart cannot be drawn: the process that draws it was ended by SIGABRT" in page
    assert "Why?" in page and 'id="journal"' in page and "reference popularity" in page
    assert verify(run).holds
