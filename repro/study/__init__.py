"""Studies: plan, cells, executor, results."""

from repro.study.entry import Entry
from repro.study.model import Study
from repro.study.plan import Cell, Plan, make_plan
from repro.study.run import Watcher, run_study

__all__ = ["Cell", "Entry", "Plan", "Study", "Watcher", "make_plan", "run_study"]
