"""Audit the closed forms of all toolkits: `python reports/algorithm-audit/closed_forms.py [FRAMEWORK ...]`.

Writes a line of JSON for each audit to closed-forms.jsonl beside this file, and a table of all of them to
closed-forms.md; audits that are there are not repeated.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import repro
from repro.errors import ReproError
from repro.plugin import plugins

FILE = Path(__file__).with_name("closed-forms.jsonl")
VARIANTS: dict[str, list[dict[str, str | int | float | bool]]] = {
    "implicit/item-knn": [{"similarity": name} for name in ("cosine", "dot", "tfidf", "bm25")],
    "rectools/item-knn": [{"similarity": name} for name in ("cosine", "dot", "tfidf", "bm25")],
    "lenskit/popularity": [{"score": name} for name in ("quantile", "rank", "count")],
    "rectools/popularity": [{"popularity": name} for name in ("n_users", "mean_weight", "sum_weight")],
    "lenskit/item-knn": [{"feedback": name} for name in ("explicit", "implicit")],
    "lenskit/user-knn": [{"feedback": name} for name in ("explicit", "implicit")],
    "surprise/item-knn": [
        {"similarity": similarity, "center": center}
        for similarity, center in (("cosine", "none"), ("pearson", "mean"), ("msd", "z-score"), ("cosine", "baseline"))
    ],
    "surprise/user-knn": [
        {"similarity": similarity, "center": center}
        for similarity, center in (("cosine", "none"), ("pearson", "mean"), ("msd", "z-score"), ("cosine", "baseline"))
    ],
    "cornac/ease": [{"posB": True}, {"posB": False}],
    "rectools/ease": [{"values": "ratings"}, {"values": "binary"}],
    "recpack/item-knn": [{"similarity": "cosine"}, {"similarity": "conditional_probability"}],
    "recbole/popularity": [{"train_batch_size": 2048}, {"train_batch_size": 1}],
}
NAMES = ("popularity", "bias", "ease", "puresvd", "slope-one", "item-knn", "user-knn")


def main(frameworks: list[str]) -> None:
    known = [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []
    done = {(each["algorithm"], json.dumps(each["stated"], sort_keys=True)) for each in known}
    for name in NAMES:
        for framework in plugins().frameworks_with(name):
            label = f"{framework}/{name}"
            if framework == "reference" or (frameworks and framework not in frameworks):
                continue
            for stated in VARIANTS.get(label, [{}]):
                if (label, json.dumps(stated, sort_keys=True)) not in done:
                    audit(label, stated)


def audit(label: str, stated: dict[str, str | int | float | bool]) -> None:
    from repro.definitions.audit import probes_of

    started = time.time()
    try:
        audited = repro.definitions.audit(label, {**probes_of(label), **stated}, evidence=False, progress=False)
        result = audited.to_dict()
    except ReproError as error:
        result = {"algorithm": label, "status": "failed", "findings": [], "message": str(error)}
    line = {**result, "stated": stated}
    for finding in line["findings"]:
        finding.pop("undetermined_together", None)
    with FILE.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    print(f"{label} {stated}: {result['status']} ({time.time() - started:.0f} s)", flush=True)


def write_table() -> None:
    """closed-forms.md: the verdict on each algorithm, with its decisions or the case."""
    head = ["algorithm", "version", "parameters", "verdict", "decisions", "undetermined", "case"]
    lines = ["# Verdicts on closed forms", "", _row(head), _row(["---"] * len(head))]
    for line in sorted(FILE.read_text().splitlines()):
        result = json.loads(line)
        finding: dict[str, Any] = next(iter(result["findings"]), {})
        explained = finding.get("status") == "explained"
        defaults = plugins().algorithm(finding["definition"])[1].parameters if explained else ()
        default = {parameter.name: parameter.default for parameter in defaults}
        open_ = finding.get("undetermined", {})
        decisions = {
            name: value
            for name, value in finding.get("parameters", {}).items()
            if value != default.get(name) and name not in open_
        }
        case = "" if explained else _case(finding) or result.get("message", "")
        verdict = finding.get("agreement", result["status"])
        stated = result.get("parameters") or result["stated"]
        texts = [_pairs(stated), verdict, _pairs(decisions), ", ".join(open_), case]
        lines.append(_row([result["algorithm"], result.get("version", ""), *texts]))
    FILE.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _pairs(values: dict[str, object]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _case(finding: dict[str, Any]) -> str:
    if not finding.get("case"):
        return str(finding.get("reason", ""))
    rows = " ".join(f"({user}, {item}, {rating:g})" for user, item, rating in finding["case"])
    shown = finding["shown"]
    return f"{rows}: user {shown['user']}, item {shown['item']}: {shown['given']:.6g}, not {shown['expected']:.6g}"


if __name__ == "__main__":
    main(sys.argv[1:])
    write_table()
