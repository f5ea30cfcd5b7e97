"""Lists from elsewhere: `repro.evaluate` on frames, `repro evaluate` and `repro curve` on files of several formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import data
import names
import pandas as pd
from names import FEW, PLAIN
from studies import protocol_of
from work import Task, Work

import repro

OF_LISTS = [*names.BASIC, *names.VARIANTS, *names.OTHERS, *names.TIMED, *names.WITH_FEATURES, *names.WITH_PREVIOUS]
OF_ALL = [*OF_LISTS, *names.COLLECTION]
# The metrics that are asked for, and what differs from the protocol "random-5fold".
PROTOCOLS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "all-metrics": (OF_ALL, {"relevance.grades": "judged"}),
    "predictions": (names.PREDICTION, {"predict.fallback": "missing", "predict.missing": "item-mean"}),
    "no-empty-lists": ([*PLAIN, *names.WITHOUT_EMPTY_LISTS], {"average.no_list": "skip", "missing.rank": "drop"}),
    "expected": (PLAIN, {"ties.break": "expected", "average.no_relevant": "zero", "average.neither": "skip"}),
    "best": (PLAIN, {"ties.break": "best", "missing.rank": "user-mean", "missing.fallback": "accept"}),
    "worst": (PLAIN, {"ties.break": "worst", "missing.rank": "first", "average.no_relevant": "one"}),
    "random": (PLAIN, {"ties.break": "random", "missing.zero": "missing", "relevance.rule": "any"}),
    "rows": (PLAIN, {"ties.break": "rows-desc", "missing.rank": "constant", "missing.constant": 2.5}),
    "data": (PLAIN, {"ties.break": "data", "missing.rank": "global-mean", "average.over": "pooled"}),
    "shared": (PLAIN, {"ties.break": "shared-worst", "ties.precision": "decimals", "ties.decimals": 0}),
    "trec": (PLAIN, {"ties.break": "trec", "relevance.rule": "user-mean", "average.no_relevant": "nan"}),
}
OF_USERS = ["ndcg@10", "ap", "rr", "recall@5"]


def tasks() -> list[Task]:
    return [Task("evaluate", "frames", frames), Task("evaluate", "files", files), Task("evaluate", "curves", curves)]


def frames(work: Work) -> None:
    train, truth = data.parts(data.ratings())
    lists, earlier = data.recommendations(), data.recommendations(seed=8)
    options: dict[str, Any] = {"train": train, "seed": 11}
    for name, (metrics, changes) in PROTOCOLS.items():
        with work.result(name) as result:
            protocol = protocol_of("random-5fold", changes)
            more = {"features": data.features(), "previous": earlier} if name == "all-metrics" else {}
            result.table("averages", repro.evaluate(lists, truth, protocol, metrics, **options, **more))
            if name != "predictions":
                per_user = repro.evaluate(lists, truth, protocol, OF_USERS, per_user=True, **options)
                result.table("per user", per_user)
    with work.result("default") as result:
        ranked = lists.dropna().assign(rank=lambda rows: rows.groupby("user").cumcount() + 1)
        result.table("ranks", repro.evaluate(ranked[["user", "item", "rank"]], truth[["user", "item"]]))


def write_lists(folder: Path) -> None:
    """The same lists and truth in several formats."""
    train, truth = data.parts(data.ratings())
    train.to_csv(folder / "train.csv", index=False)
    for number in (3, 4):
        lists = data.recommendations(number).dropna()
        plain = lists[["user", "item", "score"]]
        stem = f"{folder}/lists-{number}"
        plain.to_csv(f"{stem}.csv", index=False)
        plain.to_csv(f"{stem}.tsv.gz", index=False, sep="\t")
        plain.to_parquet(f"{stem}.parquet", index=False)
        plain.to_json(f"{stem}.jsonl", orient="records", lines=True)
        plain.to_json(f"{stem}.json", orient="records")
        ranks = plain.groupby("user").cumcount() + 1
        run = pd.DataFrame(
            {"user": plain.user, "q0": "Q0", "item": plain.item, "rank": ranks, "score": plain.score, "tag": "run"}
        )
        run.to_csv(f"{stem}.run", index=False, header=False, sep=" ")
    truth.to_csv(folder / "truth.csv", index=False)
    truth.to_parquet(folder / "truth.parquet", index=False)
    qrels = pd.DataFrame({"user": truth.user, "zero": 0, "item": truth.item, "rating": truth.rating})
    qrels.to_csv(folder / "truth.qrels", index=False, header=False, sep=" ")
    predictions = truth.assign(score=lambda rows: 1 + (rows.user * rows.item % 33) / 8)
    predictions[["user", "item", "rating", "score"]].to_csv(folder / "predictions.csv", index=False)


def files(work: Work) -> None:
    write_lists(Path())
    metrics = [word for name in FEW if name not in ("rmse", "novelty@10") for word in ("-m", name)]
    for suffix, truth in {
        "csv": "truth.csv",
        "tsv.gz": "truth.csv",
        "parquet": "truth.parquet",
        "json": "truth.csv",
        "jsonl": "truth.csv",
        "run": "truth.qrels",
    }.items():
        with work.result(suffix) as result:
            command = ["evaluate", "--run", f"three=lists-3.{suffix}", "--run", f"four=lists-4.{suffix}"]
            command += ["--truth", truth, *metrics]
            result.json("json", work.repro(*command, "--json"))
            if suffix in ("csv", "run"):
                command += ["--set", "ties.break=trec", "--full", "--into", "table.csv"]
                result.output("table", work.repro(*command))
                result.file("table.csv", Path("table.csv"))
    with work.result("per-user") as result:
        command = ["evaluate", "--run", "lists-3.csv", "--truth", "truth.csv", "--train", "train.csv"]
        command += ["-m", "ndcg@10", "-m", "rr", "-m", "novelty@5", "--per-user", "users.parquet"]
        result.output("table", work.repro(*command, "--protocol", "random-5fold"))
        result.file("users.parquet", Path("users.parquet"))
    with work.result("predictions") as result:
        command = ["evaluate", "--run", "predictions.csv", "-m", "rmse", "-m", "mae", "-m", "fcp"]
        result.json("json", work.repro(*command, "--json"))
    with work.result("compare-files") as result:
        for number in (3, 4):
            command = ["evaluate", "--run", f"lists-{number}.csv", "--truth", "truth.csv", "-m", "ndcg@10", "-m", "ap"]
            work.repro(*command, "--per-user", f"system-{number}.parquet")
        output = work.repro("compare", "system-3.parquet", "system-4.parquet", "--samples", 2000, "--json")
        result.json("json", output)


def curves(work: Work) -> None:
    write_lists(Path())
    command = ["curve", "--run", "three=lists-3.csv", "--run", "four=lists-4.csv", "--truth", "truth.csv"]
    for kind in ("precision-recall", "roc"):
        for join in ("pooled", "lengths", "users"):
            with work.result(f"{kind}-{join}") as result:
                options = ["--kind", kind, "--join", join, "--into", "points.csv", "--plot", "plot.json"]
                result.output("text", work.repro(*command, *options))
                result.file("points.csv", Path("points.csv"))
                result.file("plot.json", Path("plot.json"))
