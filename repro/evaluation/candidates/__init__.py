"""Candidates: the items that each list ranks, and which of them are relevant."""

from repro.evaluation.candidates.candidates import Candidates, FoldRows
from repro.evaluation.candidates.lists import CandidatesDigest, ListBlock, Offsets
from repro.evaluation.candidates.plan import joined_rows, plan_candidates
from repro.evaluation.candidates.relevance import (
    Judgements,
    judge,
    relevance_impacts,
    relevant_in_train,
    unlisted_users,
)

__all__ = [
    "Candidates",
    "CandidatesDigest",
    "FoldRows",
    "Judgements",
    "ListBlock",
    "Offsets",
    "joined_rows",
    "judge",
    "plan_candidates",
    "relevance_impacts",
    "relevant_in_train",
    "unlisted_users",
]
