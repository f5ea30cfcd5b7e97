"""A conformance kit for plug-ins: tests of the contract for pytest, and data and cases for a plug-in's own tests.

A plug-in tests itself against the contract in five lines::

    from repro.testing import PluginContract

    class TestContract(PluginContract):
        plugin = "repro_example.recommender"
        algorithms = (("decayed-popularity", {"half_life": 7.0}),)

docs/plugins.md says what is tested.
"""

from repro.testing.cases import case_of, five_users
from repro.testing.contract import (
    AlgorithmContract,
    DeclarationContract,
    EvaluatorContract,
    IsolationContract,
    PluginContract,
)
from repro.testing.data import movielens_fifths, movielens_part, queries_of, ratings_table, small_ratings
from repro.testing.isolated import IsolatedFramework, isolated_framework

__all__ = [
    "AlgorithmContract",
    "DeclarationContract",
    "EvaluatorContract",
    "IsolatedFramework",
    "IsolationContract",
    "PluginContract",
    "case_of",
    "five_users",
    "isolated_framework",
    "movielens_fifths",
    "movielens_part",
    "queries_of",
    "ratings_table",
    "small_ratings",
]
