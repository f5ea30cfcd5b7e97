"""Progress of long functions: in a terminal, in a notebook, for a function, and silent elsewhere."""

import sys
import types

import pandas as pd
import pytest

import repro
from repro.progress import NotebookStages, in_notebook, progress_reporter

FRAME = pd.DataFrame(
    [(u, i, 1 + (u * i) % 5) for u in range(12) for i in range(8) if (u + i) % 3], columns=["user", "item", "rating"]
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("progress")
    FRAME.to_csv(folder / "ratings.csv", index=False)
    study = repro.Study(folder / "ratings.csv", "random-5fold", ["reference/popularity", "reference/ease"], "ndcg@5")
    return study.run(folder / "run", keep_scores=True)


@pytest.fixture
def notebook(monkeypatch):
    """The displays of a kernel: each is the list of what it showed."""
    displays = []

    class Handle(list):
        def update(self, content):
            self.append(content.data)

    def display(content, display_id):
        assert display_id
        handle = Handle([content.data])
        displays.append(handle)
        return handle

    shell = types.SimpleNamespace(kernel=object())
    module = types.ModuleType("IPython")
    module.get_ipython = lambda: shell
    inner = types.ModuleType("IPython.display")
    inner.display, inner.HTML = display, lambda data: types.SimpleNamespace(data=data)
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", inner)
    return displays


@pytest.mark.parametrize("progress", [True, False, None])
def test_nothing_is_shown_where_nobody_looks(progress, capsys):
    with progress_reporter(progress) as report_progress:
        report_progress("counting", 1, 2)
    assert capsys.readouterr() == ("", "")


def test_bars_in_a_terminal_are_removed_at_the_end(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_reporter(True) as report_progress:
        report_progress("counting \x1b[31msheep", 1, 2)
    out, error = capsys.readouterr()
    assert not out and "counting" in error and "1/2" in error
    assert "\x1b[31msheep" not in error
    with progress_reporter(False) as report_progress:
        report_progress("counting", 1, 2)
    assert capsys.readouterr() == ("", "")


def test_a_notebook_shows_what_is_not_finished_and_is_clean_at_the_end(notebook):
    now = [0.0]
    with NotebookStages(clock=lambda: now[0]) as stages:
        stages.update("<b>fit</b>", 1, 4)
        assert not notebook
        now[0] = 0.6
        stages.update("<b>fit</b>", 2, 4)
        stages.update("<b>fit</b>", 3, 4)  # too soon after the last one
        now[0] = 0.8
        stages.update("score", 0, 2)
        stages.update("<b>fit</b>", 4, 4)
        now[0] = 1.0
        stages.update("score", 1, 2)
    (display,) = notebook
    assert "value='2' max='4'" in display[0] and "&lt;b&gt;fit&lt;/b&gt; 2 of 4" in display[0]
    assert "3 of 4" in display[1] and "score 0 of 2" in display[1]
    assert "fit" not in display[2] and "score 1 of 2" in display[2]
    assert display[3] == ""


def test_what_is_quick_leaves_nothing_in_a_notebook(notebook):
    assert in_notebook()
    with progress_reporter(True) as report_progress:
        report_progress("counting", 1, 2)
    assert not notebook


LONG = {
    "run": lambda run, report_progress: repro.Study(FRAME, "random-5fold", ["reference/ease"], "ndcg@5").run(
        progress=report_progress
    ),
    "explain": lambda run, report_progress: repro.explain(
        run, repro.Protocol.load("said-bellogin-ut"), progress=report_progress
    ),
    "multiverse": lambda run, report_progress: repro.multiverse(run, ["ties"], progress=report_progress),
    "find_protocols": lambda run, report_progress: repro.find_protocols(
        run, {"ndcg@5": {"reference ease": "0.5"}}, ["ties"], budget=5, progress=report_progress
    ),
    "verify": lambda run, report_progress: repro.verify(run.folder, "retrain", progress=report_progress),
    "study_metrics": lambda run, report_progress: repro.study_metrics(
        run, repro.metric_study.Settings(("ndcg",), (5,), samples=2, randomisations=50), progress=report_progress
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_a_function_receives_every_stage_to_its_end(name, run):
    last: dict[str, tuple[int, int]] = {}

    def report_progress(stage, done, total):
        assert 0 <= done <= total
        last[stage] = (done, total)

    LONG[name](run, report_progress)
    assert last and all(done == total for done, total in last.values()), last


def test_the_cells_of_a_run_are_stages(run):
    calls = []
    repro.Study(FRAME, "random-5fold", ["reference/ease"], "ndcg@5").run(progress=lambda *event: calls.append(event))
    assert [event[1:] for event in calls if event[0] == "cells"] == [(done, 5) for done in range(6)]
    assert {event[0] for event in calls} == {"cells", *(f"reference ease/{fold}" for fold in range(1, 6))}
