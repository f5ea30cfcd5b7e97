"""Audit the closed forms of all toolkits: `python reports/algorithm-audit/closed_forms.py [FRAMEWORK ...]`.

Writes a line of JSON for each audit to closed-forms.jsonl beside this file; audits that are there are not repeated.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import repro
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
    except repro.errors.ReproError as error:
        result = {"algorithm": label, "status": "failed", "findings": [], "message": str(error)}
    line = {**result, "stated": stated}
    for finding in line["findings"]:
        finding.pop("undetermined_together", None)
    with FILE.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    print(f"{label} {stated}: {result['status']} ({time.time() - started:.0f} s)", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
