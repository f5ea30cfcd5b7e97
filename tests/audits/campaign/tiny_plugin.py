"""A plug-in with evaluators that are audited in a second: they can be given next to nothing."""

import os

import numpy as np

from repro.plugin import FEATURES, Evaluator, Framework, Observed, Pipeline, PipelineFold, Scores, impl

NOTHING = dict.fromkeys(FEATURES, "it is tiny")


def errors(case, low=-np.inf, high=np.inf):
    predicted = np.clip(case.scores.values[case.test.users, case.test.items], low, high)
    return np.abs(predicted - case.test.ratings)


def plain(case, measure, k):
    return Observed(float(np.mean(errors(case) ** (1 if measure == "mae" else 2))))


def clipped(case, measure, k):
    return Observed(float(np.mean(errors(case, *case.scale))))


def dying(case, measure, k):
    os._exit(3)


def middle(rows, seed):
    """The first row is held out, and 3 is predicted whatever is asked."""
    held_out = abs(3 - rows.ratings[0])
    scores = Scores(np.full((rows.n_users, rows.n_items), 3.0))
    numbers = {"mae": float(held_out), "mse": float(held_out**2)}
    return [PipelineFold(np.arange(1, len(rows)), np.array([0]), scores, numbers)]


@impl
def repro_framework():
    return Framework("tiny", "1.0", "tiny evaluators", ())


@impl
def repro_evaluators():
    return [
        Evaluator("tiny/plain", "errors", plain, {"mae": "mae", "mse": "mse"}, NOTHING),
        Evaluator("tiny/clipped", "errors on the scale", clipped, {"mae": "mae"}, NOTHING),
        Evaluator("tiny/dying", "takes its process with it", dying, {"mae": "mae"}, NOTHING),
    ]


@impl
def repro_pipelines():
    return [Pipeline("tiny/middle", "always 3", middle, "tiny/plain")]
