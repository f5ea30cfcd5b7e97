"""Ranking: from scores to lists, with rules for missing scores and ties, and the ranks of test items."""

from repro.evaluation.ranking.ranked import Ranked, TiedLists, Ties, tied_lists
from repro.evaluation.ranking.ranker import GivenLists, given_scores, listed_scores, rank, rank_lists
from repro.evaluation.ranking.rules import MissingRule, RankingRules, TieRule, gives_order, refuse_rows
from repro.evaluation.ranking.tally import Tally

__all__ = [
    "GivenLists",
    "MissingRule",
    "Ranked",
    "RankingRules",
    "Tally",
    "TieRule",
    "TiedLists",
    "Ties",
    "given_scores",
    "gives_order",
    "listed_scores",
    "rank",
    "rank_lists",
    "refuse_rows",
    "tied_lists",
]
