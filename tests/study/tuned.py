"""Studies with tuning, and what their journals have of it."""

from repro import Study
from repro.runs.journal import read_journal

GRID = {"k": [3, 10, 40], "similarity": ["cosine", "pearson"]}
SPACE = {"k": {"low": 2, "high": 60, "log": True}, "shrinkage": {"low": 0.0, "high": 20}}
GRIDS, SPACES = {"item-knn": GRID}, {"item-knn": SPACE}
FILE = """
seed = 5
metrics = ["ndcg@10"]
[data]
name = "synthetic"
users = 150
items = 80
ratings = 4000
alpha = 1.0
[protocol]
base = "random-5fold"
split.strategy = "ratio"
split.validation_ratio = 0.2
[tune]
metric = "ap"
trials = 4
[tune.space."user-knn"]
k = { low = 3, high = 60 }
similarity = ["cosine", "pearson"]
[tune.space."puresvd"]
factors = [2, 5]
[[algorithms]]
use = "reference/user-knn"
parameters = { shrinkage = 3.0 }
[[algorithms]]
use = "reference/puresvd"
[[algorithms]]
use = "reference/ease"
"""


def tuned_study(data, protocol, spaces, algorithms=("reference/item-knn", "reference/popularity"), **tune):
    section = {"metric": "ndcg@10", "trials": 6, "space": spaces} | tune
    return Study(data, protocol, list(algorithms), ["ndcg@10", "rmse"], seed=7, tune=section)


def journal_of(folder):
    return read_journal(folder / "journal.jsonl")


def choices(folder):
    """Every tuning of a run, without the times."""
    tunings = {}
    for event in journal_of(folder).events("tuning.finished"):
        plain = event.model_dump(exclude={"seconds"})
        tunings[event.cell] = plain | {"trials": [{**trial, "seconds": None} for trial in plain["trials"]]}
    return tunings


def outcome(folder):
    cells = {event.cell: (event.values, event.artifacts) for event in journal_of(folder).events("cell.finished")}
    return choices(folder), cells, (folder / "results.parquet").read_bytes()
