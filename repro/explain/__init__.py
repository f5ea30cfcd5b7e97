"""Which decision moved the number, and by how much: from kept scores, with no second fit."""

from repro.explain.attribution import Explanation, explain
from repro.explain.diff import Difference, diff
from repro.explain.multiverse import Multiverse, multiverse
from repro.explain.scored_run import ScoredRun
from repro.explain.search import Found, Published, find_protocols

__all__ = [
    "Difference",
    "Explanation",
    "Found",
    "Multiverse",
    "Published",
    "ScoredRun",
    "diff",
    "explain",
    "find_protocols",
    "multiverse",
]
