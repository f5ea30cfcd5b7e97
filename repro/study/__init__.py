"""Studies: definition, plan, engine, executors, tuning."""

from repro.study.check import check_study
from repro.study.draft import draft_study
from repro.study.engine import RunOptions, run_study
from repro.study.entry import Entry
from repro.study.model import Study
from repro.study.plan import Cell, Plan, make_plan
from repro.study.progress import CellLines, Watcher
from repro.study.reload import reload_study

__all__ = [
    "Cell",
    "CellLines",
    "Entry",
    "Plan",
    "RunOptions",
    "Study",
    "Watcher",
    "check_study",
    "draft_study",
    "make_plan",
    "reload_study",
    "run_study",
]
