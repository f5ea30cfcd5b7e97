"""Writes factor-models.json and factor-models.md: which objectives the factor models of toolkits minimise.

    python reports/algorithm-audit/factor_models.py [FOLDER]

It audits each factor model, measures on MovieLens 100K how far from converged its default parameters leave it, and
compares the rankings of toolkits that minimise the same objective.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from repro.data import Interactions, load_dataset
from repro.definitions.calls import implementation_of
from repro.definitions.optimality.alignment import FactorAlignment, Objective
from repro.definitions.optimality.equations import Method, Observed, System
from repro.definitions.optimality.hypotheses import implicit
from repro.definitions.optimality.inference import FactorInference
from repro.definitions.optimality.result import FactorDefinition
from repro.definitions.optimality.targets import Target, observe
from repro.definitions.optimality.training_sets import in_order
from repro.errors import ReproError
from repro.plugin import plugins

# The factor models, with the objectives that are tried first.
MODELS = {
    "reference/implicit-als": "implicit-als",
    "implicit/implicit-als": "implicit-als",
    "implicit/AlternatingLeastSquares": "implicit-als",
    "lenskit/implicit-als": "implicit-als",
    "rectools/implicit-als": "implicit-als",
    "rectools/ImplicitALSWrapperModel": "implicit-als",
    "recpack/implicit-als": "implicit-als",
    "spark/implicit-als": "implicit-als",
    "reference/explicit-als": "explicit-als",
    "lenskit/biased-mf": "explicit-als",
    "spark/ALS": "explicit-als",
    "reference/biased-mf": "explicit-als",
    "surprise/biased-mf": "explicit-als",
    "cornac/biased-mf": "explicit-als",
    "cornac/PMF": "explicit-als",
    "lenskit/FunkSVDScorer": "explicit-als",
    "lenskit/FlexMFExplicitScorer": "explicit-als",
    "reference/nmf": "nmf",
    "surprise/nmf": "nmf",
    "cornac/nmf": "nmf",
    "lenskit/nmf": "nmf",
    "recpack/nmf": "nmf",
    "lenskit/BiasedSVDScorer": "explicit-als",
    "rectools/puresvd": "implicit-als",
    "recpack/puresvd": "implicit-als",
    "implicit/bpr": "implicit-als",
    "implicit/logistic-mf": "implicit-als",
    "cornac/bpr": "implicit-als",
}
ALIGNED = ("implicit", "lenskit", "rectools", "recpack", "reference")
BINARY = {"values": "binary", "confidence": "plus-one", "zeros": "unobserved", "penalty": "constant"}
# A penalty so large that the minimum is the same from every start, and one as in papers.
SETTINGS = (
    {"factors": 8, "regularisation": 200.0, "alpha": 10.0, "epochs": 200},
    {"factors": 8, "regularisation": 10.0, "alpha": 10.0, "epochs": 50},
)
K = 10
PARTS = ("truth", "audits", "rankings")


OBJECTIVES = """# Factor models: which objective toolkits minimise

Made by `python reports/algorithm-audit/factor_models.py`. The objectives are those of the algorithms of the plug-in
`reference`; `repro algorithms audit` finds them ([how](../../docs/how-to/factor-models.md)).

- *residual*: how far the factors are from meeting the equations of the objective, on small training sets
- *next*: the smallest residual with another option of any decision; of an unexplained algorithm, that of the nearest
  objective
- *defaults*: the distance of the factors of users, and of those of items, from their exact solution given the other
  side (of NMF: the gradient relative to its parts), on MovieLens 100K with the default parameters: how far from
  converged they are. The side that is solved last is exact, but for implicit's three steps of conjugate gradients.

Algorithms that are not in the table were not audited yet.
"""
TRUTH = """## Parameters that separate objectives

With implicit's default penalty of 0.01, on MovieLens 100K (16 factors), the distance of the item factors of
`AlternatingLeastSquares` from their exact solution:
"""
STEPS = """With three steps of conjugate gradients, implicit's default, the right objective is no nearer than the one
whose penalty grows with the number of rows. The audit therefore learns three factors, for which three steps are
exact, with a penalty that is large beside the weights.
"""
RANKINGS = """## The same objective, the same rankings?

`weighted-binary` (weight 1 + alpha for each row, 1 for other pairs, the same penalty for all users and items) on
MovieLens 100K, four fifths of the rows for training, nDCG@10 over all unrated items. Toolkits start from other random
numbers, and most compute in single precision. With a large penalty they all end in the same minimum, as two seeds of
one toolkit do; with a small one, they are still in different ones.

A study with `definition = "weighted-binary"` chooses the parameters by itself, and leaves Spark out, whose penalty
grows with the number of rows.
"""


def audited(label: str, data: Interactions) -> dict[str, Any]:
    """The result of the audit of an algorithm, and how far its defaults are from converged."""
    framework = label.partition("/")[0]
    if plugins().location(framework) == "missing":
        return {"status": "not installed"}
    target = Target.of_plugin(label, {})
    finding = FactorInference(target, (MODELS[label],)).run()
    result = {"version": plugins().framework(framework).version, **finding.to_dict()}
    if isinstance(finding, FactorDefinition):
        result["defaults"] = converged(target, finding, data)
    return result


def converged(target: Target, finding: FactorDefinition, data: Interactions) -> dict[str, Any]:
    """How far the factors that the defaults leave are from the minimum given the other side, with the best numbers."""
    values = {role: target.values.get(target.name_of(role) or "") for role in ("factors", "epochs", "regularisation")}
    try:
        observed = observe(target, {}, in_order(data), None)
    except ReproError as error:
        return {"parameters": values, "error": str(error)}
    assert observed is not None
    kind = "half-step" if finding.fit.method.kind in ("half-step", "step") else "stationary"
    residuals = {}
    numbers = _at_defaults(finding, target)
    for side, order in (("users", "users-last"), ("items", "items-last")):
        method = Method(kind, order if kind == "half-step" else "both")
        residuals[side] = System(finding.fit.hypothesis, method, [observed]).residual(numbers).whole
    return {"parameters": values, "residual": residuals}


def _at_defaults(finding: FactorDefinition, target: Target) -> dict[str, float]:
    """The numbers of the objective with the default parameters; those that were estimated stay as they are."""
    numbers = dict(finding.fit.numbers)
    for name, source in finding.fit.sources.items():
        if source in target.values:
            numbers[name] = float(target.values[source])
        elif source.startswith("2 * "):
            numbers[name] = 2 * float(target.values[source[4:]])
        elif source.endswith(" / 2"):
            numbers[name] = float(target.values[source[:-4]]) / 2
    return numbers


def known_truth(data: Interactions) -> list[dict[str, Any]]:
    """The half-step of three objectives at the factors of implicit's ALS on all of the data."""
    rows = in_order(data)
    results = []
    for solver, options in (("exact", {"use_cg": False, "dtype": "float64"}), ("conjugate gradients", {})):
        target = Target.of_plugin("implicit/AlternatingLeastSquares", {"factors": 16, **options})
        observed = observe(target, {}, rows, None)
        assert observed is not None
        for confidence, penalty in (("linear", "constant"), ("plus-one", "constant"), ("linear", "count")):
            residual = half_step_of(observed, confidence, penalty, 1.0, 0.01)
            results.append({"solver": solver, "confidence": confidence, "penalty": penalty, "residual": residual})
    return results


def half_step_of(observed: Observed, confidence: str, penalty: str, alpha: float, weight: float) -> float:
    """How far the factors of the items are from their exact solution for an objective with these numbers."""
    wanted = {"values": "ratings", "confidence": confidence, "zeros": "unobserved", "target": "one", "penalty": penalty}
    hypothesis = next(each for each in implicit((1.0,), (1.0,)) if wanted.items() <= each.setting.items())
    numbers = {"alpha": alpha, "user_regularisation": weight, "item_regularisation": weight}
    return System(hypothesis, Method("half-step", "items-last"), [observed]).residual(numbers).whole


def rankings(data: Interactions) -> list[dict[str, Any]]:
    """How alike the rankings of toolkits are that minimise the same objective."""
    chosen = np.random.default_rng(2026).random(len(data)) < 0.8
    train, test = data.select(chosen), data.select(~chosen)
    results = []
    for setting in SETTINGS:
        objective = Objective.of("implicit-als", {**BINARY, **setting})
        scores = {}
        for framework in ALIGNED:
            label = f"{framework}/implicit-als"
            print(label, setting, file=sys.stderr)
            if plugins().location(framework) == "missing":
                continue
            aligned = FactorAlignment(objective, label).run()
            if aligned.parameters is None:
                continue
            sizes = {name: setting[name] for name in ("factors", "epochs")}
            scores[framework] = scores_of(label, {**aligned.parameters, **sizes}, train)
        results.append({"setting": dict(setting), "ndcg": {}, "pairs": []})
        for framework, values in scores.items():
            results[-1]["ndcg"][framework] = ndcg(values, test)
        for first, second in itertools.combinations(scores, 2):
            results[-1]["pairs"].append({"first": first, "second": second, **alike(scores[first], scores[second])})
    return results


def scores_of(label: str, parameters: Mapping[str, Any], train: Interactions) -> np.ndarray[Any, Any]:
    """Scores of users by items; minus infinity for pairs of the training part and unknown items."""
    recommender = implementation_of(label, parameters).fitted(train, 7)
    users, items = (np.arange(size, dtype=np.int32) for size in (train.n_users, train.n_items))
    scores = recommender.score_users(users, items).values
    scores[train.users, train.items] = -np.inf
    return np.where(np.isfinite(scores), scores, -np.inf)


def ndcg(scores: np.ndarray[Any, Any], test: Interactions) -> float:
    """nDCG@10 of all unrated items; every test row is relevant."""
    relevant = np.zeros(scores.shape, dtype=bool)
    relevant[test.users, test.items] = True
    users = np.flatnonzero(relevant.any(axis=1))
    top = np.argsort(-scores[users], axis=1, kind="stable")[:, :K]
    gains = np.take_along_axis(relevant[users], top, axis=1) / np.log2(np.arange(2, K + 2))
    ideal = np.cumsum(1 / np.log2(np.arange(2, K + 2)))[np.minimum(relevant[users].sum(axis=1), K) - 1]
    return float((gains.sum(axis=1) / ideal).mean())


def alike(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> dict[str, float]:
    """The share of users with the same top ten, the mean Kendall tau, and the largest relative difference of scores."""
    tops = [np.argsort(-scores, axis=1, kind="stable")[:, :K] for scores in (first, second)]
    both = np.isfinite(first) & np.isfinite(second)
    taus = [kendalltau(first[user, both[user]], second[user, both[user]])[0] for user in range(0, len(first), 5)]
    return {
        "same_top_10": float((tops[0] == tops[1]).all(axis=1).mean()),
        "tau": float(np.mean(taus)),
        "difference": float(np.abs(first[both] - second[both]).max() / np.abs(first[both]).max()),
    }


def as_markdown(report: Mapping[str, Any]) -> str:
    """The report as a page."""
    return "\n".join([*_objectives(report["audits"]), *_truth(report["truth"]), *_rankings(report["rankings"])]) + "\n"


def _objectives(audits: Mapping[str, Any]) -> Iterator[str]:
    yield OBJECTIVES
    yield "| algorithm | objective | numbers | learnt by | residual | next | defaults: users, items |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for label, result in audits.items():
        yield f"| {label} {result.get('version', '')} | {' | '.join(_cells(result))} |"
    yield ""


def _cells(result: Mapping[str, Any]) -> list[str]:
    if result["status"] == "not installed":
        return ["not installed here", "", "", "", "", ""]
    if result["status"] == "unexplained":
        nearest = min((each["residual"] for each in result["nearest"]), default=None)
        reason = result["reason"].partition("\n")[0]
        return [
            "unexplained" + (f": {reason}" if reason else ""),
            "",
            "",
            "",
            "" if nearest is None else f"{nearest:.0e}",
            "",
        ]
    objective = ", ".join(f"{name} {value}" for name, value in result["objective"].items())
    if result["definition"] == "singular vectors":
        rivals = [rival["residual"] for rival in result["rivals"]]
        return [f"singular vectors: {objective}", "", "", f"{result['residual']:.0e}", f"{min(rivals):.0e}", ""]
    biases = "; ".join(
        f"bias of {side}: {fit['of']}, {fit['penalty']} {round(fit['number'], 9):.2g}"
        for side, fit in result["biases"].items()
    )
    sources = {name.replace("user_", "").replace("item_", ""): text for name, text in result["numbers_from"].items()}
    numbers = ", ".join(
        f"{name} = {sources.get(name, format(number, '.4g'))}" for name, number in result["numbers"].items()
    )
    rivals = [rival["residual"] for rival in result["rivals"]]
    defaults = result.get("defaults", {})
    residual = ", ".join(f"{value:.0e}" for value in defaults.get("residual", {}).values())
    undetermined = "".join(f"; {name} undetermined" for name in result["undetermined"])
    return [
        f"{result['definition'].partition('/')[2]}: {objective}{undetermined}" + (f"; {biases}" if biases else ""),
        numbers,
        "; ".join(result["learnt_by"]),
        f"{result['residual']:.0e}",
        f"{min(rivals):.0e}" if rivals else "",
        residual or defaults.get("error", ""),
    ]


def _truth(truth: list[dict[str, Any]]) -> Iterator[str]:
    yield TRUTH
    yield "| solver | weight of a row | penalty | distance |"
    yield "| --- | --- | --- | --- |"
    for row in truth:
        weight = {"linear": "alpha r", "plus-one": "1 + alpha r"}[row["confidence"]]
        yield f"| {row['solver']} | {weight} | {row['penalty']} | {row['residual']:.1e} |"
    yield ""
    yield STEPS


def _rankings(results: list[dict[str, Any]]) -> Iterator[str]:
    yield RANKINGS
    for result in results:
        setting = ", ".join(f"{name} = {value:g}" for name, value in result["setting"].items())
        yield f"### {setting}\n"
        yield "| toolkits | same top 10 | Kendall tau | largest difference of scores | nDCG@10 |"
        yield "| --- | --- | --- | --- | --- |"
        for pair in result["pairs"]:
            numbers = [result["ndcg"][pair[name]] for name in ("first", "second")]
            yield (
                f"| {pair['first']}, {pair['second']} | {pair['same_top_10']:.1%} | {pair['tau']:.5f} "
                f"| {pair['difference']:.0e} | {numbers[0]:.5f}, {numbers[1]:.5f} |"
            )
        yield ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent)
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; the others stay as stored")
    parser.add_argument("--only", help="only these algorithms, such as implicit/implicit-als,lenskit/nmf")
    options = parser.parse_args()
    stored = options.folder / "factor-models.json"
    report = json.loads(stored.read_text()) if stored.exists() else {"truth": [], "audits": {}, "rankings": []}
    data = load_dataset("ml-100k")
    labels = options.only.split(",") if options.only else list(MODELS)
    for part in PARTS if options.part is None else options.part:
        if part == "audits":
            for label in labels:
                print(label, file=sys.stderr)
                report["audits"][label] = audited(label, data)
                stored.write_text(json.dumps(report, indent=1) + "\n")
            report["audits"] = {label: report["audits"][label] for label in MODELS if label in report["audits"]}
        else:
            report[part] = {"truth": known_truth, "rankings": rankings}[part](data)
        stored.write_text(json.dumps(report, indent=1) + "\n")
    (options.folder / "factor-models.md").write_text(as_markdown(report))


if __name__ == "__main__":
    main()
