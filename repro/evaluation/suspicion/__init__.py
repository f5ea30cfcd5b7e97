"""What is suspicious about the numbers of algorithms, said by algorithm before anybody believes them.

Studies and :func:`repro.evaluate` count facts while they measure (:class:`Facts`), and put each algorithm with its
values into a :class:`Subject`; :func:`find_suspicious` makes findings of them. A finding is a ``warning`` where a value
should not be believed as it stands, and a ``note`` where it should be read with something in mind.

Codes, which stay the same from version to version:

ties.decide           orders of tied items give very different values
ties.cross            nearly all users have a tie across the cut-off
ties.order            the order of tied items decides which of two algorithms is better
scores.missing        the algorithm scored nothing, or little of what is listed
scores.constant       nearly all lists consist of items with one and the same score
scores.fallback       the framework made up nearly all scores
scores.ratings        an algorithm that predicts ratings is asked for rankings
predictions.missing, predictions.constant, predictions.fallback   likewise, of predicted ratings
lists.empty           all lists are empty
ratings.constant      an algorithm that predicts ratings learned from ratings that are all equal
parameter.chosen      the data decided the value of a parameter
folds.no-value        a fold has no value of a metric, so that all folds together have none
inputs.mismatch       lists given to :func:`repro.evaluate` that do not meet the truth, such as ids that nobody knows
entries.identical     two algorithms have the same lists, or the same values, for every user
"""

from repro.evaluation.suspicion.facts import Facts, list_facts, prediction_facts
from repro.evaluation.suspicion.finding import Finding
from repro.evaluation.suspicion.search import Subject, Value, find_suspicious
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
