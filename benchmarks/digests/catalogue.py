"""Output of commands about protocols, metrics and decisions."""

from __future__ import annotations

import re

import canonical
from names import FAMILIES, METRICS
from work import Output, Task, Work

PROTOCOLS = [
    *("random-5fold", "bellogin-1r-ti-nn", "bellogin-ai-an", "bellogin-p1r", "bellogin-ti-an", "bellogin-u1r"),
    *("bellogin-uar", "cremonesi-2010-1r", "gunawardana-time", "mansoury-profile-50-25-25", "said-bellogin-rpn"),
    *("said-bellogin-ut", "valcarce-2018-allitems", "inferred/sklearn-binary-roc_auc_score"),
]


def tasks() -> list[Task]:
    return [Task("catalogue", "protocols", protocols), Task("catalogue", "metrics", metrics)]


def protocols(work: Work) -> None:
    for name in PROTOCOLS:
        with work.result(name) as result:
            output = work.repro("protocol", "show", name)
            result.output("text", output)
            result.json("json", work.repro("protocol", "show", name, "--json"))
            result.add("hashes", hashes(output))
    with work.result("list") as result:
        for part, more in {"text": [], "inferred": ["inferred"]}.items():
            output = work.repro("protocol", "list", *more)
            result.output(part, output)
            result.add(f"hashes, {part}", hashes(output))
    with work.result("diff") as result:
        result.output("text", work.repro("protocol", "diff", "bellogin-ti-an", "bellogin-ai-an"))
    with work.result("explain") as result:
        for family in (*FAMILIES, "metric.ndcg.gain"):
            result.output(family, work.repro("protocol", "explain", family))


def metrics(work: Work) -> None:
    with work.result("list") as result:
        result.output("text", work.repro("metrics", "list"))
    with work.result("show") as result:
        for name in METRICS:
            result.output(name, work.repro("metrics", "show", name))


def hashes(output: Output) -> canonical.Forms:
    """The hashes of protocols, which other outputs leave out; a change of a hash is reported as a change of text."""
    return canonical.Forms("", " ".join(re.findall(r"\b(?=[0-9]*[a-f])[0-9a-f]{12,64}\b", output.out)))
