"""Explain numbers from stored scores, without refitting: attribution to decisions, multiverses, searches."""

from repro.explanations.attribution import AttributionOptions, explain
from repro.explanations.difference import Difference, diff
from repro.explanations.explanation import Explanation
from repro.explanations.multiverses import Multiverse, multiverse
from repro.explanations.scored_run import ScoredRun
from repro.explanations.search import Published, SearchResult, find_protocols

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
