"""Plug-ins: what they implement (``impl``, the interfaces) and how the core reaches them."""

from repro.plugin.border import Guarded, guarded_recommender
from repro.plugin.evaluator import FEATURES, Case, Evaluator, Observed, Pipeline, PipelineFold
from repro.plugin.groups import GroupedRows
from repro.plugin.interfaces import (
    FALLBACK,
    SCORED,
    UNSCORED,
    Algorithm,
    Environment,
    Exporter,
    Framework,
    Parameter,
    ParameterValue,
    RatingPredictor,
    Recommender,
    ScoreKind,
    Scores,
    Splitter,
)
from repro.plugin.manager import Plugins, chosen, how_to_install, load_plugins, parameters_of, plugins
from repro.plugin.pins import pinned, read_requirements
from repro.plugin.spec import impl

__all__ = [
    "FALLBACK",
    "FEATURES",
    "SCORED",
    "UNSCORED",
    "Algorithm",
    "Case",
    "Environment",
    "Evaluator",
    "Exporter",
    "Framework",
    "GroupedRows",
    "Guarded",
    "Observed",
    "Parameter",
    "ParameterValue",
    "Pipeline",
    "PipelineFold",
    "Plugins",
    "RatingPredictor",
    "Recommender",
    "ScoreKind",
    "Scores",
    "Splitter",
    "chosen",
    "guarded_recommender",
    "how_to_install",
    "impl",
    "load_plugins",
    "parameters_of",
    "pinned",
    "plugins",
    "read_requirements",
]
