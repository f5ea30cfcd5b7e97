"""The time that is left, by hand."""

from types import SimpleNamespace

import pytest

from repro.cli.progress import Progress


@pytest.fixture
def clock(monkeypatch):
    """The time that bars see."""
    now = SimpleNamespace(time=0.0)
    monkeypatch.setattr("rich.console.monotonic", lambda: now.time)
    return now


def shown(progress):
    """The cells that are done, and the time left, as the bar has them."""
    _, _, done, _, remaining = progress._bar.columns
    cells = progress._bar.tasks[0]
    return done.render(cells).plain, remaining.render(cells).plain


def test_the_time_left_is_told_by_the_cells_of_this_run(clock):
    cells = [SimpleNamespace(id=name) for name in "abcde"]
    progress = Progress(hidden=True)
    clock.time = 100.0  # loading the data does not count
    progress.planned(SimpleNamespace(cells=cells), 4)  # one is done already
    assert shown(progress) == ("1/5", "-:--:--")
    progress.cell_started(cells[1])
    clock.time = 110.0
    progress.cell_progress(cells[1], 50, 100)  # half a cell in 10 s, three and a half are left
    assert shown(progress) == ("1/5", "0:01:10")
    clock.time = 130.0
    progress.cell_ended(cells[1], None)  # one in 30 s, three are left
    assert shown(progress) == ("2/5", "0:01:30")
    clock.time = 160.0
    for cell in cells[2:4]:
        progress.cell_started(cell)
        progress.cell_ended(cell, None)
    assert shown(progress) == ("4/5", "0:00:20")


def test_off_a_terminal_each_finished_cell_has_a_line(capsys):
    cells = [SimpleNamespace(id=f"EASE/fold-{number}") for number in range(1, 4)]
    with Progress(hidden=False) as progress:
        progress.planned(SimpleNamespace(cells=cells), 3)
        for cell, error in zip(cells, (None, "out of memory", None), strict=True):
            progress.cell_started(cell)
            progress.cell_ended(cell, error)
    first, *ends = capsys.readouterr().err.splitlines()
    assert first == "3 cells to run"
    assert [end.partition(":")[0] for end in ends] == ["1/3 EASE/fold-1", "2/3 EASE/fold-2", "3/3 EASE/fold-3"]
    assert "failed after" in ends[1] and "out of memory" in ends[1] and "about" in ends[1]
    assert "left" not in ends[2]


def test_hidden_progress_has_no_lines(capsys):
    cell = SimpleNamespace(id="EASE/fold-1")
    with Progress(hidden=True) as progress:
        progress.planned(SimpleNamespace(cells=[cell]), 1)
        progress.cell_started(cell)
        progress.cell_ended(cell, None)
    assert not capsys.readouterr().err
