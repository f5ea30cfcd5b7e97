"""Which decision moved the number, and by how much: from kept scores, with no second fit."""

from repro.explain.attribution import Explanation, explain
from repro.explain.diff import Difference, diff
from repro.explain.kept import KeptRun
from repro.explain.multiverse import Multiverse, multiverse
from repro.explain.search import Found, Published, find_protocols

__all__ = [
    "Difference",
    "Explanation",
    "Found",
    "KeptRun",
    "Multiverse",
    "Published",
    "diff",
    "explain",
    "find_protocols",
    "multiverse",
]
