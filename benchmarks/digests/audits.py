"""Audits: pages of evaluators that are cheap to ask, of functions written here, and who agrees with whom."""

from __future__ import annotations

import sys
from pathlib import Path

from work import Task, Work

EVALUATORS = [
    ("surprise/accuracy", "rmse"),
    ("surprise/accuracy", "mae"),
    ("surprise/accuracy", "fcp"),
    ("sklearn/regression", "mean_absolute_error"),
    ("sklearn/regression", "root_mean_squared_error"),
    ("sklearn/multilabel", "label_ranking_average_precision_score"),
    ("ranx/evaluate", "hit_rate@k"),
    ("pytrec_eval/RelevanceEvaluator", "success"),
    ("ir_measures/calc", "Success@k"),
]
EXPENSIVE = ("label_ranking_average_precision_score", "hit_rate@k", "success", "Success@k")  # no page of evidence
# Functions that are audited: the name in the module, the metric that it is taken for, the cut-off, what it cannot take.
FUNCTIONS = [
    ("hit_rate", "hit", "3", ["duplicates"]),
    ("mean_error", "mae", "none", ["duplicates"]),
    ("rounded_error", "mae", "none", ["duplicates"]),
    ("always_half", "precision", "5", []),
]
MODULE = """
def hit_rate(scores, truth, train, k):
    best = scores.sort_values(["score", "item"], ascending=False).groupby("user").head(k)
    hits = best.merge(truth[truth.rating > 3], on=["user", "item"])
    return hits.user.nunique() / truth.user.nunique()


def mean_error(scores, truth, train, k):
    pairs = truth.merge(scores, on=["user", "item"])
    return (pairs.rating - pairs.score).abs().mean()


def rounded_error(scores, truth, train, k):
    pairs = truth.merge(scores, on=["user", "item"])
    return (pairs.rating - pairs.score.round()).abs().mean()


def always_half(scores, truth, train, k):
    return 0.5
"""


def tasks() -> list[Task]:
    return [
        *(Task("audits", f"{name}-{measure}", evaluator, (name, measure)) for name, measure in EVALUATORS),
        *(Task("audits", name, function, (name, *how)) for name, *how in FUNCTIONS),
        Task("audits", "agreement", agreement),
    ]


def evaluator(work: Work, name: str, measure: str) -> None:
    """The page with all evidence; the document and the policies without it, which is faster."""
    command = ["audit", "infer", name, "-m", measure, "--quiet"]
    with work.result() as result:
        result.json("json", work.repro(*command, "--json", "--no-evidence", "--into", "policies"))
        result.files(Path("policies"))
        if measure not in EXPENSIVE:
            result.output("page", work.repro(*command))


def function(work: Work, name: str, metric: str, cutoff: str, cannot: list[str]) -> None:
    Path("audited_functions.py").write_text(MODULE, encoding="utf-8")
    sys.path.insert(0, str(Path.cwd()))
    try:
        with work.result() as result:
            options = [word for kind in cannot for word in ("--cannot", kind)]
            target = f"audited_functions:{name}"
            command = ["audit", "infer", target, "-m", metric, "--k", cutoff, "--quiet", "--no-evidence", *options]
            result.output("page", work.repro(*command))
    finally:
        sys.path.pop(0)
        sys.modules.pop("audited_functions", None)


def agreement(work: Work) -> None:
    """The evaluators that only measure, on the same rankings."""
    only = "pytrec_eval,ranx,ir_measures,sklearn"
    for form, metric in {"text": "rr", "json": "ndcg"}.items():
        with work.result(form) as result:
            more = ["--json"] if form == "json" else []
            output = work.repro("audit", "evaluators", "-m", metric, "--only", only, "--quiet", *more)
            (result.json if more else result.output)("matrices", output)
