"""A script as a user may write it: tests check its types strictly, against the types of repro."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import repro


def measure(lists: pd.DataFrame, truth: pd.DataFrame) -> float:
    table: pd.DataFrame = repro.evaluate(lists, truth, "random-5fold", metrics=["ndcg@10", repro.Metric("rr")])
    points: pd.DataFrame = repro.curves(lists, truth, kind="roc")
    metric = repro.Metric("ndcg@10")
    bounds: tuple[float, float] | None = metric.range
    formula: str = metric.formula
    print(len(points), bounds, formula, metric.options)
    return float(table["value"].iloc[0])


def list_everything() -> list[pd.DataFrame]:
    return [
        repro.algorithms("item-knn"),
        repro.datasets(),
        repro.decisions("ties"),
        repro.metrics(),
        repro.plugins(),
        repro.protocols("inferred"),
    ]


def run_and_compare(folder: Path) -> repro.Run:
    interactions: repro.Interactions = repro.load_dataset(folder / "ratings.csv")
    protocol = repro.Protocol.load("random-5fold", split__folds=2)
    differing: pd.DataFrame = protocol.diff("said-bellogin-ut")
    study = repro.Study(interactions, protocol, ["reference/popularity", "reference/ease"], ["ndcg@10"])
    run = study.run(folder / "run", keep_scores=True, workers=2, progress=False)
    compared = repro.compare(run, "ndcg@10", test="wilcoxon", baseline="reference popularity")
    pairs: pd.DataFrame = compared.pairs
    same: pd.DataFrame = run.compare("ndcg@10").pairs
    run.plot("ndcg@10").save(str(folder / "chart.svg"))
    compared.plot()
    report: Path = run.report(folder / "report.html")
    again: Path = repro.report(run)
    print(differing, pairs, same, report, again)
    return run


def review_files(folder: Path) -> int:
    result = repro.review(folder, paper=repro.reviews.Stated(users=943), roles={"data1.txt": "train"}, progress=False)
    findings: pd.DataFrame = result.to_frame()
    sizes = repro.data.identify(users=943, rows=100_000, try_here=False)
    print(findings, sizes.summary, [finding.severity for finding in result.findings])
    return result.counts["error"]


def explain_numbers(run: repro.Run) -> None:
    explanation = repro.explain(run, repro.Protocol.load("said-bellogin-ut"), "ndcg@10")
    parts: pd.DataFrame = explanation.to_frame()
    multiverse = repro.multiverse(run, ["ties"], metrics=["ndcg@10"], budget=50)
    wins = multiverse.of("ndcg@10").wins()
    found = repro.find_protocols(run, {"ndcg@10": {"reference ease": "0.20"}}, budget=20)
    fitting: int = found.fitting
    difference = repro.diff(run.folder, "said-bellogin-ut")
    settings = repro.metric_study.Settings(metrics=("ndcg",), cutoffs=(5, 10))
    study = repro.study_metrics(run, settings)
    pages: list[Path] = [result.report(run.folder.parent / "pages") for result in (explanation, multiverse, study)]
    print(parts, wins, fitting, difference.decisions, study.dp, pages)
    print(explanation.plot(), multiverse.plot(repro.Metric("ndcg@10")), study.plot("power-of-cutoffs"))


def check(run: repro.Run) -> bool:
    try:
        verification = repro.verify(run.folder, "rescore")
    except repro.ReproError as error:
        print(error)
        return False
    replayed = repro.replay(run.folder, run.folder.parent / "again", here=True, tolerance=0.0)
    sealed = repro.seal(run.folder)
    files: Path = repro.export(run, "csv", "tables", replace=True)
    print(sealed.head, files)
    return verification.holds and replayed.reproduced


def audit_and_replicate() -> None:
    inference = repro.audit("sklearn/ndcg_score", "ndcg", evidence=False)
    own = repro.audit(lambda scores, truth, train, k: 1.0, "hit", k=3, cannot=["ties"])
    agreements = repro.audits.compare(["ndcg"], only=["sklearn"])
    claim = repro.Claim.load("claim.toml")
    missing: tuple[str, ...] = claim.check().missing
    options = repro.replications.Options(workers=2)
    replication = repro.replicate(claim, options=options)
    page: Path = replication.report()
    print(page, replication.plot())
    print(inference.policy, own.summary, [agreement.summary for agreement in agreements], missing, replication.summary)


def use_packages() -> None:
    scores = repro.Matrix([[0.9, 0.8], [0.7, 0.1]], users=["ann", "bob"], items=["x", "y"])
    print(
        scores,
        repro.definitions.agree,
        repro.doctor(),
        repro.models,
        repro.catalogue.metrics,
        repro.data.describe,
        repro.evaluation,
        repro.explanations.AttributionOptions(refit=True),
        repro.exports.exporters,
        repro.lists.read_frames,
        repro.plugin.install,
        repro.protocol.json_schema(),
        repro.reports,
        repro.runs,
        repro.stats.compare,
        repro.study.RunOptions(),
        repro.verification.LEVELS,
        issubclass(repro.ReproWarning, UserWarning),
    )
