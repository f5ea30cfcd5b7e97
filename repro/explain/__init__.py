"""Explain numbers from stored scores, without refitting: attribution to decisions, multiverses, searches."""

from repro.explain.attribution import AttributionOptions, explain
from repro.explain.diff import Difference, diff
from repro.explain.explanation import Explanation
from repro.explain.multiverse import Multiverse, multiverse
from repro.explain.scored_run import ScoredRun
from repro.explain.search import Published, SearchResult, find_protocols

__all__ = [
    "AttributionOptions",
    "Difference",
    "Explanation",
    "Multiverse",
    "Published",
    "ScoredRun",
    "SearchResult",
    "diff",
    "explain",
    "find_protocols",
    "multiverse",
]
