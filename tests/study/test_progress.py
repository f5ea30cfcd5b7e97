"""Lines for finished cells: the time left is worked by hand."""

from types import SimpleNamespace

import pytest

from repro.study.progress import CellLines, duration


def test_the_time_left_is_that_of_the_cells_of_this_run():
    lines, now = [], SimpleNamespace(time=100.0)
    watcher = CellLines(lines.append, lambda: now.time)
    cells = [SimpleNamespace(id=name) for name in "abcde"]
    watcher.planned(SimpleNamespace(cells=cells), 4)  # one is finished already
    for cell, seconds, error in zip(cells[1:], (10, 50, 60, 1), (None, "too slow", None, None), strict=True):
        watcher.cell_started(cell)
        watcher.cell_progress(cell, 1, 2)
        now.time += seconds
        watcher.cell_ended(cell, error)
    assert lines == [
        "4 cells to run (1 kept from before)",
        "2/5 b: finished in 10 s; about 30 s left",  # one in 10 s, three are left
        "3/5 c: failed after 50 s: too slow; about 0:01:00 left",  # two in 60 s, two are left
        "4/5 d: finished in 0:01:00; about 40 s left",  # three in 120 s, one is left
        "5/5 e: finished in 1.0 s",
    ]


@pytest.mark.parametrize(("seconds", "text"), [(0.04, "0.0 s"), (9.94, "9.9 s"), (59.4, "59 s"), (3661, "1:01:01")])
def test_durations(seconds, text):
    assert duration(seconds) == text
