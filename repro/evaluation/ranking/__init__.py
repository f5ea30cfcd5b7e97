"""Ranking: from scores to lists, with rules for missing scores and ties, and the ranks of test items."""

from repro.evaluation.ranking.listed import given_scores, listed_scores
from repro.evaluation.ranking.missing import MissingRule
from repro.evaluation.ranking.ranked import Ranked, TiedLists, Ties, tied_lists
from repro.evaluation.ranking.ranker import GivenLists, RankingRules, rank, rank_lists
from repro.evaluation.ranking.tally import Tally
from repro.evaluation.ranking.ties import TieRule, refuse_rows

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
    "listed_scores",
    "rank",
    "rank_lists",
    "refuse_rows",
    "tied_lists",
]
