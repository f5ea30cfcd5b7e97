"""A conformance kit for plug-ins: tests of the contract for pytest, and data and cases for a plug-in's own tests.

A plug-in tests itself against the contract in five lines::

    from repro.testing import PluginContract

    class TestContract(PluginContract):
        plugin = "repro_example.recommender"
        algorithms = (("decayed-popularity", {"half_life": 7.0}),)

docs/plugins.md says what is tested.
"""

from repro.testing.cases import case_of, case_of_rows, five_users, two_users
from repro.testing.contract import (
    AlgorithmContract,
    DeclarationContract,
    EvaluatorContract,
    IsolationContract,
    PluginContract,
)
from repro.testing.data import movielens_fifths, movielens_part, queries_of, ratings_table, small_ratings
from repro.testing.installed import (
    all_bits,
    answer,
    check_options,
    check_pipeline_fold,
    fitted,
    make,
    observed,
    values_by_id,
)
from repro.testing.isolated import IsolatedFramework, isolated_fixture, isolated_framework
from repro.testing.studies import study_toml

__all__ = [
    "AlgorithmContract",
    "DeclarationContract",
    "EvaluatorContract",
    "IsolatedFramework",
    "IsolationContract",
    "PluginContract",
    "all_bits",
    "answer",
    "case_of",
    "case_of_rows",
    "check_options",
    "check_pipeline_fold",
    "fitted",
    "five_users",
    "isolated_fixture",
    "isolated_framework",
    "make",
    "movielens_fifths",
    "movielens_part",
    "observed",
    "queries_of",
    "ratings_table",
    "small_ratings",
    "study_toml",
    "two_users",
    "values_by_id",
]
