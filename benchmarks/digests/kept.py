"""One run that kept its scores: what explains, compares, checks and exports it."""

from __future__ import annotations

from pathlib import Path

import data
from names import FEW
from studies import write_study
from work import Task, Work

FORMS = ("ro-crate", "prov", "trec", "ir-metadata", "latex", "methods", "checklist", "csv")
OTHER_PROTOCOL = """name = "other"
title = "Another evaluation of the same split"
source = "The digests of the benchmarks."

[relevance]
rule = "threshold"
threshold = 5

[split]
strategy = "kfold"
folds = 2

[candidates]
base = "test-items"

[ties]
break = "expected"

[average]
no_relevant = "zero"

[metric.ndcg]
gain = "exp2"
"""
METRICS = ["ndcg@10", "precision@5", "rr", "rmse"]


def tasks() -> list[Task]:
    return [Task("kept", "", explanations), Task("exports", "", exports)]


def run(work: Work, metrics: list[str]) -> None:
    data.write_files(Path())
    write_study(Path("study.toml"), metrics)
    done = work.repro("run", "study.toml", "--quiet", "--keep-scores", "--workers", 1)
    if done.status:
        raise RuntimeError(done.err)


def explanations(work: Work) -> None:
    run(work, METRICS)
    with work.result("second-run") as result:
        changes = ["--set", "ties.break=item-desc", "--set", "candidates.base=test-items", "--set", "missing.rank=drop"]
        command = ["run", "study.toml", "--quiet", "--keep-scores", "--workers", 1, "--into", "second"]
        result.json("json", work.repro(*command, *changes, "--json"))
    with work.result("explain-runs") as result:
        command = ["explain", "run", "second", "-m", "ndcg@10", "-m", "precision@5", "--quiet"]
        result.json("json", work.repro(*command, "--json"))
        result.output("text", work.repro(*command, "--into", "explanation"))
        result.files(Path("explanation"), "*.csv")
    with work.result("explain-protocol") as result:
        Path("other.toml").write_text(OTHER_PROTOCOL, encoding="utf-8")
        command = ["explain", "run", "--to-protocol", "other.toml", "-m", "ndcg@10", "-m", "rr", "--quiet"]
        result.json("json", work.repro(*command, "--json"))
        result.output("text", work.repro(*command))
    with work.result("find") as result:
        command = ["explain", "run", "--find", "0.30,0.25,0.20,0.15", "-m", "ndcg@10", "--quiet"]
        command += ["--vary", "ties,relevance.threshold=3|4|5", "--budget", 20]
        result.json("json", work.repro(*command, "--json"))
    with work.result("diff") as result:
        result.json("json", work.repro("diff", "run", "second", "--json"))
        result.output("text", work.repro("diff", "run", "second", "--all"))
        result.output("protocol", work.repro("diff", "run", "said-bellogin-ut"))
    with work.result("multiverse") as result:
        vary = "ties,missing,candidates,relevance.threshold=3|4|5,metric.ndcg"
        command = ["multiverse", "run", "--vary", vary, "--budget", 60, "--quiet", "--workers", 1, "--json"]
        result.json("json", work.repro(*command, "--into", "multiverse"))
        result.files(Path("multiverse"), "*.csv")
        result.files(Path("multiverse"), "*.parquet")
    with work.result("compare") as result:
        for test in ("randomisation", "wilcoxon", "t", "sign", "bootstrap", "nemenyi", "conover"):
            command = ["compare", "run", "-m", "ndcg@10", "-m", "rr", "--test", test, "--samples", 2000]
            result.json(test, work.repro(*command, "--json"))
        for interval in ("percentile", "bca"):
            command = ["compare", "run", "--interval", interval, "--samples", 500, "--baseline", "popularity"]
            result.output(interval, work.repro(*command, "--correct", "bonferroni"))
    with work.result("study-metrics") as result:
        command = ["study-metrics", "run", "-m", "ndcg", "-m", "precision", "-m", "rr", "--cutoffs", "5,10"]
        command += ["--samples", 3, "--randomisations", 1000, "--quiet", "--workers", 1, "--into", "metric-study"]
        result.json("json", work.repro(*command, "--json"))
        result.files(Path("metric-study"), "*.csv")
        result.files(Path("metric-study"), "*.parquet")


def exports(work: Work) -> None:
    run(work, FEW)
    with work.result("run") as result:
        result.run(Path("run"))
    with work.result("report.html") as result:
        result.output("text", work.repro("report", "run", "--into", "page.html"))
        result.file("page.html", Path("page.html"))
    for form in FORMS:
        with work.result(form) as result:
            result.output("text", work.repro("export", "run", "--to", form, "--into", form, "--quiet"))
            result.files(Path(form))
    for level in ("integrity", "rescore", "retrain"):
        with work.result(f"verify-{level}") as result:
            command = ["verify", "run", "--level", level, "--quiet"]
            command += ["--workers", 1] if level == "retrain" else []
            result.json("json", work.repro(*command, "--json"))
            if level == "rescore":
                result.output("text", work.repro(*command))
