"""Evaluation speed compared with other evaluators: python benchmarks/evaluators.py

6,040 users (as in MovieLens 1M), 100 recommendations and 30 relevant items each, six metrics. Every peer gets the
same lists and must give the same numbers before it is timed. Times are the best of several runs, warm.

(a) evaluation alone: inputs prepared in each evaluator's own form. Lists are in order of rank, as recommenders give
    them, and are ranked and matched with the truth in the measured time; "shuffled" has the rows of each user in
    random order.
(b) from two frames to numbers, with text ids unless the title says otherwise: each evaluator's own form is built as
    well. Dictionaries for pytrec_eval are built by groupby, as people do; "plain loop" is the fastest way we know.
    RePlay and repro get the same frames of Polars; the others frames of pandas.

Peers that cannot be installed together are measured in environments of their own, with repro in each.
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

from repro.lists import Frames, evaluate, evaluate_frames, read_frames

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
    "replay": "replay-rec",
    "rectools": "rectools",
    "torchmetrics": "torchmetrics",
    "recommenders": "recommenders",
}
# RecTools has the reciprocal rank down to a cut-off.
RECTOOLS_METRICS = ("ndcg@10", "ndcg@100", "precision@10", "recall@10", "ap@100", "rr@100")
# The average precision of torchmetrics is divided by the hits.
TORCH_METRICS = ("ndcg@10", "ndcg@100", "precision@10", "recall@10", "ap[denominator=hits]@100", "rr@100")
# recommenders has no reciprocal rank.
RECOMMENDERS_METRICS = METRICS[:-1]
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
    """A peer's run and ours, which must agree within a difference, and the speed-up that is asked for."""

    title: str
    peer: str
    theirs: Callable[[], dict[str, float]]
    ours: Callable[[], dict[str, float]]
    target: float | None = None
    within: float = 1e-9


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
    recommended["score"] = np.tile(np.arange(LISTED, 0, -1) / 128.0, USERS)
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
    recommended: pd.DataFrame,
    truth: pd.DataFrame,
    peer: str,
    theirs: Callable[[], dict[str, float]],
) -> list[Contest]:
    """The peer's evaluation of prepared inputs against ours, with lists in order of rank and shuffled."""
    shuffled = recommended.iloc[np.lexsort((np.random.default_rng(1).random(len(recommended)), recommended["user"]))]

    def ours(frames: Frames) -> Callable[[], dict[str, float]]:
        return lambda: _as_dictionary(evaluate_frames(frames, metrics=METRICS))

    return [
        Contest("(a) alone", peer, theirs, ours(read_frames(recommended, truth)), 20),
        Contest("(a) alone, shuffled", peer, theirs, ours(read_frames(shuffled, truth))),
    ]


# --- the peers ------------------------------------------------------------------------------------------------


def grouped_dictionaries(frame: pd.DataFrame, column: str) -> dict[str, dict[str, Any]]:
    """Nested dictionaries, as people build them from a frame."""
    return {user: dict(zip(rows["item"], rows[column], strict=True)) for user, rows in frame.groupby("user")}


def looped_dictionaries(frame: pd.DataFrame, column: str) -> dict[str, dict[str, Any]]:
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

    def built(dictionaries: Callable[..., dict[str, Any]]) -> tuple[Any, dict[str, Any]]:
        qrels, run = dictionaries(truth, "rating"), dictionaries(recommended, "score")
        return pytrec_eval.RelevanceEvaluator(qrels, set(TREC.values())), run

    def ours() -> dict[str, float]:
        return from_frames(recommended, truth, METRICS)

    prepared = built(looped_dictionaries)
    peer = "pytrec_eval"
    return [
        *contests_alone(recommended, truth, peer, lambda: evaluated(*prepared)),
        Contest("(b) from frames", peer, lambda: evaluated(*built(grouped_dictionaries)), ours, 10),
        Contest("(b) from frames, plain loop", peer, lambda: evaluated(*built(looped_dictionaries)), ours),
    ]


def ranx_contests(recommended: pd.DataFrame, truth: pd.DataFrame) -> list[Contest]:
    from ranx import Qrels, Run
    from ranx import evaluate as ranx_evaluate

    qrels, run = Qrels(looped_dictionaries(truth, "rating")), Run(looped_dictionaries(recommended, "score"))
    names = dict(zip(METRICS, ("ndcg@10", "ndcg@100", "precision@10", "recall@10", "map@100", "mrr"), strict=True))

    def theirs() -> dict[str, float]:
        values = ranx_evaluate(qrels, run, list(names.values()))
        return {ours: float(values[name]) for ours, name in names.items()}

    return contests_alone(recommended, truth, "ranx", theirs)


def ir_measures_contests(recommended: pd.DataFrame, truth: pd.DataFrame) -> list[Contest]:
    import ir_measures
    from ir_measures import AP, RR, P, R, nDCG

    measures = dict(zip(METRICS, (nDCG @ 10, nDCG @ 100, P @ 10, R @ 10, AP @ 100, RR), strict=True))

    def theirs() -> dict[str, float]:
        qrels = truth.rename(columns={"user": "query_id", "item": "doc_id", "rating": "relevance"})
        run = recommended.rename(columns={"user": "query_id", "item": "doc_id"})
        values = ir_measures.calc_aggregate(list(measures.values()), qrels, run)
        return {ours: float(values[name]) for ours, name in measures.items()}

    return [Contest("(b) from frames", "ir_measures", theirs, lambda: from_frames(recommended, truth, METRICS), 10)]


def lenskit_contests(recommended: pd.DataFrame, truth: pd.DataFrame) -> list[Contest]:
    from lenskit.data import ItemListCollection
    from lenskit.metrics import NDCG, Precision, Recall, RecipRank, RunAnalysis
    from lenskit.metrics.ranking import AveragePrecision

    metrics = (NDCG(n=10), NDCG(n=100), Precision(n=10), Recall(n=10), AveragePrecision(n=100), RecipRank())
    names = {"user": "user_id", "item": "item_id"}

    def theirs() -> dict[str, float]:
        ranked = recommended.sort_values(["user", "score"], ascending=[True, False]).rename(columns=names)
        ranked["rank"] = np.tile(np.arange(1, LISTED + 1), USERS)
        lists = ItemListCollection.from_df(ranked, ["user_id"])
        held_out = ItemListCollection.from_df(truth.rename(columns=names), ["user_id"])
        analysis = RunAnalysis()
        for name, metric in zip(LENSKIT_METRICS, metrics, strict=True):
            analysis.add_metric(metric, name)
        return analysis.measure(lists, held_out).list_metrics().mean().to_dict()

    return [Contest("(b) from frames", "lenskit", theirs, lambda: from_frames(recommended, truth, LENSKIT_METRICS), 50)]


def whole_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with the number in each id in place of its text."""
    return frame.assign(user=frame["user"].str[1:].astype(int), item=frame["item"].str[1:].astype(int))


def replay_contests(recommended: pd.DataFrame, truth: pd.DataFrame) -> list[Contest]:
    import polars as pl
    from replay.metrics import MAP, MRR, NDCG, OfflineMetrics, Precision, Recall

    metrics = [NDCG([10, 100]), Precision(10), Recall(10), MAP(100), MRR(100)]
    names = dict(zip(METRICS, ("NDCG@10", "NDCG@100", "Precision@10", "Recall@10", "MAP@100", "MRR@100"), strict=True))

    def contest(title: str, lists: pd.DataFrame, held_out: pd.DataFrame, target: float) -> Contest:
        ours = pl.from_pandas(lists), pl.from_pandas(held_out)
        columns = {"user": "query_id", "item": "item_id", "score": "rating"}
        theirs = ours[0].rename(columns), ours[1].rename(columns, strict=False)

        def measure() -> dict[str, float]:
            values = OfflineMetrics(metrics)(*theirs)
            return {name: float(values[of_replay]) for name, of_replay in names.items()}

        return Contest(title, "replay", measure, lambda: _as_dictionary(evaluate(*ours, metrics=METRICS)), target)

    return [
        contest("(b) from Polars", recommended, truth, 15),
        contest("(b) from Polars, whole numbers", whole_numbers(recommended), whole_numbers(truth), 15),
    ]


def rectools_contests(recommended: pd.DataFrame, truth: pd.DataFrame) -> list[Contest]:
    from rectools import Columns
    from rectools.metrics import MAP, MRR, NDCG, Precision, Recall, calc_metrics

    gains = (NDCG(10, divide_by_achievable=True), NDCG(100, divide_by_achievable=True))
    per_cutoff = (*gains, Precision(10), Recall(10), MAP(100), MRR(100))
    metrics = dict(zip(RECTOOLS_METRICS, per_cutoff, strict=True))
    names = {"user": Columns.User, "item": Columns.Item, "score": Columns.Score}
    ranks = np.tile(np.arange(1, LISTED + 1), USERS)

    def theirs() -> dict[str, float]:
        ranked = recommended.rename(columns=names).assign(**{Columns.Rank: ranks})
        values = calc_metrics(metrics, ranked, truth.rename(columns=names))
        return {name: float(value) for name, value in values.items()}

    return [Contest("(b) from frames", "rectools", theirs, lambda: from_frames(recommended, truth, RECTOOLS_METRICS))]


def torchmetrics_contests(recommended: pd.DataFrame, truth: pd.DataFrame) -> list[Contest]:
    import torch
    from torchmetrics.retrieval import (
        RetrievalMAP,
        RetrievalMRR,
        RetrievalNormalizedDCG,
        RetrievalPrecision,
        RetrievalRecall,
    )

    per_cutoff = (
        RetrievalNormalizedDCG(top_k=10),
        RetrievalNormalizedDCG(top_k=100),
        RetrievalPrecision(top_k=10),
        RetrievalRecall(top_k=10),
        RetrievalMAP(top_k=100),
        RetrievalMRR(top_k=100),
    )

    def theirs() -> dict[str, float]:
        # Relevant items that are not recommended come last: each query has all its relevant items.
        pairs = recommended.merge(truth, on=["user", "item"], how="outer").fillna({"score": -1.0, "rating": 0})
        indexes = torch.tensor(pd.factorize(pairs["user"])[0])
        scores, relevant = torch.tensor(pairs["score"].to_numpy()), torch.tensor(pairs["rating"].to_numpy(dtype=bool))
        values = [float(metric(scores, relevant, indexes=indexes)) for metric in per_cutoff]
        return dict(zip(TORCH_METRICS, values, strict=True))

    def ours() -> dict[str, float]:
        return from_frames(recommended, truth, TORCH_METRICS)

    # It computes in single precision.
    return [Contest("(b) from frames", "torchmetrics", theirs, ours, within=1e-6)]


def recommenders_contests(recommended: pd.DataFrame, truth: pd.DataFrame) -> list[Contest]:
    from recommenders.evaluation import python_evaluation as peer

    measures = ((peer.ndcg_at_k, 10), (peer.ndcg_at_k, 100), (peer.precision_at_k, 10), (peer.recall_at_k, 10))
    names = {"col_user": "user", "col_item": "item", "col_rating": "rating", "col_prediction": "score"}

    def theirs() -> dict[str, float]:
        values = [measure(truth, recommended, k=k, **names) for measure, k in (*measures, (peer.map, 100))]
        return {name: float(value) for name, value in zip(RECOMMENDERS_METRICS, values, strict=True)}

    def ours() -> dict[str, float]:
        return from_frames(recommended, truth, RECOMMENDERS_METRICS)

    return [Contest("(b) from frames, without rr", "recommenders", theirs, ours)]


CONTESTS = {
    "pytrec_eval": pytrec_eval_contests,
    "ranx": ranx_contests,
    "ir_measures": ir_measures_contests,
    "lenskit": lenskit_contests,
    "replay": replay_contests,
    "rectools": rectools_contests,
    "torchmetrics": torchmetrics_contests,
    "recommenders": recommenders_contests,
}


def check_agreement(contest: Contest) -> None:
    """Stop where a peer's numbers are not ours."""
    theirs = contest.theirs()
    for name, value in contest.ours().items():
        if not np.isclose(theirs[name], value, rtol=0, atol=contest.within):
            raise SystemExit(f"{contest.peer} gives {theirs[name]!r} for {name}, repro {value!r}: they must agree")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="time spent on each measurement")
    parser.add_argument("--only", nargs="+", choices=CONTESTS, default=list(CONTESTS), help="only these peers")
    arguments = parser.parse_args()
    seconds = arguments.seconds
    warnings.filterwarnings("ignore", module="numba|ranx|lenskit")
    missing = [peer for peer in arguments.only if importlib.util.find_spec(peer) is None]
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
        if peer in missing or peer not in arguments.only:
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
