"""Findings: suspicious properties of the numbers of algorithms.

Studies and :func:`repro.evaluate` count facts while they measure (:class:`Facts`), and describe each algorithm and its
values by a :class:`Subject`; :func:`find_suspicious` derives findings from them. A finding is a ``warning`` if a value
is not trustworthy, and a ``note`` if it needs care in its interpretation.

The codes are stable between versions:

ties.decide           orders of tied items give very different values
ties.cross            nearly all users have a tie across the cut-off
ties.order            the order of tied items decides which of two algorithms is better
scores.missing        the algorithm scored nothing, or few of the listed items
scores.constant       nearly all lists consist of items with the same score
scores.fallback       nearly all scores are fallback scores of the framework
scores.ratings        an algorithm that predicts ratings is used for ranking
predictions.missing, predictions.constant, predictions.fallback   the same for predicted ratings
lists.empty           all lists are empty
ratings.constant      an algorithm that predicts ratings learned from ratings that are all equal
parameter.chosen      the data decided the value of a parameter
model.fitted-before   a model given in Python is not fitted on each fold, and may have seen held-out rows
test.used             the algorithm was fitted on the rows of the test, or its parameters were chosen by them
folds.no-value        a fold has no value of a metric, so that all folds together have none
inputs.mismatch       lists given to :func:`repro.evaluate` do not match the truth, for example unknown ids
entries.identical     two algorithms have the same lists, or the same values, for every user
"""

from repro.evaluation.suspicion.facts import Facts, list_facts, prediction_facts
from repro.evaluation.suspicion.search import Finding, Subject, Value, find_suspicious
from repro.evaluation.suspicion.summary import Summary, summaries, warn

__all__ = [
    "Facts",
    "Finding",
    "Subject",
    "Summary",
    "Value",
    "find_suspicious",
    "list_facts",
    "prediction_facts",
    "summaries",
    "warn",
]
