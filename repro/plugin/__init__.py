"""Plug-ins: ``api`` is what authors implement, ``host`` is how the core uses it, ``isolation`` runs it elsewhere.

Authors import from here: ``from repro.plugin import Algorithm, Framework, Scores, impl``.
"""

from repro.plugin.api.evaluator import FEATURES, Case, Evaluator, Observed, Pipeline, PipelineFold
from repro.plugin.api.groups import GroupedRows
from repro.plugin.api.interfaces import (
    Algorithm,
    Choice,
    Environment,
    Exporter,
    Framework,
    Parameter,
    ParameterValue,
    RatingPredictor,
    Recommender,
    Splitter,
    StagedDefinitions,
    StagedScores,
)
from repro.plugin.api.queries import History, Queries, Query
from repro.plugin.api.requirements import pinned_framework, read_requirements
from repro.plugin.api.scores import FALLBACK, SCORED, UNSCORED, ScoreKind, Scores
from repro.plugin.api.spec import impl
from repro.plugin.api.state import STATE, by_code
from repro.plugin.api.training import TrainingData
from repro.plugin.host.discovery import declare_frameworks, installed_plugins, load_plugins, plugins, selected
from repro.plugin.host.guard import CheckedRecommender, make_recommender
from repro.plugin.host.installation import install
from repro.plugin.host.placement import Plugins, how_to_install
from repro.plugin.host.validation import parameters_of
from repro.plugin.isolation.pins import pinned

__all__ = [
    "FALLBACK",
    "FEATURES",
    "SCORED",
    "STATE",
    "UNSCORED",
    "Algorithm",
    "Case",
    "CheckedRecommender",
    "Choice",
    "Environment",
    "Evaluator",
    "Exporter",
    "Framework",
    "GroupedRows",
    "History",
    "Observed",
    "Parameter",
    "ParameterValue",
    "Pipeline",
    "PipelineFold",
    "Plugins",
    "Queries",
    "Query",
    "RatingPredictor",
    "Recommender",
    "ScoreKind",
    "Scores",
    "Splitter",
    "StagedDefinitions",
    "StagedScores",
    "TrainingData",
    "by_code",
    "declare_frameworks",
    "how_to_install",
    "impl",
    "install",
    "installed_plugins",
    "load_plugins",
    "make_recommender",
    "parameters_of",
    "pinned",
    "pinned_framework",
    "plugins",
    "read_requirements",
    "selected",
]
