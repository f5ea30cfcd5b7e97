"""Studies: every way to split, several protocols, tuning, and the executors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import data
import names
from names import ALGORITHMS, ALL, FEW, PLAIN
from work import Result, Task, Work

import repro

SPLITS: dict[str, dict[str, Any]] = {
    "ratio": {"split.test_ratio": 0.3, "split.repeats": 2},
    "user-ratio": {"split.test_ratio": 0.25, "split.rounding": "ceil", "split.validation_ratio": 0.1},
    "kfold": {"split.folds": 2, "split.unseen_items": "drop"},
    "kfold-per-user": {"split.folds": 2, "split.validation_share": 0.1},
    "kfold-users": {"split.folds": 2, "split.holdout_ratio": 0.5},
    "given-n": {"split.n": 6},
    "all-but-n": {"split.n": 3, "split.validation_n": 1, "split.short_users": "drop"},
    "random-n": {"split.test_users": 20},
    "time-point": {"split.time": 3_500_000},
    "time-users": {"split.test_users": 15},
    "uniform-items": {"split.train_floor": 0.3},
    "files": {
        "split.train_file": "train.csv",
        "split.test_file": "test.csv",
        "split.validation_file": "validation.csv",
    },
    "leave-one-last": {"split.equal_times": "random"},
    "time-ratio": {"split.test_ratio": 0.3},
    "user-time-ratio": {"split.test_ratio": 0.3, "split.equal_times": "source"},
    "surprise/KFold": {"split.surprise-KFold.n_splits": 2},
    "surprise/LeaveOneOut": {"split.surprise-LeaveOneOut.n_splits": 2, "data.order": "splitter"},
    "lenskit/crossfold_users": {"split.lenskit-crossfold_users.partitions": 2},
}
OWN_CLOCK = {"split.strategy": "time-users", "split.test_users": 12, "split.clock": "own"}
EACH_CLOCK = {"split.strategy": "time-users", "split.test_users": 4, "split.clock": "each"}
RATIO = {"split.strategy": "ratio", "split.test_ratio": 0.3}
ONE_RELEVANT = {
    "candidates.relevant": "one",
    "candidates.negatives": "sampled",
    "candidates.sample_size": 10,
    "candidates.rated_negatives": "exclude",
}
ONE_RELEVANT_METRICS = ["hit@1", "hit@5", "hit@10", "precision@5", "ndcg@10", "rr", "rmse"]
# Each with a base, what differs from it, and the names.
PROTOCOLS: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "all-metrics": ("random-5fold", RATIO, ALL),
    "features": ("random-5fold", RATIO | {"data.item_features": "features.csv"}, names.WITH_FEATURES),
    "no-empty-lists": (
        "random-5fold",
        RATIO | {"missing.rank": "drop", "missing.zero": "missing-or-below", "average.no_list": "skip"},
        [*PLAIN, *names.WITHOUT_EMPTY_LISTS],
    ),
    "clock-own": ("random-5fold", OWN_CLOCK, FEW),
    "clock-each": ("random-5fold", EACH_CLOCK, FEW),
    "ties-expected": ("random-5fold", RATIO | {"ties.break": "expected", "average.no_relevant": "zero"}, PLAIN),
    "ties-random": (
        "random-5fold",
        RATIO | {"ties.break": "random", "ties.precision": "decimals", "ties.decimals": 1, "average.folds": "pooled"},
        PLAIN,
    ),
    "ties-worst": (
        "random-5fold",
        RATIO | {"ties.break": "worst", "candidates.base": "test-items", "relevance.rule": "user-mean"},
        PLAIN,
    ),
    "ties-shared": ("random-5fold", RATIO | {"ties.break": "shared-mean", "average.over": "pooled"}, PLAIN),
    "ties-data": ("random-5fold", RATIO | {"ties.break": "data-desc", "candidates.exclude_train": "relevant"}, PLAIN),
    "ties-trec": (
        "random-5fold",
        RATIO | {"ties.break": "trec", "candidates.base": "train-items", "relevance.grades": "judged"},
        [*PLAIN, *names.COLLECTION],
    ),
    "missing-mean": (
        "random-5fold",
        RATIO | {"missing.rank": "item-mean", "missing.fallback": "accept", "predict.fallback": "missing",
                 "predict.missing": "user-mean", "predict.clip": "scale", "predict.round": 0.5},
        PLAIN,
    ),
    "missing-first": (
        "random-5fold",
        RATIO | {"missing.rank": "first", "missing.zero": "missing", "predict.missing": "constant",
                 "predict.constant": 3.0, "predict.average": "users", "candidates.base": "user-test-items"},
        [*names.BASIC, "rmse", "mae"],
    ),
    "one-relevant": (
        "random-5fold",
        RATIO | ONE_RELEVANT | {"average.over": "lists", "candidates.sample_weight": "popularity"},
        ONE_RELEVANT_METRICS,
    ),
    "one-relevant-strata": (
        "random-5fold",
        RATIO | ONE_RELEVANT | {"candidates.strata": "popularity", "candidates.strata_count": 2,
                                "candidates.sample_per": "user"},
        ONE_RELEVANT_METRICS,
    ),
    "sampled-negatives": (
        "random-5fold",
        RATIO | {"candidates.negatives": "sampled", "candidates.sample_size": 15, "candidates.replacement": True},
        [*PLAIN, "auc", "fallout@5"],
    ),
    "negatives-file": (
        "random-5fold",
        RATIO | {"candidates.base": "file", "candidates.file": "negatives.csv"},
        PLAIN,
    ),
    "data-filters": (
        "random-5fold",
        RATIO | {"data.min_rating": 2, "data.to_time": 4_800_000, "data.user_core": 4, "data.item_core": 4,
                 "data.sample_users": 0.9, "split.head": 0.1, "data.scale": "stated", "data.scale_min": 0,
                 "data.scale_max": 6},
        PLAIN,
    ),
    "repeated-rows": ("random-5fold", RATIO | {"data.duplicates": "mean", "data.order": "source"}, PLAIN),
    "said-bellogin-rpn": ("said-bellogin-rpn", {}, ONE_RELEVANT_METRICS),
    "valcarce-2018-allitems": ("valcarce-2018-allitems", {}, ["ndcg@10", "precision@5", "infap", "bpref"]),
}  # fmt: skip
TUNE = {
    "metric": "ndcg@5",
    "trials": 3,
    "space": {"item-knn": {"k": {"low": 2, "high": 20}, "similarity": ["cosine", "pearson"]}},
}
STUDY = """question = "Do the executors agree?"
seed = 7
metrics = {metrics}
[data]
name = "ratings.csv"
[protocol]
base = "random-5fold"
split.folds = 2
"""


def tasks() -> list[Task]:
    splits = []
    for name, more in SPLITS.items():
        arguments = ("random-5fold", {"split.strategy": name} | more, FEW)
        splits.append(Task("studies", f"split-{name.replace('/', '-')}", study, arguments))
    of_protocols = [Task("studies", name, study, arguments) for name, arguments in PROTOCOLS.items()]
    return [*splits, *of_protocols, Task("studies", "tuned", tuned), Task("studies", "executors", executors)]


def entries() -> list[dict[str, str]]:
    return [{"use": f"reference/{name}", "label": name} for name in ALGORITHMS]


def protocol_of(base: str, changes: dict[str, Any]) -> repro.Protocol:
    return repro.Protocol.load(base, **{name.replace(".", "__"): value for name, value in changes.items()})


def study(work: Work, base: str, changes: dict[str, Any], metrics: list[str]) -> None:
    data.write_files(Path())
    source = "repeated.csv" if "data.duplicates" in changes else "ratings.csv"
    with work.result() as result:
        planned = repro.Study(source, protocol_of(base, changes), entries(), metrics, seed=7)
        add_run(result, planned, Path("run"))


def tuned(work: Work) -> None:
    data.write_files(Path())
    changes = {"split.strategy": "user-ratio", "split.validation_ratio": 0.2}
    algorithms = [{"use": "reference/item-knn", "label": "item-knn"}, {"use": "reference/bias", "label": "bias"}]
    for fitted_on in ("train", "train+validation"):
        with work.result(fitted_on) as result:
            protocol = protocol_of("random-5fold", changes | {"split.fitted_on": fitted_on})
            planned = repro.Study("ratings.csv", protocol, algorithms, FEW, tune=TUNE)
            add_run(result, planned, Path(fitted_on))


def add_run(result: Result, planned: repro.Study, folder: Path) -> None:
    results = planned.run(folder, workers=1)
    result.run(folder)
    result.table("table", results.table().reset_index())
    result.table("per user", results.per_user().reset_index())


def write_study(path: Path, metrics: list[str]) -> None:
    """A study as a file, for the commands."""
    algorithms = "".join(f'[[algorithms]]\nuse = "{entry["use"]}"\nlabel = "{entry["label"]}"\n' for entry in entries())
    path.write_text(STUDY.format(metrics=str(metrics).replace("'", '"')) + algorithms, encoding="utf-8")


def executors(work: Work) -> None:
    """The same study in one process, in two, and on Ray: the numbers must be the same."""
    data.write_files(Path())
    write_study(Path("study.toml"), FEW)
    made: list[Result] = []
    ray = ["--executor", "ray", "--address", "local"]
    for name, options in {"one worker": [], "two workers": ["--workers", "2"], "ray": ray}.items():
        with work.result(name) as result:
            folder = Path(name.replace(" ", "-"))
            options = options or ["--workers", "1"]
            command = ["run", "study.toml", "--quiet", "--json", "--into", folder, *options]
            output = (work.repro if name == "one worker" else work.repro_apart)(*command)
            if output.status:
                raise RuntimeError(output.err)
            result.json("json", output)
            result.run(folder)
            made.append(result)
            if any(result.parts[part]["numbers"] != made[0].parts[part]["numbers"] for part in result.parts):
                raise AssertionError(f"{name}: other numbers than with one worker")
