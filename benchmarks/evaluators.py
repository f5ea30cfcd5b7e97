"""Evaluation speed beside other evaluators: python benchmarks/evaluators.py

6,040 users (as in MovieLens 1M), 100 recommendations and 30 relevant items each, six metrics. Every peer gets the
same lists and must give the same numbers before it is timed. Times are the best of several runs, warm.

(a) evaluation alone: inputs prepared in each evaluator's own form; for repro, lists that are ranked already, as
    ranx keeps them, and, in a row of its own, lists with scores that are ranked in the measured time, as
    pytrec_eval does it
(b) from two pandas frames with text ids to numbers: each evaluator's own form is built as well
"""

from __future__ import annotations

import argparse
import importlib.util
import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from repro.evaluate import default_protocol, evaluate, evaluate_frames, measure_lists, rank, read_frames
from repro.metrics import metrics, parse_measure

USERS, ITEMS, LISTED, RELEVANT = 6_040, 3_706, 100, 30
METRICS = ("ndcg@10", "ndcg@100", "precision@10", "recall@10", "ap@100", "rr")
# LensKit's own nDCG has another discount, and its recall another denominator.
LENSKIT_METRICS = (
    "ndcg[discount=log-base]@10",
    "ndcg[discount=log-base]@100",
    "precision@10",
    "recall[denominator=min-relevant]@10",
    "ap@100",
    "rr",
)
PACKAGES = {
    "pytrec_eval": "pytrec-eval-terrier",
    "ranx": "ranx",
    "ir_measures": "ir-measures",
    "lenskit": "lenskit",
}
TREC = {
    "ndcg@10": "ndcg_cut_10",
    "ndcg@100": "ndcg_cut_100",
    "precision@10": "P_10",
    "recall@10": "recall_10",
    "ap@100": "map_cut_100",
    "rr": "recip_rank",
}


@dataclass(frozen=True)
class Contest:
    """A peer's run and ours, which must agree, and the speed-up that is asked for."""

    title: str
    peer: str
    theirs: Callable[[], dict[str, float]]
    ours: Callable[[], dict[str, float]]
    target: float | None = None


def make_frames(seed: int = 1) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Recommendations and truth; about as many hits as a good recommender has. No two scores are equal."""
    rng = np.random.default_rng(seed)
    popularity = 1.0 / np.arange(1, ITEMS + 1) ** 0.7
    popularity /= popularity.sum()

    def draw(count: int) -> Any:
        return np.concatenate([rng.choice(ITEMS, count, replace=False, p=popularity) for _ in range(USERS)])

    users = np.array([f"u{n}" for n in range(USERS)], dtype=object)
    items = np.array([f"i{n}" for n in range(ITEMS)], dtype=object)
    recommended = pd.DataFrame({"user": np.repeat(users, LISTED), "item": items[draw(LISTED)]})
    # Distinct in single precision too, in which trec_eval compares scores.
    recommended["score"] = rng.permuted(np.tile(np.arange(LISTED) / 128.0, (USERS, 1)), axis=1).ravel()
    truth = pd.DataFrame({"user": np.repeat(users, RELEVANT), "item": items[draw(RELEVANT)], "rating": 1})
    return recommended, truth


def best_time(run: Callable[[], object], seconds: float) -> float:
    """The shortest of at least three runs within about this time."""
    run()
    times: list[float] = []
    until = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < until:
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)


# --- repro ----------------------------------------------------------------------------------------------------


def from_frames(recommended: pd.DataFrame, truth: pd.DataFrame, names: tuple[str, ...]) -> dict[str, float]:
    return _as_dictionary(evaluate(recommended, truth, metrics=names))


def _as_dictionary(table: pd.DataFrame) -> dict[str, float]:
    return dict(zip(table["metric"], table["value"], strict=True))


def contests_alone(
    recommended: pd.DataFrame, truth: pd.DataFrame, peer: str, theirs: Callable[[], dict[str, float]]
) -> list[Contest]:
    """The peer's evaluation of prepared inputs against ours, with lists ranked before and in the measured time."""
    frames = read_frames(recommended, truth)
    protocol = default_protocol(rated=True)
    asked = {name: parse_measure(name, protocol, metrics()) for name in METRICS}
    ranked = rank(frames, asked.values(), protocol, seed=0)

    def alone() -> dict[str, float]:
        found = measure_lists(ranked, asked, frames.truth.n_items, protocol)
        return {name: averaged.value for name, averaged in found.items()}

    def with_ranking() -> dict[str, float]:
        return _as_dictionary(evaluate_frames(frames, protocol, METRICS))

    return [
        Contest("(a) alone", peer, theirs, alone, 20),
        Contest("(a) with ranking", peer, theirs, with_ranking),
    ]


# --- the peers ------------------------------------------------------------------------------------------------


def trec_dictionaries(frame: pd.DataFrame, column: str) -> dict[str, dict[str, Any]]:
    """Nested dictionaries, in the fastest way plain Python has."""
    nested: dict[str, dict[str, Any]] = {}
    for user, item, value in zip(frame["user"].tolist(), frame["item"].tolist(), frame[column].tolist(), strict=True):
        nested.setdefault(user, {})[item] = value
    return nested


def pytrec_eval_contests(recommended: pd.DataFrame, truth: pd.DataFrame) -> list[Contest]:
    import pytrec_eval

    def evaluated(evaluator: Any, run: dict[str, Any]) -> dict[str, float]:
        users = evaluator.evaluate(run).values()
        return {ours: float(np.mean([user[theirs] for user in users])) for ours, theirs in TREC.items()}

    def built() -> tuple[Any, dict[str, Any]]:
        qrels, run = trec_dictionaries(truth, "rating"), trec_dictionaries(recommended, "score")
        return pytrec_eval.RelevanceEvaluator(qrels, set(TREC.values())), run

    prepared = built()
    return [
        *contests_alone(recommended, truth, "pytrec_eval", lambda: evaluated(*prepared)),
        Contest(
            "(b) from frames",
            "pytrec_eval",
            lambda: evaluated(*built()),
            lambda: from_frames(recommended, truth, METRICS),
            10,
        ),
    ]


def ranx_contests(recommended: pd.DataFrame, truth: pd.DataFrame) -> list[Contest]:
    from ranx import Qrels, Run
    from ranx import evaluate as ranx_evaluate

    qrels, run = Qrels(trec_dictionaries(truth, "rating")), Run(trec_dictionaries(recommended, "score"))
    names = dict(zip(METRICS, ("ndcg@10", "ndcg@100", "precision@10", "recall@10", "map@100", "mrr"), strict=True))

    def theirs() -> dict[str, float]:
        found = ranx_evaluate(qrels, run, list(names.values()))
        return {ours: float(found[name]) for ours, name in names.items()}

    return contests_alone(recommended, truth, "ranx", theirs)


def ir_measures_contests(recommended: pd.DataFrame, truth: pd.DataFrame) -> list[Contest]:
    import ir_measures
    from ir_measures import AP, RR, P, R, nDCG

    measures = dict(zip(METRICS, (nDCG @ 10, nDCG @ 100, P @ 10, R @ 10, AP @ 100, RR), strict=True))

    def theirs() -> dict[str, float]:
        qrels = truth.rename(columns={"user": "query_id", "item": "doc_id", "rating": "relevance"})
        run = recommended.rename(columns={"user": "query_id", "item": "doc_id"})
        found = ir_measures.calc_aggregate(list(measures.values()), qrels, run)
        return {ours: float(found[name]) for ours, name in measures.items()}

    return [Contest("(b) from frames", "ir_measures", theirs, lambda: from_frames(recommended, truth, METRICS), 10)]


def lenskit_contests(recommended: pd.DataFrame, truth: pd.DataFrame) -> list[Contest]:
    from lenskit.data import ItemListCollection
    from lenskit.metrics import NDCG, Precision, Recall, RecipRank, RunAnalysis
    from lenskit.metrics.ranking import AveragePrecision

    asked = (NDCG(n=10), NDCG(n=100), Precision(n=10), Recall(n=10), AveragePrecision(n=100), RecipRank())
    names = {"user": "user_id", "item": "item_id"}

    def theirs() -> dict[str, float]:
        ranked = recommended.sort_values(["user", "score"], ascending=[True, False]).rename(columns=names)
        ranked["rank"] = np.tile(np.arange(1, LISTED + 1), USERS)
        lists = ItemListCollection.from_df(ranked, ["user_id"])
        held_out = ItemListCollection.from_df(truth.rename(columns=names), ["user_id"])
        analysis = RunAnalysis()
        for name, metric in zip(LENSKIT_METRICS, asked, strict=True):
            analysis.add_metric(metric, name)
        return analysis.measure(lists, held_out).list_metrics().mean().to_dict()

    return [Contest("(b) from frames", "lenskit", theirs, lambda: from_frames(recommended, truth, LENSKIT_METRICS), 50)]


CONTESTS = {
    "pytrec_eval": pytrec_eval_contests,
    "ranx": ranx_contests,
    "ir_measures": ir_measures_contests,
    "lenskit": lenskit_contests,
}


def check_agreement(contest: Contest) -> None:
    """Stop where a peer's numbers are not ours."""
    theirs = contest.theirs()
    for name, value in contest.ours().items():
        if not np.isclose(theirs[name], value, rtol=0, atol=1e-9):
            raise SystemExit(f"{contest.peer} gives {theirs[name]!r} for {name}, repro {value!r}: they must agree")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=3.0, help="time spent on each measurement")
    seconds = arguments.parse_args().seconds
    warnings.filterwarnings("ignore", module="numba|ranx|lenskit")
    missing = [peer for peer in PACKAGES if importlib.util.find_spec(peer) is None]
    if missing:
        packages = " ".join(PACKAGES[peer] for peer in missing)
        print(f"Not installed, left out: {', '.join(missing)}.")
        print(f"To have them, in an environment of their own: pip install {packages}\n")
    recommended, truth = make_frames()
    print(f"{USERS:,} users, {LISTED} recommendations and {RELEVANT} relevant items each; {', '.join(METRICS)}.")
    print(f"{platform.machine()}, Python {platform.python_version()}.\n")
    print("| what | peer | peer, ms | repro, ms | ratio | asked |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for peer, contests in CONTESTS.items():
        if peer in missing:
            continue
        for contest in contests(recommended, truth):
            check_agreement(contest)
            ours, theirs = best_time(contest.ours, seconds), best_time(contest.theirs, seconds)
            name = f"{peer} {version(PACKAGES[peer])}"
            print(
                f"| {contest.title} | {name} | {1e3 * theirs:,.0f} | {1e3 * ours:,.1f} "
                f"| {theirs / ours:,.1f}x | {f'{contest.target:g}x' if contest.target else '-'} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
