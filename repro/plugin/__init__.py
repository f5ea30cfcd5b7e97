"""Plug-ins: what they implement (``impl``, the interfaces) and how the core reaches them."""

from repro.plugin.border import Guarded, guarded_recommender
from repro.plugin.interfaces import (
    FALLBACK,
    SCORED,
    UNSCORED,
    Algorithm,
    Framework,
    Parameter,
    ParameterValue,
    RatingPredictor,
    Recommender,
    Scores,
)
from repro.plugin.manager import Plugins, load_plugins, parameters_of, plugins
from repro.plugin.spec import impl

__all__ = [
    "FALLBACK",
    "SCORED",
    "UNSCORED",
    "Algorithm",
    "Framework",
    "Guarded",
    "Parameter",
    "ParameterValue",
    "Plugins",
    "RatingPredictor",
    "Recommender",
    "Scores",
    "guarded_recommender",
    "impl",
    "load_plugins",
    "parameters_of",
    "plugins",
]
